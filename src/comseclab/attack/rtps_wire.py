"""RTPS messages as an attacker takes them apart and makes them up (DDSI-RTPS 2.5; clauses stand at each maker)."""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from comseclab.protection.rtps import Submessage, parameters, serialised_payload, submessages

ACKNACK, HEARTBEAT, GAP, INFO_DST, HEARTBEAT_FRAG, DATA, DATA_FRAG = 0x06, 0x07, 0x08, 0x0E, 0x13, 0x15, 0x16
SEC_BODY, SEC_PREFIX, SEC_POSTFIX, SRTPS_PREFIX, SRTPS_POSTFIX = 0x30, 0x31, 0x32, 0x33, 0x34
PROTECTING = (SEC_PREFIX, SEC_POSTFIX, SRTPS_PREFIX, SRTPS_POSTFIX)
HEADER_BYTES, PREFIX_BYTES = 20, 12

ANY = bytes(4)
"""ENTITYID_UNKNOWN: every reader that has matched the writer."""
PARTICIPANT = bytes.fromhex("000001c1")

PID_DEFAULT_UNICAST, PID_METATRAFFIC_UNICAST = 0x0031, 0x0032
PID_TOPIC, PID_PARTICIPANT_GUID, PID_ENDPOINT_GUID, PID_KEY_HASH, PID_STATUS = 0x0005, 0x0050, 0x005A, 0x0070, 0x0071
_DISPOSED_AND_UNREGISTERED = bytes((0, 0, 0, 3))
_PL_CDR_LITTLE, _SENTINEL = b"\x00\x03\x00\x00", b"\x01\x00\x00\x00"
_UDPV4 = 1
_LITTLE, _INLINE_QOS, _WITH_DATA, _WITH_KEY, _FINAL = 0x01, 0x02, 0x04, 0x08, 0x02
_COMMON_CODE = 16
_TO_QOS = 16
"""octetsToInlineQos of DATA: from behind the field to behind the number."""


@dataclass(frozen=True)
class Message:
    """An RTPS message: its header of 20 bytes, which ends with the sender's GUID prefix, and its submessages."""

    header: bytes
    parts: tuple[Submessage, ...]

    def raw(self) -> bytes:
        return self.header + b"".join(map(_raw, self.parts))


def parse(payload: bytes) -> Message | None:
    """The message a datagram holds; None where it holds none, or not all of one."""
    parts = tuple(submessages(payload))
    if len(payload) < HEADER_BYTES or payload[:4] != b"RTPS" or not all(part.complete for part in parts):
        return None
    return Message(payload[:HEADER_BYTES], parts)


def _raw(part: Submessage) -> bytes:
    # A length of 0 says that the submessage reaches to the end of the message (9.4.5.1.3).
    length = len(part.body) if len(part.body) <= 0xFFFF else 0
    return struct.pack("<BBH" if part.little else ">BBH", part.kind, part.flags, length) + part.body


# What submessages say.


def is_user(entity: bytes) -> bool:
    """Whether an entity id is an application's, by the upper bits of its kind (9.3.1.2)."""
    return len(entity) == 4 and entity[3] & 0xC0 == 0


def writers_of(message: Message) -> set[bytes]:
    """The writers whose DATA, HEARTBEAT or GAP, or fragments of these, have clear headers."""
    places = {DATA: 8, DATA_FRAG: 8, HEARTBEAT: 4, GAP: 4, HEARTBEAT_FRAG: 4}
    found = ((part.body, places[part.kind]) for part in message.parts if part.kind in places)
    return {body[at : at + 4] for body, at in found if len(body) >= at + 4}


@dataclass(frozen=True)
class Data:
    """DATA, or one DATA_FRAG (9.4.5.4, 9.4.5.5)."""

    part: Submessage
    reader: bytes
    writer: bytes
    number: int

    @property
    def of_user(self) -> bool:
        """Of an application's writer."""
        return is_user(self.writer)

    @property
    def carries(self) -> bool:
        """Whether it carries a message, not only a key."""
        return self.part.kind == DATA_FRAG or bool(self.part.flags & _WITH_DATA)

    @property
    def payload(self) -> bytes:
        """The serialised payload; empty in DATA_FRAGs but the first, and where there is none."""
        return serialised_payload(self.part) or b""


def data_of(message: Message) -> Iterator[Data]:
    """All that travels in clear headers."""
    for part in message.parts:
        if part.kind in (DATA, DATA_FRAG) and len(part.body) >= 20:
            high, low = struct.unpack_from("<iI" if part.little else ">iI", part.body, 12)
            yield Data(part, part.body[4:8], part.body[8:12], (high << 32) + low)


def heartbeats_of(message: Message) -> Iterator[tuple[bytes, int]]:
    """The writer and the count of each HEARTBEAT in clear (9.4.5.7)."""
    for part in message.parts:
        if part.kind == HEARTBEAT and len(part.body) >= 28:
            yield part.body[4:8], struct.unpack_from("<i" if part.little else ">i", part.body, 24)[0]


def acknowledged(message: Message) -> Iterator[tuple[bytes, bytes]]:
    """The reader and the writer of each ACKNACK in clear (9.4.5.2)."""
    return ((part.body[:4], part.body[4:8]) for part in message.parts if part.kind == ACKNACK and len(part.body) >= 8)


def keys_of(message: Message) -> list[bytes]:
    """The ids of the keys that protect single submessages (DDS Security 1.1, 9.5.2.2); the key exchange's is 0."""
    keys = (part.body[4:8] for part in message.parts if part.kind == SEC_PREFIX)
    return [key for key in keys if any(key)]


