"""The Ice protocol 1.0 with encoding 1.1, as far as an adversary speaks it: requests made by hand, replies read.

ZeroC, "The Ice Protocol" and "The Ice Encoding" (manual of Ice 3.7): "Protocol Messages", "Basic Encoding",
"Encoding for Proxies". Numbers are little-endian.
"""

import struct
from dataclasses import dataclass

HEADER = b"IceP\x01\x00\x01\x00"
"""Magic, version of the protocol, version of the encoding of headers."""
HEADER_BYTES = 14
KIND_AT = len(HEADER)
"""Where a message says what it is."""
REQUEST, REPLY, VALIDATE, CLOSE = 0, 2, 3, 4
TCP, UDP = 1, 3
"""Kinds of endpoints."""
TWOWAY, DATAGRAM = 0, 3
"""How a proxy is called."""
ENCAPSULATION_BYTES = 6
"""Its size, of which it is part itself, and version."""
_ENCODING = b"\x01\x01"
_NORMAL, _IDEMPOTENT = 0, 2
_STATUS = ("ok", "user exception", "no such object", "no such facet", "no such operation")
NO_CONTEXT = b"\0"


@dataclass(frozen=True)
class Identity:
    """The name of an object."""

    name: str
    category: str

    def __str__(self) -> str:
        return f"{self.category}/{self.name}"

    @property
    def encoded(self) -> bytes:
        return string(self.name) + string(self.category)


@dataclass(frozen=True)
class Reply:
    """`status`: "ok", or why not. `results`: what the operation returned, or its exception, without encapsulation."""

    status: str
    results: bytes


def message(kind: int, body: bytes = b"") -> bytes:
    """A whole protocol message, not compressed."""
    return HEADER + struct.pack("<BBi", kind, 0, HEADER_BYTES + len(body)) + body


def request(
    number: int, target: Identity, operation: str, parameters: bytes = b"", *, idempotent: bool = False
) -> bytes:
    """A call. `number`: of the reply; 0 for a oneway call, which has none."""
    mode = bytes([_IDEMPOTENT if idempotent else _NORMAL])
    call = target.encoded + size(0) + string(operation) + mode + NO_CONTEXT
    return message(REQUEST, struct.pack("<i", number) + call + encapsulation(parameters))


def renumbered(call: bytes, number: bytes) -> bytes:
    """The same call under another number, four bytes as they stand in a message."""
    return call[:HEADER_BYTES] + number + call[HEADER_BYTES + 4 :]


def number_of(call: bytes) -> bytes:
    return call[HEADER_BYTES : HEADER_BYTES + 4]


def target_of(call: bytes) -> Identity:
    """Whom a request calls. Raises ValueError for bytes that are no request."""
    if not call.startswith(HEADER + bytes([REQUEST])):
        raise ValueError("no request of Ice")
    return take_identity(call[HEADER_BYTES + 4 :])[0]


def reply(received: bytes) -> Reply:
    """Read a reply. Raises ValueError for bytes that are none."""
    if not received.startswith(HEADER + bytes([REPLY])) or len(received) < HEADER_BYTES + 5:
        raise ValueError("no reply of Ice")
    status = received[HEADER_BYTES + 4]
    text = _STATUS[status] if status < len(_STATUS) else f"exception {status}"
    return Reply(text, received[HEADER_BYTES + 5 + ENCAPSULATION_BYTES :] if status <= 1 else b"")


def proxy(target: Identity, kind: int, address: str, port: int) -> bytes:
    """A proxy of an object at one endpoint, to be called twoway, or by datagrams where the endpoint is UDP."""
    place = string(address) + struct.pack("<i", port)
    if kind != UDP:
        place += struct.pack("<i", 60_000)  # time-out, ms
    endpoint = struct.pack("<h", kind) + encapsulation(place + b"\0")
    mode = DATAGRAM if kind == UDP else TWOWAY
    return target.encoded + size(0) + bytes([mode, 0, 1, 0]) + _ENCODING + size(1) + endpoint


def encapsulation(content: bytes) -> bytes:
    return struct.pack("<i", ENCAPSULATION_BYTES + len(content)) + _ENCODING + content


def take_encapsulation(data: bytes) -> tuple[bytes, bytes]:
    """What an encapsulation holds, and what follows it. Raises ValueError when the data ends too early."""
    length = struct.unpack_from("<i", data)[0] if len(data) >= ENCAPSULATION_BYTES else 0
    if not ENCAPSULATION_BYTES <= length <= len(data):
        raise ValueError("ends within an encapsulation")
    return data[ENCAPSULATION_BYTES:length], data[length:]


def string(text: str) -> bytes:
    return size(len(text.encode())) + text.encode()


def size(number: int) -> bytes:
    return bytes([number]) if number < 255 else b"\xff" + struct.pack("<i", number)


def take_size(data: bytes) -> tuple[int, bytes]:
    """A size, and what follows it. Raises ValueError when the data ends too early."""
    if not data or (data[0] == 255 and len(data) < 5):
        raise ValueError("ends within a size")
    return (data[0], data[1:]) if data[0] < 255 else (struct.unpack_from("<i", data, 1)[0], data[5:])


def take_string(data: bytes) -> tuple[str, bytes]:
    """A string, and what follows it. Raises ValueError when the data ends too early."""
    length, rest = take_size(data)
    if not 0 <= length <= len(rest):
        raise ValueError("ends within a string")
    return rest[:length].decode(errors="replace"), rest[length:]


def take_identity(data: bytes) -> tuple[Identity, bytes]:
    """An identity, with which a proxy begins too, and what follows. Raises ValueError when the data ends too early."""
    name, rest = take_string(data)
    category, rest = take_string(rest)
    return Identity(name, category), rest


def take_identities(data: bytes) -> list[Identity]:
    """A sequence of identities. Raises ValueError when the data ends too early."""
    count, rest = take_size(data)
    found = []
    for _ in range(count):
        identity, rest = take_identity(rest)
        found.append(identity)
    return found
