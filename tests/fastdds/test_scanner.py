"""The scanner of captures: known answers, and any bytes at all."""

import struct
import tempfile
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from comseclab.middleware.fastdds import MIDDLEWARE
from comseclab.protection.levels import LEVELS, Kind
from comseclab.protection.proof import contradictions
from comseclab.protection.rtps import Carried, Scanner, submessages
from comseclab.protection.wire import datagram, frames
from fastdds.lab import NONCE, SENTINEL, Run, trial_spec

USER, CDR = bytes.fromhex("00000103"), b"\0\1\0\0"
PLAIN = Carried(Kind.NONE, Kind.NONE, Kind.NONE)


def submessage(kind: int, body: bytes, flags: int = 1, length: int | None = None) -> bytes:
    order = "<" if flags & 1 else ">"
    return struct.pack(f"{order}BBH", kind, flags, len(body) if length is None else length) + body


def data(payload: bytes, *, writer: bytes = USER, flags: int = 5, inline_qos: bytes = b"") -> bytes:
    order = "<" if flags & 1 else ">"
    fixed = struct.pack(f"{order}HH", 0, 16) + bytes(4) + writer + bytes(8)
    return submessage(0x15, fixed + inline_qos + payload, flags)


def fragment(number: int, payload: bytes) -> bytes:
    fixed = struct.pack("<HH", 0, 28) + bytes(4) + USER + bytes(8) + struct.pack("<IHHI", number, 1, 1400, 9000)
    return submessage(0x16, fixed + payload)


def crypto_header(kind: int, key: int = 7) -> bytes:
    return struct.pack(">II", kind, key) + bytes(12)


def body(size: int) -> bytes:
    return submessage(0x30, struct.pack(">I", size) + bytes(min(size, 64)), length=(size + 4) & 0xFFFF)


def frame(message: bytes, *, fragmented: bool = False, cut: int | None = None) -> bytes:
    rtps = b"RTPS\x02\x03\x01\x0f" + bytes(12) + message
    udp = struct.pack(">HHHH", 7410, 7411, len(rtps) + 8, 0) + rtps
    if cut is not None:
        udp = udp[:cut]
    flags = 0x2000 if fragmented else 0
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 1, flags, 64, 17, 0, b"\x0a\0\0\1", b"\x0a\0\0\2")
    return bytes(12) + b"\x08\x00" + ip + udp


def scan(*all_frames: bytes, least_size: int = 1000) -> Scanner:
    scanner = Scanner(["rt/scan"], [SENTINEL], least_size)
    for one in all_frames:
        scanner.frame(one)
    return scanner


@pytest.mark.parametrize(
    ("message", "carried"),
    [
        (data(CDR + SENTINEL), PLAIN),
        (data(CDR + SENTINEL, flags=4), PLAIN),
        (data(crypto_header(3) + SENTINEL), Carried(Kind.NONE, Kind.NONE, Kind.SIGN)),
        (data(crypto_header(1) + SENTINEL), Carried(Kind.NONE, Kind.NONE, Kind.SIGN)),
        (data(crypto_header(4)), Carried(Kind.NONE, Kind.NONE, Kind.ENCRYPT)),
        (data(crypto_header(4), flags=7, inline_qos=struct.pack("<HHIHH", 0x70, 4, 0, 1, 0)),
         Carried(Kind.NONE, Kind.NONE, Kind.ENCRYPT)),
        (submessage(0x31, crypto_header(3)) + data(CDR), Carried(Kind.NONE, Kind.SIGN, Kind.NONE)),
        (submessage(0x33, crypto_header(3)) + data(CDR), Carried(Kind.SIGN, Kind.NONE, Kind.NONE)),
        (submessage(0x31, crypto_header(4)) + body(1200), Carried(Kind.NONE, Kind.ENCRYPT, None)),
        (submessage(0x33, crypto_header(4)) + body(1200), Carried(Kind.ENCRYPT, None, None)),
        (submessage(0x33, crypto_header(3)) + submessage(0x31, crypto_header(4)) + body(1200),
         Carried(Kind.SIGN, Kind.ENCRYPT, None)),
        (fragment(1, CDR + bytes(1396)), PLAIN),
        (fragment(1, crypto_header(4) + bytes(1380)), Carried(Kind.NONE, Kind.NONE, Kind.ENCRYPT)),
    ],
)  # fmt: skip
def test_how_a_message_travelled(message: bytes, carried: Carried) -> None:
    assert scan(frame(message)).traffic.carried == {carried: 1}


@pytest.mark.parametrize(
    "message",
    [
        fragment(2, crypto_header(4)),  # its payload began in another
        submessage(0x31, crypto_header(4)) + body(100),  # too small for a user's message
        submessage(0x31, crypto_header(4, key=0)) + body(1200),  # the key exchange
        data(CDR, writer=bytes.fromhex("000003c2")),  # discovery
        data(b"", flags=1),  # no payload
    ],
)
def test_what_is_no_users_message(message: bytes) -> None:
    assert not scan(frame(message)).traffic.carried


