"""What is sent again of a protected RTPS stream, on messages laid out as captured ones were."""

from dataclasses import replace
from pathlib import Path

import pytest

from attack.scenes import HOSTS, Recorder, scene_on
from comseclab.attack import fence
from comseclab.attack import rtps_replay as replaying
from comseclab.attack import rtps_wire as wire
from comseclab.attack.deliveries import IN_FLIGHT_NS
from comseclab.attack.frame import Frame, udp_frame
from comseclab.attack.rtps_known import Known, Participant, message_in
from comseclab.attack.scene import Scene
from comseclab.protection.rtps import Submessage
from comseclab.testbed.host import Host

ROBOT, STATION = "10.77.0.1", "10.77.0.2"
HEADER = bytes.fromhex("525450530201011001101c86eeb5f10d26b981b3")
USER, DISCOVERY = bytes.fromhex("00000103"), bytes.fromhex("ff0003c2")
OLD, NEW = b"o" * 12, b"n" * 12
USER_PORT, META_PORT = 7411, 7410
KEY = bytes.fromhex("0000000a")
SECOND_NS = 1_000_000_000
RESTARTED_NS = 9 * SECOND_NS
INFO_TS, INFO_SRC = 0x09, 0x0C
PAYLOAD = bytes(8728)

HIDDEN_BESIDE_MESSAGES = {
    "cyclonedds rtps-encrypt": (60, 72, 76, 100, 156, 172),
    "cyclonedds all-encrypt": (116, 128, 132, 160, 284, 300, 456, 736, 1536),
    "cyclonedds all-encrypt-origin": (136, 148, 152, 156),
    "fastdds rtps-encrypt": (72, 76, 112),
    "fastdds all-encrypt": (72, 76, 128, 132, 224, 564),
}
"""Bytes of the SEC_BODY of captured messages from the writer's participant that were no messages of the stream."""


def part(kind: int, size: int = 20, body: bytes = b"") -> Submessage:
    return Submessage(kind, little=True, flags=1, body=body or bytes(size), complete=True)


def signed(*parts: Submessage) -> tuple[Submessage, ...]:
    return (part(wire.SRTPS_PREFIX), part(INFO_SRC), *parts, part(wire.SRTPS_POSTFIX, body=b"m" * 16 + bytes(4)))


def encrypted(size: int) -> tuple[Submessage, ...]:
    return (part(wire.SRTPS_PREFIX), part(wire.SEC_BODY, size), part(wire.SRTPS_POSTFIX))


def under_key(size: int, *, key: bytes = KEY) -> tuple[Submessage, ...]:
    prefix = part(wire.SEC_PREFIX, body=bytes(4) + key + b"s" * 12)
    return (prefix, part(wire.SEC_BODY, size), part(wire.SEC_POSTFIX))


def message(number: int) -> tuple[Submessage, ...]:
    """As Cyclone DDS sends it under rtps-sign: to any participant."""
    return signed(part(INFO_TS, 8), wire.data(USER, number, PAYLOAD), wire.heartbeat(USER, number, number, number))


def frame(parts: tuple[Submessage, ...], at_ns: int = SECOND_NS, port: int = USER_PORT) -> Frame:
    hardware = ("02:00:0a:4d:00:01", "02:00:0a:4d:00:02")
    raw = udp_frame(hardware, (ROBOT, 37901), (STATION, port), wire.Message(HEADER, parts).raw())
    return Frame(0, raw, at_ns)


def parts_of(sent: Frame) -> tuple[Submessage, ...]:
    found = message_in(sent)
    assert found is not None
    return found.parts


def numbers(sent: list[Frame]) -> list[int]:
    return [data.number for one in sent if (m := message_in(one)) for data in wire.data_of(m)]


@pytest.fixture
def known() -> Known:
    writer = Participant(HEADER, 1, b"", (ROBOT, META_PORT), (ROBOT, USER_PORT))
    reader = Participant(HEADER[:8] + NEW, 1, b"", (STATION, 7500), (STATION, 7500))
    return Known(writer, reader, USER, bytes.fromhex("00000104"), last=30, beats=1, told=1, payload=None)


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Scene, Recorder]:
    """On a path of which nobody is at the other end, so that nothing is sent."""
    monkeypatch.setattr(fence, "check_testbed", lambda: None)
    hosts = {name: Host(name, Path(), f"10.77.0.{number}", "lo", Path()) for number, name in enumerate(HOSTS, 1)}
    return scene_on(hosts, tmp_path / "injected.hex")


def test_signed_messages_are_sent_intact_before_they_are_without_signature(known: Known) -> None:
    recorded = [frame(message(number)) for number in (1, 2)]
    sent = [replaying.to_new_participant(copy, known) for copy in replaying.loosened(recorded)]
    assert [parts_of(one) for one in sent[:2]] == [message(1), message(2)]
    assert {one.destination for one in sent} == {known.reader.user}
    assert not {part.kind for one in sent[2:] for part in parts_of(one)} & set(wire.PROTECTING)
    assert numbers(sent) == [1, 2, 1, 2], "they are new to a reader that has heard nothing"


def test_without_the_signature_of_the_whole_a_message_names_the_new_participant(known: Known) -> None:
    """As Fast DDS sends them under the governance of sros2, in which INFO_DST is signed and no more."""
    recorded = frame(signed(wire.to(OLD), *under_key(16), *under_key(8800)))
    intact, freed = (replaying.to_new_participant(copy, known) for copy in replaying.loosened([recorded]))
    assert parts_of(intact) == parts_of(recorded)
    assert parts_of(freed) == (part(INFO_SRC), wire.to(NEW), *under_key(16), *under_key(8800))


