"""From the records of a trial under attack to what was seen. The subscriber's own list of messages decides."""

from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from comseclab.attack import leaks
from comseclab.attack.scene import BYSTANDER
from comseclab.attack.spec import Phase, Seen
from comseclab.attack.victims import Victim
from comseclab.results.samples import RECEIPT, SEND, read_kept, read_records
from comseclab.trial.nodes import Node

if TYPE_CHECKING:
    from comseclab.attack.conduct import AttackedTrial

MOST_LOST_BEFORE = 0.1
IN_FLIGHT_NS = 50_000_000
"""A message sent so shortly before its subscriber was told to restart may have been on its way."""
LISTED = 400
"""Deliveries that stand in the evidence with their first bytes."""


def reasons(seen: Seen) -> list[str]:
    """Why a trial says nothing: the genuine stream failed before anybody attacked it."""
    if not seen.before.sent:
        return ["no message was sent before the attack"]
    if seen.before.lost_share > MOST_LOST_BEFORE:
        return [
            f"{seen.before.sent - seen.before.delivered} of {seen.before.sent} messages were lost before the attack"
        ]
    return []


def observe(trial: "AttackedTrial") -> Seen:
    """Read all records and the capture of a trial whose programs have ended."""
    spec = trial.attack_spec
    stream = trial.spec.streams[0]
    publisher = next(node for node in trial.nodes if node.role == "publisher")
    subscriber = next(node for node in trial.nodes if node.role == "subscriber")
    sends, sent_bytes = _records(publisher.records, "sends", SEND), _kept(publisher.records, "sent")
    lives = [kept for node, kept in trial.earlier if node is subscriber] + [subscriber.records]
    receipts = [_records(life, "receipts", RECEIPT) for life in lives]
    kept = [_kept(life, "received") for life in lives]
    received, payloads = np.concatenate(receipts), [payload for life in kept for payload in life]
    last_life = np.concatenate([np.full(len(part), number == len(lives) - 1) for number, part in enumerate(receipts)])

    # A message that the stack refused counts as sent: it was for the application, and some arrive nevertheless.
    chosen = sends["stream"] == stream.id
    index = {
        int(number): payload for number, payload, ok in zip(sends["index"], sent_bytes, chosen, strict=False) if ok
    }
    forged_mark = spec.forged_nonce.encode(), bytes.fromhex(spec.forged_nonce)
    forged = np.array([any(mark in payload for mark in forged_mark) for payload in payloads], bool)
    same = np.array(
        [index.get(int(number)) == payload for number, payload in zip(received["index"], payloads, strict=True)], bool
    )
    genuine = same & ~forged
    first = _first(received["index"], genuine)
    repeated = genuine & ~first
    restarted = trial.scene.restarted_ns
    begun = {int(number): int(at) for number, at in zip(sends["index"], sends["begin"], strict=True)}
    stale = np.zeros(len(received), bool)
    if restarted is not None:
        stale = (
            genuine
            & last_life
            & np.array(
                [
                    begun[int(n)] < restarted - IN_FLIGHT_NS if g else False
                    for n, g in zip(received["index"], genuine, strict=True)
                ],
                bool,
            )
        )
    _list_deliveries(trial.folder / "evidence" / "delivered.txt", received, payloads, genuine, forged)

    def phase(low_s: float, high_s: float) -> Phase:
        low, high = trial.begin_ns + round(low_s * 1e9), trial.begin_ns + round(high_s * 1e9)
        of_phase = {n for n, at in begun.items() if low <= at < high and n in index}
        return Phase(sent=len(of_phase), delivered=len(of_phase & {int(n) for n in received["index"][genuine]}))

    def age_ns(low_s: float, high_s: float) -> float | None:
        low, high = trial.begin_ns + round(low_s * 1e9), trial.begin_ns + round(high_s * 1e9)
        ages = [
            int(at) - begun[int(n)]
            for n, at in zip(received["index"][first], received["arrived"][first], strict=True)
            if low <= begun[int(n)] < high
        ]
        return float(median(ages)) if ages else None

    return Seen(
        before=phase(-1, spec.begin_s),
        during=phase(spec.begin_s, spec.end_s),
        after=phase(spec.end_s, 1e6),
        altered=int((~same & ~forged).sum()),
        forged=int(forged.sum()),
        repeated=int(repeated.sum()),
        stale=int(stale.sum()),
        last_genuine=int(received["index"][genuine].max()) if genuine.any() else -1,
        age_before_ns=age_ns(-1, spec.begin_s),
        age_during_ns=age_ns(spec.begin_s, spec.end_s),
        told=_told(trial),
        crashed=_crashed(trial.nodes),
        rogue_received=_rogue_received(trial),
        rogue_refused=_rogue_refused(trial),
        leaked=leaks.find(trial.wire.path, trial.spec),
        bytes_out=_bytes_to_bystander(trial),
        relayed=_relayed(trial),
        injected_frames=trial.scene.budget.frames,
        injected_bytes=trial.scene.budget.bytes,
        targeted=trial.scene.targeted,
    )


