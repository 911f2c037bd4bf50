"""From the records of a trial under attack to what was seen. The subscriber's own list of messages decides."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from comseclab.attack import leaks
from comseclab.attack.deliveries import (
    Delivery,
    Receipt,
    Sent,
    classify,
    false_messages,
    median_age_ns,
    phase,
    stale,
)
from comseclab.attack.entered import active, between, bytes_sent, without
from comseclab.attack.frame import Frame
from comseclab.attack.scene import BYSTANDER
from comseclab.attack.spec import Seen
from comseclab.attack.told import crashed, refused, told
from comseclab.results.record import WireProof
from comseclab.results.samples import RECEIPT, SEND, read_kept, read_records
from comseclab.trial import validity
from comseclab.workload.spool import schedule

if TYPE_CHECKING:
    from comseclab.attack.conduct import AttackedTrial

MOST_LOST_BEFORE = 0.1
LISTED = 400
"""Deliveries that stand in the evidence with their first bytes."""


def reasons(seen: Seen, proof: WireProof | None = None) -> list[str]:
    """Why a trial says nothing: the genuine stream failed, or was not protected as it should be, before the attack.

    A victim that crashed under the attack, or as a node of the attacker's joined, took its records with it, which is a
    finding and not such a failure.
    """
    found = validity.judge_proof(proof)
    if seen.crashed:
        return found
    if not seen.before.sent:
        return [*found, "no message was sent before the attack"]
    if seen.before.lost_share > MOST_LOST_BEFORE:
        lost = seen.before.sent - seen.before.delivered
        return [*found, f"{lost} of {seen.before.sent} messages were lost before the attack"]
    return found


def observe(trial: "AttackedTrial") -> Seen:
    """Read all records and the capture of a trial whose programs have ended."""
    spec, scene = trial.attack_spec, trial.scene
    begin_ns, end_ns = (trial.begin_ns + round(at_s * 1e9) for at_s in (spec.begin_s, spec.end_s))
    receipts, last_life, whole = _receipts(trial)
    recorded = _sent(trial)
    deliveries = classify(recorded, receipts, spec.forged_nonce)
    sent = recorded or {}
    scheduled = _scheduled(trial)
    # A victim that crashed took its records along: what was lost is unknown then, and the crash the only finding.
    counted = scheduled if whole and recorded is not None else {}
    attacked = [one for one in deliveries if one.receipt.arrived_ns >= begin_ns]
    evidence = trial.folder / "evidence"
    _list_deliveries(evidence / "delivered.txt", deliveries)
    if whole_ones := false_messages(sent, attacked):
        (evidence / "false.hex").write_text("\n".join(whole_ones) + "\n")
    received_by, capture = _received_by(trial), trial.wire.path
    before = phase(counted, deliveries, -math.inf, begin_ns)
    meanwhile = between(list(trial.path.seen), begin_ns, end_ns)
    victims = {scene.port_of(node.host) for node in trial.nodes}
    return Seen(
        before=before,
        during=phase(counted, deliveries, begin_ns, end_ns),
        after=phase(counted, deliveries, end_ns, math.inf),
        altered=sum(one.kind == "altered" for one in attacked),
        forged=sum(one.kind == "forged" for one in attacked),
        repeated=sum(one.again for one in attacked),
        stale=stale(sent, deliveries, scene.restarted_ns, last_life),
        last_genuine=max((one.receipt.index for one in deliveries if one.genuine), default=-1),
        age_before_ns=median_age_ns(scheduled, deliveries, -math.inf, begin_ns),
        age_during_ns=median_age_ns(scheduled, deliveries, begin_ns, end_ns),
        told=told(trial, begin_ns),
        crashed={**crashed(trial.nodes), **trial.fallen},
        rogue_received=sum(received_by.values()),
        readers=[credentials for credentials, count in received_by.items() if count],
        rogue_refused=refused(trial.rogues.values()),
        leaked=leaks.find(capture, trial.spec),
        bytes_out=bytes_sent(meanwhile, victims, trial.hosts[BYSTANDER].address),
        bytes_in=bytes_sent(meanwhile, {scene.port_of(scene.attacker)}),
        relayed=_relayed(trial),
        frames_a_message=_frames_a_message(trial, before.sent, begin_ns),
        captured=leaks.count(capture),
        rogues=len(trial.rogues),
        idle_rogues=len(trial.rogues) - _active_rogues(trial),
        injected_frames=scene.budget.frames,
        injected_bytes=scene.budget.bytes,
        targeted=scene.targeted,
    )


def _scheduled(trial: "AttackedTrial") -> dict[int, int]:
    """When each message was to be sent, by index, ns."""
    stream = trial.spec.streams[0]
    return {index: trial.begin_ns + at_ns for index, at_ns in enumerate(schedule(stream.spool)[: stream.messages])}


def _sent(trial: "AttackedTrial") -> dict[int, Sent] | None:
    """What the genuine publisher sent, by index; None where it left no records.

    A message that the stack refused counts: it was for the application, and some arrive nevertheless.
    """
    publisher = next(node for node in trial.nodes if node.role == "publisher")
    if not (publisher.records / "sends.bin").exists():
        return None
    sends, payloads = _records(publisher.records, "sends", SEND), _kept(publisher.records, "sent")
    stream = trial.spec.streams[0].id
    return {
        int(send["index"]): Sent(int(send["begin"]), payload)
        for send, payload in zip(sends, payloads, strict=True)
        if send["stream"] == stream
    }


def _receipts(trial: "AttackedTrial") -> tuple[list[Receipt], int, bool]:
    """What the genuine subscriber was given in all its lives, the number of the last, and whether each left records."""
    subscriber = next(node for node in trial.nodes if node.role == "subscriber")
    lives = [kept for node, kept in trial.earlier if node is subscriber] + [subscriber.records]
    found = [
        Receipt(int(receipt["index"]), int(receipt["arrived"]), payload, life)
        for life, folder in enumerate(lives)
        for receipt, payload in zip(_records(folder, "receipts", RECEIPT), _kept(folder, "received"), strict=True)
    ]
    return found, len(lives) - 1, all((folder / "receipts.bin").exists() for folder in lives)


def _records(folder: Path, name: str, dtype: np.dtype) -> np.ndarray:
    """A node that crashed has written none."""
    path = folder / f"{name}.bin"
    return read_records(path, dtype) if path.exists() else np.empty(0, dtype)


def _kept(folder: Path, name: str) -> list[bytes]:
    path = folder / f"{name}.bin"
    return read_kept(path) if path.exists() else []


def _received_by(trial: "AttackedTrial") -> dict[str, int]:
    """Messages of the genuine writer that each subscriber of the attacker's was given, judged by their bytes."""
    marks = trial.spec.nonce.encode(), bytes.fromhex(trial.spec.nonce)
    return {
        rogue.credentials: sum(any(mark in payload for mark in marks) for payload in _kept(node.records, "received"))
        for rogue, node in trial.rogues.items()
        if rogue.role == "subscriber"
    }


