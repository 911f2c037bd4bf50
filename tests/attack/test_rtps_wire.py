"""RTPS messages made up by the attacker read as the stacks' own do; damaged ones are taken without complaint."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attack.traffic import announcement
from comseclab.attack import rtps_wire as wire
from comseclab.attack.frame import Frame, checksum, udp_frame
from comseclab.attack.rtps_known import data_in, message_in, participant
from comseclab.protection.rtps import ENDPOINTS, PARTICIPANTS

CYCLONE = bytes.fromhex("52545053020101100110133de4cb59f4fff26bfa")
ENTITY = bytes.fromhex("00000103")
PAYLOAD = b"\x00\x01\x00\x00" + b"comseclab:0123456789abcdef" + bytes(6)

DISPOSED_BY_FAST_DDS = bytes.fromhex(
    "525450530203010f010ff5d7110036110000000009010800b9a7016b581a518a1503500000001000000100c7000100c2000000000200"
    "00000f801800010ff5d71100361100000000000100c2000000000100000070001000010ff5d71100361100000000000001c171000400"
    "0000000301000000"
)
"""A participant's farewell, without the vendor's submessage after it."""
DISPOSED_BY_CYCLONE = bytes.fromhex(
    "52545053020101100110133de4cb59f4fff26bfa09010800b1a7016bd708aa37150b3c000000100000000000000003c2000000000200"
    "0000710004000000000301000000000300005a0010000110133de4cb59f4fff26bfa0000010301000000"
)
"""A writer's."""
HEARTBEAT_OF_CYCLONE = bytes.fromhex("07011c0000000104000001030000000023000000000000002200000023000000")

GENUINE = (
    DISPOSED_BY_FAST_DDS,
    DISPOSED_BY_CYCLONE,
    CYCLONE + HEARTBEAT_OF_CYCLONE,
    wire.Message(CYCLONE, tuple(wire.fragments(ENTITY, 7, PAYLOAD * 9, 100))).raw(),
    wire.Message(CYCLONE, (wire.gap(ENTITY, 3, 9, wire.ANY), wire.data(ENTITY, 9, PAYLOAD))).raw(),
)


def _message(*parts: wire.Submessage) -> wire.Message:
    made = wire.parse(wire.Message(CYCLONE, parts).raw())
    assert made is not None
    return made


@pytest.mark.parametrize("raw", GENUINE)
def test_message_taken_apart_and_put_together_is_the_same(raw: bytes) -> None:
    message = wire.parse(raw)
    assert message is not None
    assert message.raw() == raw


def test_data_says_what_was_put_in() -> None:
    (data,) = wire.data_of(_message(wire.data(ENTITY, (5 << 32) + 6, PAYLOAD)))
    assert (data.reader, data.writer, data.number) == (wire.ANY, ENTITY, (5 << 32) + 6)
    assert data.payload == PAYLOAD
    assert data.of_user
    assert data.carries


def test_fragments_put_together_are_the_payload() -> None:
    payload = bytes(range(256)) * 9
    parts = list(wire.data_of(_message(*wire.fragments(ENTITY, 4, payload, 500))))
    assert {part.number for part in parts} == {4}
    assert [struct.unpack_from("<IHHI", part.part.body, 20) for part in parts] == [
        (number, 1, 500, len(payload)) for number in range(1, 6)
    ]
    assert b"".join(part.part.body[32:] for part in parts) == payload
    assert parts[0].payload == payload[:500]


def test_heartbeat_is_as_the_stacks_make_it() -> None:
    made = wire.Message(b"", (wire.heartbeat(ENTITY, 0x23, 0x22, 0x23),)).raw()
    assert made[4:8] == wire.ANY
    assert made[8:] == HEARTBEAT_OF_CYCLONE[8:]
    assert list(wire.heartbeats_of(_message(wire.heartbeat(ENTITY, 2, 1, 77)))) == [(ENTITY, 77)]


def test_gap_ends_before_the_number_beyond() -> None:
    made = wire.gap(ENTITY, 3, 9, bytes.fromhex("00000104"))
    assert made.body == bytes.fromhex("00000104000001030000000003000000000000000900000000000000")


@pytest.mark.parametrize(
    ("raw", "writer", "pid", "entity"),
    [
        (DISPOSED_BY_FAST_DDS, PARTICIPANTS, wire.PID_PARTICIPANT_GUID, wire.PARTICIPANT),
        (DISPOSED_BY_CYCLONE, ENDPOINTS[0], wire.PID_ENDPOINT_GUID, ENTITY),
    ],
)
def test_disposal_says_what_the_stacks_say(raw: bytes, writer: bytes, pid: int, entity: bytes) -> None:
    genuine = wire.parse(raw)
    assert genuine is not None
    (said,) = wire.data_of(genuine)
    gone = genuine.header[-wire.PREFIX_BYTES :] + entity
    made = wire.disposal(said.reader, writer, said.number, pid, gone)
    (forged,) = wire.data_of(_message(made))
    assert (forged.writer, forged.number) == (said.writer, said.number)
    # The key and the status stand in the inline QoS of one, in the payload of the other, or in both.
    status = wire.parameter(wire.PID_STATUS, bytes((0, 0, 0, 3)))
    for part in (said.part, forged.part):
        assert status in part.body
        assert gone in part.body
        assert part.flags & 0x06 == 0x02
    assert not forged.carries


def test_renumbered_changes_the_number_alone() -> None:
    part = wire.data(ENTITY, 9, PAYLOAD)
    (data,) = wire.data_of(_message(wire.renumbered(part, 1 << 33)))
    assert data.number == 1 << 33
    assert wire.renumbered(data.part, 9).body == part.body


def test_participant_is_the_last_that_announced_itself() -> None:
    frames = [announcement(b"a" * 12, ("10.77.0.2", 7410)), announcement(b"b" * 12, ("10.77.0.2", 7412))]
    found = participant(frames, "10.77.0.2")
    assert found is not None
    assert (found.prefix, found.metatraffic, found.user) == (b"b" * 12, ("10.77.0.2", 7412), ("10.77.0.2", 7412))
    assert participant(frames, "10.77.0.1") is None


@given(st.sampled_from(GENUINE), st.data())
def test_damaged_messages_are_taken(raw: bytes, dice: st.DataObject) -> None:
    damaged = bytearray(raw)
    for _ in range(dice.draw(st.integers(0, 8))):
        damaged[dice.draw(st.integers(4, len(raw) - 1))] = dice.draw(st.integers(0, 255))
    _read_all(bytes(damaged[: dice.draw(st.integers(0, len(raw)))]))


@given(st.binary(max_size=200))
def test_any_bytes_are_taken(tail: bytes) -> None:
    _read_all(CYCLONE + tail)
    _read_all(tail)


def _read_all(raw: bytes) -> None:
    frame = Frame(0, udp_frame(("02:00:0a:4d:00:01",) * 2, ("10.77.0.1", 1), ("10.77.0.2", 2), raw))
    assert checksum(frame.raw[14:34]) == 0
    participant([frame], "10.77.0.1")
    for data in data_in([frame]):
        wire.listed(data.payload)
        assert len(wire.renumbered(data.part, 5).body) == len(data.part.body)
    message = message_in(frame)
    if message is None:
        return
    list(wire.heartbeats_of(message))
    list(wire.acknowledged(message))
    list(wire.keys_of(message))
    assert wire.parse(message.raw()) == message


@given(st.binary(max_size=100))
def test_any_parameters_are_taken(payload: bytes) -> None:
    for value in wire.listed(payload).values():
        wire.locator_of(value)
