"""The forged TCP reset is a whole segment with right checksums, at the place of the one it was learned from."""

import struct

from comseclab.attack.frame import TCP, Frame, checksum
from comseclab.attack.tcp import reset_of

_ETHERNET = bytes.fromhex("02000a4d000202000a4d00010800")
_ADDRESSES = bytes((10, 77, 0, 1, 10, 77, 0, 2))


def _segment(options: bytes, payload: bytes) -> Frame:
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 40 + len(options) + len(payload), 7, 0, 64, TCP, 0) + _ADDRESSES
    tcp = struct.pack(">HHIIBBHHH", 40123, 555, 0xFFFFFFF0, 99, (20 + len(options)) // 4 << 4, 0x18, 500, 0, 0)
    return Frame(3, _ETHERNET + ip + tcp + options + payload, 17)


def test_reset_stands_where_the_segment_did() -> None:
    made = reset_of(_segment(b"\x01\x01\x08\x0a" + bytes(8), b"message" * 100))
    assert made.port == 3
    assert made.raw[:14] == _ETHERNET
    assert (made.source, made.destination) == (("10.77.0.1", 40123), ("10.77.0.2", 555))
    number, acknowledged, offset, flags = struct.unpack_from(">IIBB", made.raw, 38)
    assert (number, acknowledged, offset, flags) == (0xFFFFFFF0, 0, 0x50, 0x04)
    assert made.payload == b""
    assert len(made.raw) == 14 + 40


def test_reset_has_right_checksums() -> None:
    raw = reset_of(_segment(b"", b"odd")).raw
    assert checksum(raw[14:34]) == 0
    assert checksum(_ADDRESSES + struct.pack(">BBH", 0, TCP, 20) + raw[34:]) == 0
