"""From records, captures and programs to what was seen."""

import json
import struct
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from comseclab.attack import leaks
from comseclab.attack.conduct import AttackedTrial
from comseclab.attack.entered import active, between, bytes_sent, without, write_capture
from comseclab.attack.frame import Frame, syn_frame, udp_frame
from comseclab.attack.observe import reasons
from comseclab.attack.spec import Phase, Seen
from comseclab.attack.told import crashed, refused, told
from comseclab.attack.victims import Victim
from comseclab.protection import wire
from comseclab.results.record import WireProof
from comseclab.results.samples import SEND
from comseclab.testbed.host import Host
from comseclab.testbed.network import hardware_of
from comseclab.testbed.program import wait_until
from comseclab.trial.nodes import Node


def test_a_stream_that_failed_by_itself_says_nothing() -> None:
    whole, none = Phase(sent=30, delivered=30), Phase(sent=0, delivered=0)
    rest = {"during": whole, "after": whole}
    assert reasons(Seen(before=whole, **rest)) == []
    assert reasons(Seen(before=Phase(sent=30, delivered=27), **rest)) == []
    assert reasons(Seen(before=none, **rest)) == ["no message was sent before the attack"]
    lost = Phase(sent=30, delivered=26)
    assert reasons(Seen(before=lost, **rest)) == ["4 of 30 messages were lost before the attack"]
    assert reasons(Seen(before=none, **rest, crashed={"station-subscriber": "SIGSEGV"})) == []


@pytest.mark.parametrize("crashed_too", [{}, {"station-subscriber": "SIGSEGV"}])
def test_a_protection_that_was_not_on_says_nothing(crashed_too: dict[str, str]) -> None:
    whole = Phase(sent=30, delivered=30)
    shows = Seen(before=whole, during=whole, after=whole, crashed=crashed_too)
    proof = WireProof(
        frames=9, sentinel_seen=True, sentinel_expected=False, kinds={}, contradictions=["9 frames show the payload"]
    )
    assert reasons(shows, proof) == ["the wire contradicts the protection: 9 frames show the payload"]
    assert reasons(shows, proof.model_copy(update={"contradictions": []})) == []


# What programs said.

BEGIN_NS, ROUND_END_NS, CLOSING_NS = 2_000_000_000, 4_000_000_000, 5_000_000_000


def node(folder: Path, *events: dict[str, Any], then: str = "") -> Node:
    """A node whose program says these events, and then runs a shell's command."""
    host = Host("station", Path("/proc/self/ns/net"), "10.77.0.2", "lo", folder)
    script = folder / "script"
    script.write_text("".join(f"echo '{json.dumps(event)}'\n" for event in events) + then)
    made = Node("station-subscriber", host, "subscriber", [])
    made.records.mkdir()
    made.program = Victim(made.name, ["/bin/sh", script], folder / "log")
    made.program.tolerated = True
    wait_until([made.program], lambda: bool(made.program and made.program.ended), 10, expect_end=True)
    return made


def trial_of(*nodes: Node, restarted_ns: int | None = None) -> AttackedTrial:
    """As much of a trial as the question is about."""
    spec = SimpleNamespace(round_s=3.0, drain_s=1.0)
    scene = SimpleNamespace(restarted_ns=restarted_ns)
    return cast("AttackedTrial", SimpleNamespace(nodes=nodes, scene=scene, spec=spec, begin_ns=CLOSING_NS - 4 * 10**9))


def happened(kind: str, at_ns: int, count: int = 1) -> dict[str, Any]:
    return {"event": "transport", "kind": kind, "stream": 0, "count": count, "at_ns": at_ns, "text": ""}


def matched(count: int, at_ns: int) -> dict[str, Any]:
    return {"event": "matched", "stream": 0, "count": count, "at_ns": at_ns}


def test_only_what_happened_under_attack_was_told(tmp_path: Path) -> None:
    early, late, empty = (
        happened("lost", BEGIN_NS - 1),
        happened("deadline", BEGIN_NS, 4),
        happened("lost", BEGIN_NS, 0),
    )
    assert told(trial_of(node(tmp_path, early, late, empty)), BEGIN_NS) == ["station-subscriber: deadline 4"]


def test_deadlines_missed_after_the_last_message_are_nobodys_doing(tmp_path: Path) -> None:
    after = [happened("deadline", ROUND_END_NS), happened("lost", ROUND_END_NS, 2)]
    assert told(trial_of(node(tmp_path, *after)), BEGIN_NS) == ["station-subscriber: lost 2"]