def listed(payload: bytes) -> dict[int, bytes]:
    """The parameters of a discovery message's payload, the first of each id (9.4.2.11)."""
    order = "<" if payload[1:2] == b"\x03" else ">"
    found: dict[int, bytes] = {}
    for pid, start, length in parameters(payload, 4, order):
        found.setdefault(pid, payload[start : start + length])
    return found


def locator_of(value: bytes) -> tuple[str, int] | None:
    """Address and port of a little-endian Locator_t for UDPv4 (9.3.2.3); None for anything else."""
    if len(value) != 24 or struct.unpack_from("<i", value)[0] != _UDPV4:
        return None
    return ".".join(map(str, value[20:24])), struct.unpack_from("<I", value, 4)[0]


def locator(address: str, port: int) -> bytes:
    """The same, made."""
    return struct.pack("<iI12x4B", _UDPV4, port, *map(int, address.split(".")))


# What an attacker makes up.


def _number(number: int) -> bytes:
    return struct.pack("<iI", number >> 32, number & 0xFFFFFFFF)


def _part(kind: int, flags: int, body: bytes) -> Submessage:
    return Submessage(kind, little=True, flags=flags | _LITTLE, body=body, complete=True)


def to(prefix: bytes) -> Submessage:
    """INFO_DST (9.4.5.10): who shall take what follows."""
    return _part(INFO_DST, 0, prefix)


def data(writer: bytes, number: int, payload: bytes, reader: bytes = ANY) -> Submessage:
    """DATA (9.4.5.4)."""
    return _part(DATA, _WITH_DATA, struct.pack("<HH", 0, _TO_QOS) + reader + writer + _number(number) + payload)


def fragments(writer: bytes, number: int, payload: bytes, size: int) -> list[Submessage]:
    """DATA_FRAGs of `size` bytes each (9.4.5.5), the last of what is left; each may travel in a datagram of its own."""
    return [
        _part(
            DATA_FRAG,
            0,
            struct.pack("<HH", 0, _TO_QOS + 12) + ANY + writer + _number(number)
            + struct.pack("<IHHI", 1 + at // size, 1, size, len(payload)) + payload[at : at + size],
        )
        for at in range(0, len(payload), size)
    ]  # fmt: skip


def gap(writer: bytes, first: int, beyond: int, reader: bytes) -> Submessage:
    """GAP (9.4.5.6): the numbers from `first` to before `beyond` will never come. Cyclone DDS wants a reader named."""
    return _part(GAP, 0, reader + writer + _number(first) + _number(beyond) + struct.pack("<I", 0))


def heartbeat(writer: bytes, first: int, last: int, count: int) -> Submessage:
    """HEARTBEAT (9.4.5.7): the writer holds the numbers from `first` to `last` and none before."""
    return _part(HEARTBEAT, _FINAL, ANY + writer + _number(first) + _number(last) + struct.pack("<i", count))


def disposal(reader: bytes, writer: bytes, number: int, pid: int, guid: bytes) -> Submessage:
    """DATA of discovery that says that `guid` is gone (9.6.3.9, StatusInfo_t); `pid` names its key."""
    qos = parameter(PID_KEY_HASH, guid) + parameter(PID_STATUS, _DISPOSED_AND_UNREGISTERED) + _SENTINEL
    key = _PL_CDR_LITTLE + parameter(pid, guid) + _SENTINEL
    head = struct.pack("<HH", 0, _TO_QOS) + reader + writer + _number(number)
    return _part(DATA, _INLINE_QOS | _WITH_KEY, head + qos + key)


def parameter(pid: int, value: bytes) -> bytes:
    """One parameter of a list (9.4.2.11)."""
    return struct.pack("<HH", pid, len(value)) + value


def renumbered(part: Submessage, number: int) -> Submessage:
    """DATA or DATA_FRAG with another sequence number."""
    order = "<iI" if part.little else ">iI"
    written = struct.pack(order, number >> 32, number & 0xFFFFFFFF)
    return replace(part, body=part.body[:12] + written + part.body[20:])


def for_any_reader(part: Submessage) -> Submessage:
    """DATA or DATA_FRAG that names no reader."""
    return replace(part, body=part.body[:4] + ANY + part.body[8:])


def unprotected(parts: Sequence[Submessage]) -> list[Submessage]:
    """What a signature leaves readable, without the signature."""
    return [part for part in parts if part.kind not in PROTECTING]


def loosened(message: Message) -> list[Message]:
    """What a receiver may take in the message's place that does not insist on all of its protection.

    Without the codes for single receivers; without the signature of the whole; without any signature. Only such as
    differ, and leave nothing encrypted without what tells its key.
    """
    kinds = [part.kind for part in message.parts]
    found = [tuple(map(_for_all_receivers, message.parts))]
    if (SRTPS_PREFIX, SEC_BODY) not in pairwise(kinds):
        found.append(tuple(part for part in message.parts if part.kind not in (SRTPS_PREFIX, SRTPS_POSTFIX)))
    if SEC_BODY not in kinds:
        found.append(tuple(unprotected(message.parts)))
    return [replace(message, parts=parts) for parts in dict.fromkeys(found) if parts != message.parts]


def _for_all_receivers(part: Submessage) -> Submessage:
    """A postfix with the code for everybody alone, and that there are 0 others (DDS Security 1.1, 9.5.2.3)."""
    ends = part.kind in (SEC_POSTFIX, SRTPS_POSTFIX) and len(part.body) > _COMMON_CODE + 4
    return replace(part, body=part.body[:_COMMON_CODE] + bytes(4)) if ends else part
