"""What a capture shows of DDS: RTPS submessages (RTPS 2.5, clause 9.4) and their protection (DDS Security 1.1, 7.3.6).

A capture may hold only the beginning of a message (first IP fragment): headers stand there, ends may be missing.
Any bytes are taken; what is not RTPS is skipped.
"""

import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from comseclab.protection.levels import Kind
from comseclab.protection.wire import datagram

NAMES = {
    0x01: "PAD", 0x06: "ACKNACK", 0x07: "HEARTBEAT", 0x08: "GAP", 0x09: "INFO_TS", 0x0C: "INFO_SRC",
    0x0D: "INFO_REPLY_IP4", 0x0E: "INFO_DST", 0x0F: "INFO_REPLY", 0x12: "NACK_FRAG", 0x13: "HEARTBEAT_FRAG",
    0x15: "DATA", 0x16: "DATA_FRAG", 0x30: "SEC_BODY", 0x31: "SEC_PREFIX", 0x32: "SEC_POSTFIX",
    0x33: "SRTPS_PREFIX", 0x34: "SRTPS_POSTFIX",
}  # fmt: skip
_INFO_TS, _PAD, _DATA, _DATA_FRAG = 0x09, 0x01, 0x15, 0x16
_SEC_BODY, _SEC_PREFIX, _SEC_POSTFIX, _SRTPS_PREFIX, _SRTPS_POSTFIX = 0x30, 0x31, 0x32, 0x33, 0x34
_HEADER = 20
_CRYPTO_HEADER, _COMMON_MAC = 20, 16

PARTICIPANTS = bytes.fromhex("000100c2")
"""Writer of SPDP: who is there. Always in clear."""
HANDSHAKE = bytes.fromhex("000201c3")
"""Writer of ParticipantStatelessMessage: the authentication handshake. Always in clear."""
ENDPOINTS = (bytes.fromhex("000003c2"), bytes.fromhex("000004c2"))
"""Writers of SEDP: publications and subscriptions, with the names of their topics."""
SECURE_ENDPOINTS = (bytes.fromhex("ff0003c2"), bytes.fromhex("ff0004c2"))
_PID_SENTINEL, _PID_PARTICIPANT_SECURITY_INFO = 0x0001, 0x1005

# transformation_kind of a CryptoHeader: AES-GMAC and AES-GCM, with 128 and 256 bit keys.
_TRANSFORMATIONS = {1: Kind.SIGN, 2: Kind.ENCRYPT, 3: Kind.SIGN, 4: Kind.ENCRYPT}


@dataclass(frozen=True)
class Carried:
    """How one user message travelled: the protection of each layer, None where an outer layer hides it."""

    rtps: Kind
    metadata: Kind | None
    data: Kind | None

    def __str__(self) -> str:
        parts = {"rtps": self.rtps, "metadata": self.metadata, "payload": self.data}
        return ", ".join(f"{name} {'hidden' if kind is None else kind.value}" for name, kind in parts.items())


@dataclass
class Traffic:
    """What the frames of a capture held."""

    frames: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    """Submessages by name; of DATA and DATA_FRAG also `user ...`, `endpoints ...`, `handshake ...`."""
    sentinel_frames: int = 0
    carried: Counter[Carried] = field(default_factory=Counter)
    """User messages by how they travelled."""
    announced_topics: set[str] = field(default_factory=set)
    """User topics named by discovery messages of the writers without protection."""
    participants: set[tuple[Kind, Kind]] = field(default_factory=set)
    """Kinds (rtps, discovery) that participants announce; without security nothing is announced."""
    receiver_codes: int = 0
    """Submessages that end in codes for single receivers: origin authentication."""


@dataclass(frozen=True)
class Submessage:
    kind: int
    little: bool
    flags: int
    body: bytes
    complete: bool


def submessages(message: bytes) -> Iterator[Submessage]:
    """The submessages of an RTPS message; the last one may be incomplete."""
    if len(message) < _HEADER or message[:4] != b"RTPS":
        return
    position = _HEADER
    while position + 4 <= len(message):
        kind, flags = message[position], message[position + 1]
        little = bool(flags & 1)
        length = struct.unpack_from("<H" if little else ">H", message, position + 2)[0]
        position += 4
        if length == 0 and kind not in (_PAD, _INFO_TS):  # reaches to the end of the message
            length = len(message) - position
        yield Submessage(kind, little, flags, message[position : position + length], position + length <= len(message))
        position += length