def test_what_is_encrypted_as_a_whole_is_sent_as_it_was() -> None:
    recorded = [frame(encrypted(8964))]
    assert replaying.loosened(recorded) == recorded


def test_codes_for_single_receivers_are_left_out() -> None:
    code = b"m" * 16
    ends = part(wire.SRTPS_POSTFIX, body=code + bytes((0, 0, 0, 1)) + b"r" * 20)
    _, loose = replaying.loosened([frame((*encrypted(8964)[:2], ends))])
    assert parts_of(loose)[-1].body == code + bytes(4)


def test_renumbered_messages_are_sent_without_signature_and_with_it(known: Known) -> None:
    sent = replaying.renumbered([frame(message(number)) for number in (7, 8)], known)
    assert numbers(sent) == [31, 32, 31, 32]
    kinds = [{part.kind for part in parts_of(one)} for one in sent]
    assert [bool(one & set(wire.PROTECTING)) for one in kinds] == [False, False, True, True]
    assert not any(wire.HEARTBEAT in one for one in kinds)


@pytest.mark.parametrize(
    ("recorded", "numbered"), [([(wire.data(USER, n, PAYLOAD),) for n in (7, 8)], [31, 32]), ([encrypted(8964)], [])]
)
def test_without_signature_that_is_readable_messages_are_sent_once(
    known: Known, recorded: list[tuple[Submessage, ...]], numbered: list[int]
) -> None:
    sent = replaying.renumbered([frame(parts) for parts in recorded], known)
    assert len(sent) == len(recorded)
    assert numbers(sent) == numbered


def test_all_up_to_the_restart_is_sent_but_what_was_on_its_way(stage: tuple[Scene, Recorder], known: Known) -> None:
    scene, path = stage
    scene.restarted_ns = RESTARTED_NS
    last_ns = RESTARTED_NS - IN_FLIGHT_NS - 1
    beat = signed(wire.to(OLD), wire.heartbeat(USER, 1, 1, 1))
    discovery = signed(wire.to(OLD), wire.heartbeat(DISCOVERY, 1, 0, 1))
    path.seen = [
        frame(message(1)), frame(beat), frame(discovery), frame(message(2), last_ns), frame(message(3), last_ns + 1),
        frame(message(4), RESTARTED_NS + 1),
    ]  # fmt: skip
    assert [parts_of(one) for one in replaying.before_restart(scene, known)] == [message(1), beat, message(2)]


def test_in_clear_as_well_all_is_sent_from_the_first_message_on(stage: tuple[Scene, Recorder], known: Known) -> None:
    scene, path = stage
    scene.restarted_ns = RESTARTED_NS
    path.seen = [frame((wire.to(OLD), wire.data(USER, number, PAYLOAD))) for number in range(1, 31)]
    replaying.to_restarted(scene, known)
    assert numbers(path.injected) == list(range(1, 31)) * replaying.ROUNDS
    assert {parts_of(one)[0] for one in path.injected} == {wire.to(NEW)}
    assert {one.destination for one in path.injected} == {known.reader.user}


@pytest.mark.parametrize(
    "parts",
    [
        message(40),
        (wire.to(NEW), wire.heartbeat(USER, 36, 40, 40)),
        signed(wire.to(NEW), wire.heartbeat(USER, 36, 40, 40)),
        signed(wire.to(NEW), wire.gap(USER, 1, 36, bytes(4))),
        signed(wire.to(NEW), wire.fragments(USER, 40, PAYLOAD, 1000)[-1]),
        signed(wire.to(NEW), part(wire.HEARTBEAT_FRAG, body=bytes(4) + USER + bytes(16))),
    ],
)
def test_nothing_readable_of_the_stream_reaches_the_new_participant(
    stage: tuple[Scene, Recorder], known: Known, parts: tuple[Submessage, ...]
) -> None:
    scene, path = stage
    path.seen = [frame(message(number)) for number in range(1, 9)]
    replaying.hold_back(scene, replace(known, reader=replace(known.reader, metatraffic=known.reader.user)))
    assert path.rule is not None
    assert list(path.rule(frame(parts))) == []
    discovery = frame(signed(wire.to(NEW), wire.heartbeat(DISCOVERY, 1, 1, 4)))
    assert list(path.rule(discovery)) == [(0.0, discovery)]
    assert path.injected == []


@pytest.mark.parametrize(
    ("where", "size"), [(where, size) for where, sizes in HIDDEN_BESIDE_MESSAGES.items() for size in sizes]
)
def test_whatever_may_hide_a_heartbeat_comes_behind_old_messages(
    stage: tuple[Scene, Recorder], known: Known, where: str, size: int
) -> None:
    scene, path = stage
    path.seen = [frame(encrypted(8964)) for _ in range(8)]
    replaying.hold_back(scene, known)
    hidden = frame(encrypted(size), port=META_PORT)
    assert path.rule is not None
    assert list(path.rule(hidden)) == [(0.0, hidden)], where
    assert [one.payload for one in path.injected] == [path.seen[0].payload] * replaying.SENT_BEFORE
    assert {one.destination for one in path.injected} == {hidden.destination}
    assert list(path.rule(frame(encrypted(8964)))) == []