def test_the_beginning_of_a_datagram_is_enough() -> None:
    whole = submessage(0x33, crypto_header(3)) + data(CDR + SENTINEL + bytes(9000))
    traffic = scan(frame(whole, fragmented=True, cut=1480)).traffic
    assert traffic.carried == {Carried(Kind.SIGN, Kind.NONE, Kind.NONE): 1}
    assert traffic.sentinel_frames == 1
    assert traffic.kinds["user DATA"] == 1


def test_later_fragments_and_other_protocols_are_no_datagrams() -> None:
    good = frame(data(CDR))
    assert datagram(good) is not None
    assert datagram(good[:20] + b"\x20\x01" + good[22:]) is None  # a later fragment
    assert datagram(good[:23] + b"\x06" + good[24:]) is None  # TCP
    assert datagram(good[:12] + b"\x86\xdd" + good[14:]) is None  # IPv6
    assert datagram(good[:30]) is None


def test_the_sentinel_counts_wherever_it_stands() -> None:
    assert scan(b"anything " + SENTINEL).traffic.sentinel_frames == 1
    assert NONCE.encode() in SENTINEL


def test_discovery_in_clear_names_its_topics() -> None:
    named = data(b"\0\3\0\0" + b"rt/scan\0", writer=bytes.fromhex("000003c2"))
    other = data(b"\0\3\0\0" + b"rt/scanner\0", writer=bytes.fromhex("000003c2"))
    assert scan(frame(named)).traffic.announced_topics == {"rt/scan"}
    assert not scan(frame(other)).traffic.announced_topics


def test_codes_for_single_receivers() -> None:
    common = bytes(16)
    without = submessage(0x32, common + struct.pack(">I", 0))
    with_one = submessage(0x34, common + struct.pack(">I", 1) + bytes(20))
    assert scan(frame(without)).traffic.receiver_codes == 0
    assert scan(frame(with_one)).traffic.receiver_codes == 1


@given(st.binary(max_size=300))
def test_any_frame(noise: bytes) -> None:
    scan(noise, frame(noise), bytes(12) + b"\x08\x00" + noise)


@given(st.integers(0, 63), st.binary(max_size=120), st.integers(0, 255), st.integers(0, 0xFFFF))
def test_any_submessage(kind: int, content: bytes, flags: int, length: int) -> None:
    message = submessage(kind, content, flags, length)
    list(submessages(b"RTPS" + bytes(16) + message))
    for level in LEVELS.values():
        assert contradictions(scan(frame(message), least_size=1).traffic, level)


@given(seed=st.integers(0, 1 << 32))
def test_real_captures_with_flipped_bytes(runs: dict[str, Run], seed: int) -> None:
    random = Random(seed)
    altered = bytearray(random.choice(some_frames(runs[random.choice(list(LEVELS))].capture)))
    for _ in range(random.randint(1, 8)):
        altered[random.randrange(len(altered))] = random.randrange(256)
    scan(bytes(altered))


@cache
def some_frames(capture: Path) -> list[bytes]:
    return list(islice(frames(capture), 200))


@given(content=st.binary(max_size=400), magic=st.sampled_from([b"", b"\x0a\x0d\x0d\x0a", b"\xd4\xc3\xb2\xa1"]))
def test_any_file(content: bytes, magic: bytes) -> None:
    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).write_bytes(magic + content)
        assert all(len(one) <= 400 for one in frames(Path(file.name)))


def test_both_byte_orders_and_formats(tmp_path: Path) -> None:
    packets = [b"first frame", b"second"]
    for order in "<>":
        section = struct.pack(f"{order}IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28)
        interface = struct.pack(f"{order}IIHHII", 1, 20, 1, 0, 0, 20)
        blocks = b""
        for index, packet in enumerate(packets):
            padded = packet + bytes(-len(packet) % 4)
            length = 32 + len(padded)
            fields = (6, length, index, 0, 0, len(packet), len(packet))
            blocks += struct.pack(f"{order}IIIIIII", *fields) + padded + struct.pack(f"{order}I", length)
        path = tmp_path / "capture.pcapng"
        path.write_bytes(section + interface + interface + blocks)
        assert list(frames(path)) == packets
        path.write_bytes(path.read_bytes()[:-10])
        assert list(frames(path))[:1] == packets[:1]
        classic = struct.pack(f"{order}IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
        path.write_bytes(classic + b"".join(struct.pack(f"{order}IIII", 0, 0, len(p), len(p)) + p for p in packets))
        assert list(frames(path)) == packets


@pytest.mark.parametrize("level", ["none", "all-encrypt"])
def test_a_cut_capture_is_read_to_where_it_ends(runs: dict[str, Run], level: str, tmp_path: Path) -> None:
    whole = runs[level].capture.read_bytes()
    counts = []
    for share in (0.0, 0.3, 0.6, 1.0):
        cut = tmp_path / "cut.pcapng"
        cut.write_bytes(whole[: int(len(whole) * share)])
        counts.append(MIDDLEWARE.prove(cut, trial_spec(level)).frames)
    assert counts == sorted(counts)
    assert counts[0] == 0
    assert counts[-1] > counts[1] > 0