class Scanner:
    """Counts what frames show. `least_size`: bytes of the smallest user message, to tell it where it is encrypted."""

    def __init__(self, topics: Iterable[str], sentinels: Sequence[bytes], least_size: int) -> None:
        self.traffic = Traffic()
        self._topics = {topic.encode() + b"\0": topic for topic in topics}
        self._sentinels = sentinels
        # Beyond 1000 B hardly any discovery message is as large; below it messages are few or small beside ours.
        self._least_size = min(least_size, 1000)

    def frame(self, frame: bytes) -> None:
        self.traffic.frames += 1
        if any(sentinel in frame for sentinel in self._sentinels):
            self.traffic.sentinel_frames += 1
        found = datagram(frame)
        if found is not None:
            self._message(found.payload)

    def _message(self, message: bytes) -> None:
        rtps = metadata = Kind.NONE
        builtin = False
        for submessage in submessages(message):
            self.traffic.kinds[NAMES.get(submessage.kind, f"other 0x{submessage.kind:02x}")] += 1
            if submessage.kind == _SRTPS_PREFIX:
                rtps = _transformation(submessage.body)
            elif submessage.kind == _SEC_PREFIX:
                metadata = _transformation(submessage.body)
                # Key 0 is that of the key exchange (ParticipantVolatileMessageSecure), encrypted under any governance.
                builtin = submessage.body[4:8] == bytes(4)
            elif submessage.kind == _SEC_BODY and not builtin:
                self._hidden(submessage, rtps, metadata)
            elif submessage.kind in (_DATA, _DATA_FRAG):
                self._data(submessage, rtps, metadata)
            elif submessage.kind in (_SEC_POSTFIX, _SRTPS_POSTFIX):
                self.traffic.receiver_codes += _has_receiver_codes(submessage.body)
                metadata = Kind.NONE

    def _hidden(self, submessage: Submessage, rtps: Kind, metadata: Kind) -> None:
        size = struct.unpack_from(">I", submessage.body)[0] if len(submessage.body) >= 4 else 0
        if size < self._least_size:
            return
        inside_rtps = rtps is Kind.ENCRYPT and metadata is Kind.NONE
        self.traffic.carried[Carried(rtps, None if inside_rtps else metadata, None)] += 1

    def _data(self, submessage: Submessage, rtps: Kind, metadata: Kind) -> None:
        name, writer = NAMES[submessage.kind], submessage.body[8:12]
        if len(writer) < 4:
            return
        if writer[3] & 0xC0 == 0:  # the entity kind's upper bits: user defined
            self.traffic.kinds[f"user {name}"] += 1
            self._user_data(submessage, rtps, metadata)
        elif writer == HANDSHAKE:
            self.traffic.kinds[f"handshake {name}"] += 1
        elif writer == PARTICIPANTS:
            self.traffic.participants |= _announced_kinds(submessage)
        elif writer in ENDPOINTS:
            self.traffic.kinds[f"endpoints {name}"] += 1
            named = {topic for text, topic in self._topics.items() if text in submessage.body}
            self.traffic.announced_topics |= named
        elif writer in SECURE_ENDPOINTS:
            self.traffic.kinds[f"secure endpoints {name}"] += 1

    def _user_data(self, submessage: Submessage, rtps: Kind, metadata: Kind) -> None:
        payload = serialised_payload(submessage)
        if payload is None or len(payload) < 4:
            return
        # A protected payload begins with a CryptoHeader, a plain one with its encapsulation header (CDR: 00 01 ..).
        data = _TRANSFORMATIONS.get(struct.unpack_from(">I", payload)[0], Kind.NONE)
        self.traffic.carried[Carried(rtps, metadata, data)] += 1


def _transformation(prefix: bytes) -> Kind:
    if len(prefix) < 4:
        return Kind.NONE
    return _TRANSFORMATIONS.get(struct.unpack_from(">I", prefix)[0], Kind.NONE)


def _has_receiver_codes(postfix: bytes) -> bool:
    if len(postfix) < _COMMON_MAC + 4:
        return False
    return bool(struct.unpack_from(">I", postfix, _COMMON_MAC)[0] > 0)


def serialised_payload(submessage: Submessage) -> bytes | None:
    """The serialised payload of DATA or of a first DATA_FRAG; None where there is none or it begins elsewhere."""
    order, body = "<" if submessage.little else ">", submessage.body
    fixed = 20 if submessage.kind == _DATA else 32
    if len(body) < fixed:
        return None
    if submessage.kind == _DATA and not submessage.flags & 0x0C:  # neither data nor key
        return None
    if submessage.kind == _DATA_FRAG and struct.unpack_from(f"{order}I", body, 20)[0] != 1:
        return None
    start = 4 + struct.unpack_from(f"{order}H", body, 2)[0]
    if submessage.kind == _DATA_FRAG:
        start = max(start, fixed)
    if submessage.flags & 0x02:
        for _pid, value_start, length in parameters(body, start, order):
            start = value_start + length
    return body[start:]


def parameters(body: bytes, position: int, order: str) -> Iterator[tuple[int, int, int]]:
    """Parameters of a list as (id, offset of the value, its length); the list's end stands as the last."""
    while position + 4 <= len(body):
        pid, length = struct.unpack_from(f"{order}HH", body, position)
        position += 4
        if pid == _PID_SENTINEL:
            yield pid, position, 0
            return
        yield pid, position, length
        position += length


def _announced_kinds(submessage: Submessage) -> set[tuple[Kind, Kind]]:
    payload = serialised_payload(submessage)
    if payload is None or len(payload) < 4:
        return set()
    order = "<" if payload[1] & 1 else ">"
    for pid, start, length in parameters(payload, 4, order):
        if pid == _PID_PARTICIPANT_SECURITY_INFO and length >= 8 and start + 8 <= len(payload):
            protected, how = struct.unpack_from(f"{order}II", payload, start)
            return {(_announced(protected, how, 0), _announced(protected, how, 1))}
    return set()


def _announced(protected: int, how: int, layer: int) -> Kind:
    """ParticipantSecurityAttributes (DDS Security 1.1, 9.4.2.4): bits 0-2 protected; encrypted; then origin, +3."""
    if not protected >> layer & 1:
        return Kind.NONE
    if not how >> layer & 1:
        return Kind.SIGN
    return Kind.ENCRYPT_ORIGIN if how >> (layer + 3) & 1 else Kind.ENCRYPT