def genuine_before(trial: "AttackedTrial") -> list[Frame]:
    """The frames that entered the switch before the attack, but for those from and to the attacker's host."""
    scene = trial.scene
    return without(trial.before, {scene.port_of(scene.attacker)}, {scene.attacker.address})


def provable(trial: "AttackedTrial", seen: Seen) -> bool:
    """Whether the frames before the attack can prove the protection: not if a victim crashed before any message."""
    return not seen.crashed or any(trial.dialect.is_message(frame, trial.scene) for frame in genuine_before(trial))


def _frames_a_message(trial: "AttackedTrial", sent: int, begin_ns: int) -> float:
    """How many frames of the stream there were for each message before the attack; 1 where there were none."""
    frames = between(genuine_before(trial), -math.inf, begin_ns)
    count = sum(trial.dialect.is_message(frame, trial.scene) for frame in frames)
    return count / sent if count and sent else 1.0


def _active_rogues(trial: "AttackedTrial") -> int:
    """Nodes of the attacker's that opened, or were refused on the network."""
    port = trial.scene.port_of(trial.scene.attacker)
    lives = [(begun_ns, bool(node.program and node.program.of("opened"))) for node, begun_ns in trial.started]
    return active([frame for frame in trial.before if frame.port == port], lives)


def _relayed(trial: "AttackedTrial") -> int:
    """Frames of the stream that reached the subscriber from the attacker's hardware address."""
    scene = trial.scene
    reached = leaks.leaving(trial.wire.path, scene.port_of(scene.reader), scene.attacker.address)
    return sum(trial.dialect.is_message(frame, scene) for frame in reached)


def _list_deliveries(path: Path, deliveries: Sequence[Delivery]) -> None:
    """The subscriber's list: time, claimed index, what it is, size, first bytes."""
    lines = []
    for one in deliveries[:LISTED]:
        receipt, again = one.receipt, "-again" if one.again else ""
        head = f"{receipt.arrived_ns} {receipt.index} {one.kind}{again}"
        lines.append(f"{head} {len(receipt.payload)} {receipt.payload[:64].hex()}")
    path.write_text("\n".join(lines) + "\n")