def _bytes_to_bystander(trial: "AttackedTrial") -> int:
    """What the hosts of the genuine nodes sent to the host that asked nobody."""
    ports = {trial.scene.port_of(node.host) for node in trial.nodes}
    return leaks.bytes_to(trial.wire.path, trial.hosts[BYSTANDER].address, ports)


def _relayed(trial: "AttackedTrial") -> int:
    """Frames of the stream that reached the subscriber from the attacker's hardware address."""
    scene = trial.scene
    reached = leaks.leaving(trial.wire.path, scene.port_of(scene.reader), scene.attacker.address)
    return sum(trial.dialect.is_message(frame, scene) for frame in reached)


def _first(numbers: np.ndarray, genuine: np.ndarray) -> np.ndarray:
    """Which genuine receipts are the first of their message."""
    first = np.zeros(len(numbers), bool)
    places = np.flatnonzero(genuine)
    _, at = np.unique(numbers[places], return_index=True)
    first[places[at]] = True
    return first


def _records(folder: Path, name: str, dtype: np.dtype) -> np.ndarray:
    """A node that crashed has written none."""
    path = folder / f"{name}.bin"
    return read_records(path, dtype) if path.exists() else np.empty(0, dtype)


def _kept(folder: Path, name: str) -> list[bytes]:
    path = folder / f"{name}.bin"
    return read_kept(path) if path.exists() else []


def _told(trial: "AttackedTrial") -> list[str]:
    """What the stack told the victims' applications from the beginning of the attack on."""
    begin_ns = trial.begin_ns + round(trial.attack_spec.begin_s * 1e9)
    told = []
    for node in trial.nodes:
        sends = _records(node.records, "sends", SEND)
        if refused := int(((sends["status"] != 0) & (sends["begin"] >= begin_ns)).sum()):
            told.append(f"{node.name}: {refused} messages refused")
        for event in node.program.of("transport") if node.program else ():
            if event.get("at_ns", event["read_ns"]) >= begin_ns and event["count"]:
                told.append(f"{node.name}: {event['kind']} {event['count']} {event.get('text') or ''}".strip())
        if trial.scene.restarted_ns is None and node.program:
            counts = [event["count"] for event in node.program.of("matched") if begin_ns <= event["at_ns"]]
            if counts and min(counts) == 0 and _while_running(node, begin_ns, trial):
                told.append(f"{node.name}: no match left")
    return told[:20]


def _while_running(node: Node, begin_ns: int, trial: "AttackedTrial") -> bool:
    """Whether a match was lost while messages flowed, not when the nodes closed one after the other."""
    end_ns = trial.begin_ns + round((trial.spec.round_s + trial.spec.drain_s) * 1e9)
    assert node.program is not None
    return any(event["count"] == 0 and begin_ns <= event["at_ns"] < end_ns for event in node.program.of("matched"))


def _crashed(nodes: Iterable[Node]) -> dict[str, str]:
    found = {}
    for node in nodes:
        if isinstance(node.program, Victim) and (how := node.program.crash()):
            found[node.name] = how
    return found


def _rogue_received(trial: "AttackedTrial") -> int:
    """Messages of the genuine writer that a subscriber of the attacker's was given, judged by their bytes."""
    marks = trial.spec.nonce.encode(), bytes.fromhex(trial.spec.nonce)
    payloads = [
        p for rogue, node in trial.rogues.items() if rogue.role == "subscriber" for p in _kept(node.records, "received")
    ]
    return sum(any(mark in payload for mark in marks) for payload in payloads)


def _rogue_refused(trial: "AttackedTrial") -> list[str]:
    said = []
    for node in trial.rogues.values():
        if node.program:
            said += [f"{node.name}: {event['message']}" for event in node.program.of("fatal")]
            said += [f"{node.name}: {event['text']}" for event in node.program.of("transport") if event.get("text")]
    return list(dict.fromkeys(said))[:10]


def _list_deliveries(
    path: Path, received: np.ndarray, payloads: list[bytes], genuine: np.ndarray, forged: np.ndarray
) -> None:
    """The subscriber's list: time, claimed index, what it is, size, first bytes."""
    lines = []
    for number in range(min(len(received), LISTED)):
        kind = "genuine" if genuine[number] else "forged" if forged[number] else "altered"
        row = received[number]
        lines.append(f"{row['arrived']} {row['index']} {kind} {row['size']} {payloads[number][:64].hex()}")
    path.write_text("\n".join(lines) + "\n")
