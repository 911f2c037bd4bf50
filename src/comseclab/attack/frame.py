"""Ethernet frames with IPv4 and UDP or TCP, as an adversary takes them apart and puts them together.

Checksums: RFC 1071; IPv4: RFC 791; UDP: RFC 768; TCP: RFC 9293.
"""

import socket
import struct
from dataclasses import dataclass, replace

UDP, TCP = 17, 6
TCP_SYN, TCP_ACK = 0x02, 0x10
_IPV4 = b"\x08\x00"


@dataclass(frozen=True)
class Frame:
    """A whole frame, and the port of the switch it came in at. Fields of the payload are read on demand."""

    port: int
    raw: bytes
    at_ns: int = 0
    """When it came in, CLOCK_MONOTONIC."""

    @property
    def _header(self) -> int:
        """Length of the IPv4 header; 0 where there is none, or the packet is a fragment."""
        if len(self.raw) < 34 or self.raw[12:14] != _IPV4 or self.raw[14] >> 4 != 4:
            return 0
        if struct.unpack_from(">H", self.raw, 20)[0] & 0x3FFF:
            return 0
        return 4 * (self.raw[14] & 0x0F)

    @property
    def protocol(self) -> int:
        """17 for UDP, 6 for TCP, 0 for what is neither, or only a part of one."""
        header = self._header
        protocol = self.raw[23] if header else 0
        least = 8 if protocol == UDP else 20
        return protocol if protocol in (UDP, TCP) and len(self.raw) >= 14 + header + least else 0

    @property
    def source(self) -> tuple[str, int]:
        return self._end(26, 0)

    @property
    def destination(self) -> tuple[str, int]:
        return self._end(30, 2)

    def _end(self, address: int, port: int) -> tuple[str, int]:
        if not self.protocol:
            return "", 0
        number = struct.unpack_from(">H", self.raw, 14 + self._header + port)[0]
        return socket.inet_ntoa(self.raw[address : address + 4]), number

    @property
    def _payload_at(self) -> int:
        transport = 14 + self._header
        return transport + (8 if self.protocol == UDP else 4 * (self.raw[transport + 12] >> 4))

    @property
    def payload(self) -> bytes:
        """What UDP or TCP carries; empty for anything else."""
        if not self.protocol:
            return b""
        return self.raw[self._payload_at : 14 + struct.unpack_from(">H", self.raw, 16)[0]]

    @property
    def tcp_flags(self) -> int:
        """Of the TCP header; 0 where there is none."""
        return self.raw[14 + self._header + 13] if self.protocol == TCP else 0

    @property
    def tcp_number(self) -> int:
        """The sequence number of a TCP segment. Only of what is one."""
        number: int = struct.unpack_from(">I", self.raw, 14 + self._header + 4)[0]
        return number

    def with_payload(self, payload: bytes) -> "Frame":
        """The same frame with another payload, lengths and checksums corrected. It must be UDP, or keep its length."""
        head = bytearray(self.raw[: self._payload_at])
        transport = 14 + self._header
        struct.pack_into(">H", head, 16, len(head) - 14 + len(payload))
        struct.pack_into(">H", head, 24, 0)
        struct.pack_into(">H", head, 24, checksum(bytes(head[14:transport])))
        place = transport + 16
        if self.protocol == UDP:
            struct.pack_into(">H", head, transport + 4, 8 + len(payload))
            place = transport + 6
        struct.pack_into(">H", head, place, 0)
        length = len(head) - transport + len(payload)
        pseudo = bytes(head[26:34]) + struct.pack(">BBH", 0, self.protocol, length)
        # A UDP checksum of zero would mean that there is none.
        struct.pack_into(">H", head, place, checksum(pseudo + bytes(head[transport:]) + payload) or 0xFFFF)
        return replace(self, raw=bytes(head) + payload)


def udp_frame(
    hardware: tuple[str, str], source: tuple[str, int], destination: tuple[str, int], payload: bytes
) -> bytes:
    """A UDP datagram in one frame. `hardware` and the ends are (from, to)-ordered; the addresses may be made up."""
    header = struct.pack(">HHHH", source[1], destination[1], 8, 0)
    return _packet(hardware, (source[0], destination[0]), UDP, header).with_payload(payload).raw


def syn_frame(hardware: tuple[str, str], source: tuple[str, int], destination: tuple[str, int], number: int) -> bytes:
    """A request for a TCP connection whose first sequence number is `number`, in one frame."""
    header = struct.pack(">HHIIBBHHH", source[1], destination[1], number, 0, 5 << 4, TCP_SYN, 64_000, 0, 0)
    return _packet(hardware, (source[0], destination[0]), TCP, header).with_payload(b"").raw


def _packet(hardware: tuple[str, str], addresses: tuple[str, str], protocol: int, header: bytes) -> Frame:
    """A frame whose lengths and checksums are not right yet."""
    to_from = b"".join(bytes.fromhex(address.replace(":", "")) for address in reversed(hardware))
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 0, 0, 0, 64, protocol, 0)
    return Frame(0, to_from + _IPV4 + ip + b"".join(map(socket.inet_aton, addresses)) + header)


def checksum(data: bytes) -> int:
    """The Internet checksum (RFC 1071)."""
    padded = data + b"\0" * (len(data) % 2)
    total: int = sum(struct.unpack(f">{len(padded) // 2}H", padded))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
