"""Frames as an adversary takes them apart and puts them together: checksums right, any bytes taken."""

import random
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from comseclab.attack.frame import TCP, TCP_ACK, TCP_SYN, UDP, Frame, checksum, syn_frame, udp_frame
from comseclab.testbed.network import hardware_of

ROBOT, STATION = ("10.77.0.1", 7400), ("10.77.0.2", 7410)
HARDWARE = hardware_of(ROBOT[0]), hardware_of(STATION[0])


def pseudo_header(frame: Frame) -> bytes:
    """What a checksum of the transport covers beside the transport (RFC 768, RFC 9293)."""
    length = struct.unpack_from(">H", frame.raw, 16)[0] - 4 * (frame.raw[14] & 0x0F)
    return frame.raw[26:34] + struct.pack(">BBH", 0, frame.protocol, length)


def assert_whole(raw: bytes) -> Frame:
    """The lengths and checksums are those that a receiver computes."""
    frame = Frame(0, raw)
    header = 14 + 4 * (raw[14] & 0x0F)
    assert struct.unpack_from(">H", raw, 16)[0] == len(raw) - 14
    assert checksum(raw[14:header]) == 0
    assert checksum(pseudo_header(frame) + raw[header:]) == 0
    if frame.protocol == UDP:
        assert struct.unpack_from(">H", raw, header + 4)[0] == len(raw) - header
    return frame


def test_checksum_is_that_of_rfc_1071() -> None:
    assert checksum(bytes.fromhex("0001f203f4f5f6f7")) == 0x220D
    assert checksum(bytes.fromhex("4500003044224000800600008c7c19acae241e2b")) == 0x442E
    assert checksum(b"\x01") == checksum(b"\x01\x00") == 0xFEFF


@given(st.binary(max_size=3000))
def test_a_datagram_is_whole(payload: bytes) -> None:
    frame = assert_whole(udp_frame(HARDWARE, ROBOT, STATION, payload))
    assert (frame.protocol, frame.source, frame.destination) == (UDP, ROBOT, STATION)
    assert frame.payload == payload
    assert frame.raw[:14].hex() == "02000a4d000202000a4d00010800"


def test_a_sum_of_zero_is_sent_as_ones() -> None:
    """RFC 768: a checksum of zero would say that there is none."""
    sum_of_zeros = udp_frame(HARDWARE, ROBOT, STATION, b"\0\0")[40:42]
    assert udp_frame(HARDWARE, ROBOT, STATION, sum_of_zeros)[40:42] == b"\xff\xff"


def test_a_request_for_a_connection_is_whole() -> None:
    frame = assert_whole(syn_frame(HARDWARE, ROBOT, STATION, 0xFEDCBA98))
    assert (frame.protocol, frame.source, frame.destination, frame.payload) == (TCP, ROBOT, STATION, b"")
    assert frame.tcp_flags == TCP_SYN
    assert struct.unpack_from(">I", frame.raw, 38)[0] == 0xFEDCBA98


@given(st.binary(max_size=100), st.binary(max_size=2000))
def test_another_payload_keeps_the_rest(old: bytes, new: bytes) -> None:
    frame = Frame(3, udp_frame(HARDWARE, ROBOT, STATION, old), 17).with_payload(new)
    assert_whole(frame.raw)
    assert (frame.source, frame.destination, frame.payload) == (ROBOT, STATION, new)
    assert (frame.port, frame.at_ns) == (3, 17)


def test_flags_are_of_tcp_alone() -> None:
    raw = bytearray(syn_frame(HARDWARE, ROBOT, STATION, 1))
    raw[47] |= TCP_ACK
    assert Frame(0, bytes(raw)).tcp_flags == TCP_SYN | TCP_ACK
    assert Frame(0, udp_frame(HARDWARE, ROBOT, STATION, bytes(40))).tcp_flags == 0


@pytest.mark.parametrize("fragment", [0x2000, 0x0001, 0x1FFF])
def test_a_fragment_is_neither_udp_nor_tcp(fragment: int) -> None:
    raw = bytearray(udp_frame(HARDWARE, ROBOT, STATION, b"part"))
    struct.pack_into(">H", raw, 20, fragment)
    frame = Frame(0, bytes(raw))
    assert (frame.protocol, frame.source, frame.payload) == (0, ("", 0), b"")


def test_what_may_not_be_fragmented_is_whole() -> None:
    raw = bytearray(udp_frame(HARDWARE, ROBOT, STATION, b"whole"))
    struct.pack_into(">H", raw, 20, 0x4000)
    assert Frame(0, bytes(raw)).payload == b"whole"


def test_ethernets_padding_is_no_payload() -> None:
    assert Frame(0, udp_frame(HARDWARE, ROBOT, STATION, b"hi") + bytes(16)).payload == b"hi"


def _read(raw: bytes) -> None:
    frame = Frame(0, raw)
    assert frame.protocol in (0, UDP, TCP)
    assert len(frame.payload) <= len(raw)
    assert isinstance(frame.source[1] + frame.destination[1] + frame.tcp_flags, int)


@given(st.binary(max_size=200))
def test_any_bytes_are_taken(raw: bytes) -> None:
    _read(raw)


def test_damaged_frames_are_taken() -> None:
    dice = random.Random(9)
    good = [udp_frame(HARDWARE, ROBOT, STATION, dice.randbytes(60)), syn_frame(HARDWARE, ROBOT, STATION, 5)]
    for _ in range(4000):
        raw = bytearray(dice.choice(good))
        for _ in range(dice.randrange(1, 5)):
            raw[dice.randrange(len(raw))] = dice.randrange(256)
        _read(bytes(raw[: dice.randrange(len(raw) + 1)]))
