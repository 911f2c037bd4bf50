"""Captures as frames, frames as UDP datagrams or TCP segments. Takes any bytes: what is damaged or cut is skipped."""

import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

_PCAPNG_SECTION, _PCAPNG_PACKET, _PCAPNG_LITTLE = 0x0A0D0D0A, 6, b"\x4d\x3c\x2b\x1a"
_PCAP_MAGICS = {b"\xd4\xc3\xb2\xa1": "<", b"\xa1\xb2\xc3\xd4": ">", b"\x4d\x3c\xb2\xa1": "<", b"\xa1\xb2\x3c\x4d": ">"}
_PCAPNG_FLAGS, _PCAPNG_DIRECTION = 2, 3
_ETHERTYPE_IPV4, _PROTOCOL_TCP, _PROTOCOL_UDP = b"\x08\x00", 6, 17


@dataclass(frozen=True)
class Datagram:
    """The UDP or TCP payload a frame holds: all of it, or the beginning where it was fragmented or cut."""

    source: tuple[bytes, int]
    destination: tuple[bytes, int]
    payload: bytes


@dataclass(frozen=True)
class Crossing:
    """A frame at an interface of a capture: inbound when it entered there, outbound when it left."""

    frame: bytes
    interface: int = 0
    direction: Literal["inbound", "outbound", "unknown"] = "unknown"


def frames(path: Path) -> Iterator[bytes]:
    """The frames of a pcapng or classic pcap capture, from whatever interface."""
    return (crossing.frame for crossing in crossings(path))


def crossings(path: Path) -> Iterator[Crossing]:
    """The same with where each frame crossed; a classic pcap does not say."""
    with path.open("rb") as file:
        try:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError:  # an empty file cannot be mapped
            return
        with data:
            if data[:4] in _PCAP_MAGICS:
                yield from _pcap(data, _PCAP_MAGICS[data[:4]])
            else:
                yield from _pcapng(data)


def _pcap(data: mmap.mmap, order: str) -> Iterator[Crossing]:
    position, header = 24, struct.Struct(f"{order}IIII")
    while position + header.size <= len(data):
        captured = header.unpack_from(data, position)[2]
        position += header.size
        yield Crossing(data[position : position + captured])
        position += captured


def _pcapng(data: mmap.mmap) -> Iterator[Crossing]:
    position, order = 0, "<"
    while position + 12 <= len(data):
        if struct.unpack_from("<I", data, position)[0] == _PCAPNG_SECTION:
            order = "<" if data[position + 8 : position + 12] == _PCAPNG_LITTLE else ">"
        kind, length = struct.unpack_from(f"{order}II", data, position)
        if length < 12:
            return
        if kind == _PCAPNG_PACKET and length >= 32:
            block = data[position : position + length]
            captured = min(struct.unpack_from(f"{order}I", block, 20)[0], length - 32)
            interface = struct.unpack_from(f"{order}I", block, 8)[0]
            yield Crossing(block[28 : 28 + captured], interface, _direction(block, 28 + captured, order))
        position += length


def _direction(block: bytes, position: int, order: str) -> Literal["inbound", "outbound", "unknown"]:
    """What the options of an enhanced packet block say; they begin on the next multiple of four bytes."""
    position = (position + 3) // 4 * 4
    while position + 8 <= len(block) - 4:
        code, length = struct.unpack_from(f"{order}HH", block, position)
        if code == _PCAPNG_FLAGS and length == 4:
            bits = struct.unpack_from(f"{order}I", block, position + 4)[0] & _PCAPNG_DIRECTION
            return "inbound" if bits == 1 else "outbound" if bits == 2 else "unknown"
        position += 4 + (length + 3) // 4 * 4
    return "unknown"


def datagram(frame: bytes) -> Datagram | None:
    """The UDP payload of an Ethernet frame with IPv4, of a first fragment what it holds; None for anything else."""
    start, end = _transport(frame, _PROTOCOL_UDP)
    if not start or len(frame) < start + 8:
        return None
    source, destination, length = struct.unpack_from(">HHH", frame, start)
    end = min(end, start + length)
    return Datagram((frame[26:30], source), (frame[30:34], destination), frame[start + 8 : end])


def segment(frame: bytes) -> Datagram | None:
    """The same for TCP: the payload of a segment, which is empty in most acknowledgements."""
    start, end = _transport(frame, _PROTOCOL_TCP)
    if not start or len(frame) < start + 20:
        return None
    source, destination = struct.unpack_from(">HH", frame, start)
    header = 4 * (frame[start + 12] >> 4)
    return Datagram((frame[26:30], source), (frame[30:34], destination), frame[start + header : end])


def _transport(frame: bytes, protocol: int) -> tuple[int, int]:
    """Where the transport's header begins in an Ethernet frame with IPv4, and where the packet ends; 0, 0 otherwise."""
    if len(frame) < 14 + 20 or frame[12:14] != _ETHERTYPE_IPV4 or frame[14] >> 4 != 4:
        return 0, 0
    header = 4 * (frame[14] & 0x0F)
    total, fragment = struct.unpack_from(">H", frame, 16)[0], struct.unpack_from(">H", frame, 20)[0]
    if header < 20 or frame[23] != protocol or fragment & 0x1FFF or total < header + 8:
        return 0, 0
    return 14 + header, 14 + total