@pytest.mark.parametrize(
    ("at_ns", "count", "restarted_ns", "is_told"),
    [
        (BEGIN_NS, 0, None, True),
        (BEGIN_NS, 1, None, False),
        (BEGIN_NS - 1, 0, None, False),
        (CLOSING_NS, 0, None, False),
        (BEGIN_NS, 0, BEGIN_NS, False),
    ],
)
def test_losing_the_last_match_is_told_while_messages_flow(
    tmp_path: Path, at_ns: int, count: int, restarted_ns: int | None, is_told: bool
) -> None:
    trial = trial_of(node(tmp_path, matched(1, 0), matched(count, at_ns)), restarted_ns=restarted_ns)
    assert told(trial, BEGIN_NS) == (["station-subscriber: no match left"] if is_told else [])


def test_refused_messages_are_told(tmp_path: Path) -> None:
    publisher = node(tmp_path)
    sends = np.zeros(4, SEND)
    sends["begin"] = [BEGIN_NS - 1, BEGIN_NS, BEGIN_NS + 1, BEGIN_NS + 2]
    sends["status"] = [1, 0, 1, 1]
    sends.tofile(publisher.records / "sends.bin")
    assert told(trial_of(publisher), BEGIN_NS) == ["station-subscriber: 2 messages refused"]


def test_a_crash_is_told_by_its_signal(tmp_path: Path) -> None:
    assert crashed([node(tmp_path, then="kill -SEGV $$\n")]) == {"station-subscriber": "SIGSEGV"}


def test_a_crash_is_told_by_its_exit_code_or_last_words(tmp_path: Path) -> None:
    for name in ("code", "fatal"):
        (tmp_path / name).mkdir()
    assert crashed([node(tmp_path / "code", then="exit 3\n")]) == {"station-subscriber": "exit code 3"}
    fatal = {"event": "fatal", "message": "bad alloc"}
    assert crashed([node(tmp_path / "fatal", fatal, then="exit 2\n")]) == {"station-subscriber": "bad alloc"}


@pytest.mark.parametrize(("records", "expected"), [(False, {"station-subscriber": "no records written"}), (True, {})])
def test_a_victim_that_only_hangs_at_closing_is_no_crash(
    tmp_path: Path, records: bool, expected: dict[str, str]
) -> None:
    host = Host("station", Path("/proc/self/ns/net"), "10.77.0.2", "lo", tmp_path)
    victim = Node("station-subscriber", host, "subscriber", [])
    victim.records.mkdir()
    victim.program = Victim(victim.name, ["/bin/sleep", "60"], tmp_path / "log")
    victim.program.send({"command": "stop"})
    victim.program.end(0.05)
    if records:
        (victim.records / "receipts.bin").write_bytes(b"")
    assert crashed([victim]) == expected


def test_what_rogues_were_told(tmp_path: Path) -> None:
    events = [happened("rejected", 5) | {"text": "no permission"}] * 2
    fatal = {"event": "fatal", "message": "no participant"}
    said = refused([node(tmp_path, *events, fatal)])
    assert said == ["station-subscriber: no participant", "station-subscriber: no permission"]


# What a capture shows.

ROBOT, STATION, ATTACKER, BYSTANDER = (f"10.77.0.{number}" for number in range(1, 5))
IN, OUT = 1, 2


def datagram(source: str, destination: str, payload: bytes) -> bytes:
    return udp_frame((hardware_of(source), hardware_of(destination)), (source, 7400), (destination, 7410), payload)


def capture(path: Path, *crossings: tuple[int, int, bytes]) -> Path:
    """A pcapng file of frames, each with its interface and direction."""
    blocks = [(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))]
    blocks += [(1, struct.pack("<HHI", 1, 0, 0))] * 4
    for interface, direction, frame in crossings:
        padded = frame + bytes(-len(frame) % 4)
        options = struct.pack("<HH4s", 1, 3, b"hey\0") + struct.pack("<HHI", 2, 4, direction) + bytes(4)
        blocks.append((6, struct.pack("<IIIII", interface, 0, 0, len(frame), len(frame)) + padded + options))
    content = b""
    for kind, body in blocks:
        length = struct.pack("<I", len(body) + 12)
        content += struct.pack("<I", kind) + length + body + length
    path.write_bytes(content)
    return path


# What entered the switch.


def test_reflected_bytes_are_those_of_victims_to_the_bystander() -> None:
    frame = datagram(ROBOT, BYSTANDER, b"reflected")
    ping = frame[:23] + b"\x01" + frame[24:]
    syn = syn_frame((hardware_of(STATION), hardware_of(BYSTANDER)), (STATION, 1), (BYSTANDER, 2), 3)
    asked = datagram(ROBOT, BYSTANDER, b"the attacker's own, in the robot's name")
    sent = [(0, frame), (1, syn), (0, ping), (2, asked), (2, ping), (0, datagram(ROBOT, STATION, b"genuine"))]
    entered = [Frame(port, raw) for port, raw in sent]
    assert bytes_sent(entered, {0, 1}, BYSTANDER) == len(frame) + len(syn)
    assert bytes_sent(entered, {2}) == len(asked)


def test_a_time_has_a_beginning_and_an_end() -> None:
    frames = [Frame(0, b"", at_ns) for at_ns in (1, 2, 3)]
    assert between(frames, 2, 3) == frames[1:2]


def of_attacker(at_ns: int, port: int, raw: bytes | None = None) -> Frame:
    ends = (ATTACKER, port), (STATION, 7410)
    return Frame(2, raw or udp_frame((hardware_of(ATTACKER), hardware_of(STATION)), *ends, b"hello"), at_ns)


@pytest.mark.parametrize(
    ("lives", "count"),
    [
        ([(10, False)], 1),
        ([(10, True), (20, False)], 2),
        ([(10, True), (20, False), (30, False)], 2),
        ([(10, True), (26, False)], 1),
        ([(10, False), (12, False), (20, True)], 2),
        ([], 0),
    ],
    ids=["refused", "opened and refused", "one says nothing", "only the first goes on", "first and last", "nobody"],
)
def test_a_node_that_sent_nothing_is_idle(lives: list[tuple[int, bool]], count: int) -> None:
    arp = b"\xff" * 6 + bytes.fromhex(hardware_of(ATTACKER).replace(":", "")) + b"\x08\x06" + bytes(28)
    frames = [of_attacker(11, 40_000), of_attacker(25, 40_001), of_attacker(27, 40_001), of_attacker(35, 0, arp)]
    assert active(frames, lives) == count


def test_genuine_frames_make_a_capture(tmp_path: Path) -> None:
    genuine, asked = datagram(ROBOT, STATION, b"one"), datagram(ROBOT, ATTACKER, b"two")
    entered = [Frame(0, genuine, 1_000_002_003), Frame(0, asked), of_attacker(5, 40_000), Frame(1, b"\1" * 14)]
    write_capture(tmp_path / "before.pcap", without(entered, {2}, {ATTACKER}))
    assert list(wire.frames(tmp_path / "before.pcap")) == [genuine, b"\1" * 14]
    write_capture(tmp_path / "none.pcap", [])
    assert list(wire.frames(tmp_path / "none.pcap")) == []


# What a capture shows beside.


def test_what_leaves_is_known_by_port_and_sender(tmp_path: Path) -> None:
    genuine = datagram(ROBOT, STATION, b"one")
    relayed = genuine[:6] + bytes.fromhex(hardware_of(ATTACKER).replace(":", "")) + genuine[12:]
    path = capture(tmp_path / "wire.pcapng", (0, IN, genuine), (1, OUT, genuine), (1, OUT, relayed), (3, OUT, relayed))
    assert [frame.raw for frame in leaks.leaving(path, 1, ATTACKER)] == [relayed]
    assert [frame.raw for frame in leaks.leaving(path, 1, ROBOT)] == [genuine]


NONCE = "00112233445566ff"


def shown(tmp_path: Path, payload: bytes) -> list[str]:
    spec = SimpleNamespace(nonce=NONCE, streams=[SimpleNamespace(topic="/scan")], hosts=["robot", "station"])
    return leaks.find(
        capture(tmp_path / "wire.pcapng", (0, IN, datagram(ROBOT, STATION, b"\0" + payload))), cast("Any", spec)
    )


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        (b"..comseclab:" + NONCE.encode(), ["payload"]),
        (b"..comsecl\0" + bytes.fromhex(NONCE), ["payload"]),
        (b"..comseclab:" + b"0" * 16, []),
        (b"\x08\0\0\0rt/scan\0", ["topic name"]),
        (b"topic=/scan", ["topic name"]),
        (b"topic./scan\x01", ["topic name"]),
        (b"rt/scan/ros1\0", ["topic name"]),
        (b"\x04scan\0", ["topic name"]),
        (b"rt/scanner\0", []),
        (b"rt/front/scan\0", []),
        (b"rt/scan/echo\0", []),
        (b"the laser scan\0", []),
        (b"-----BEGIN CERTIFICATE-----", ["identity"]),
        (b"\x31\x06\x03\x55\x04\x03\x0c\x05robot", ["identity"]),
        (b"CN=/robot in some log", []),
        (b"<permissions>\n<grant>", ["permissions"]),
        (b"<subject_name>CN=/robot</subject_name><topic>rt/scan</topic>", ["topic name", "identity"]),
        (b"permissions", []),
    ],
)
def test_names_in_clear(tmp_path: Path, payload: bytes, expected: list[str]) -> None:
    assert shown(tmp_path, payload) == expected
