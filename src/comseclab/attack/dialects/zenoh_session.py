"""Zenoh's session protocol in clear, version 9, as far as an adversary speaks it over TCP.

Zenoh's own description of its messages: crate `zenoh-protocol` 1.10, modules `transport::init`, `open`, `close` and
`frame`, `network::push` and `zenoh::put`. Over TCP every batch of messages stands behind its length, two bytes, little-
endian. Numbers are in LEB128, and so are lengths before bytes.
"""

import secrets
import socket
import struct
from collections.abc import Callable, Iterator

from comseclab.attack.tcp import exactly

INIT, OPEN, CLOSE, FRAME, PUSH, PUT = 1, 2, 3, 5, 0x1D, 1
KIND, ACKNOWLEDGES, SIZES, EXTENDED = 0x1F, 0x20, 0x40, 0x80
"""Of a message's first byte: its kind, and flags."""
_RELIABLE, _WRITTEN_OUT = 0x20, 0x20
"""Of a FRAME: on the reliable channel. Of a PUSH: the key is written out, behind the number of a prefix, 0 for none."""
_NAMED_BY_SENDER = 0x60
"""Of a PUSH: the key is written out, or its number is one that the sender gave it."""
_KEY_DECLARED = b"\x20"
_VERSION, _PEER = 9, 1
_RESOLUTION, _BATCH_BYTES = 0b1010, 0xFFFF
"""Sequence numbers and identifiers of 32 bits, Zenoh's default."""
_WITH_PRIORITIES = b"\x01"
"""The extension of INIT by which both sides want a channel for each priority, as Zenoh's nodes do by default."""
_LEASE_MS = 10_000
SESSION_CLOSED = bytes((CLOSE | 0x20, 0))
"""CLOSE of the whole session, for no particular reason."""


def batch(content: bytes) -> bytes:
    return struct.pack("<H", len(content)) + content


def batches(stream: bytes) -> Iterator[bytes]:
    """The whole batches at the beginning of what a side sent."""
    while len(stream) >= 2 and len(stream) >= 2 + (length := struct.unpack_from("<H", stream)[0]):
        yield stream[2 : 2 + length]
        stream = stream[2 + length :]


def number(value: int) -> bytes:
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*written, value))


def take_number(data: bytes) -> tuple[int, bytes]:
    """A number of at most 64 bits and what follows it. Raises ValueError when the data ends too early."""
    value = 0
    for place, byte in enumerate(data[:9]):
        value |= (byte & 0x7F) << 7 * place
        if not byte & 0x80 or place == 8:
            return value, data[place + 1 :]
    raise ValueError("ends within a number")


def first_number(opened: bytes) -> int:
    """The sequence number that a side begins with, from its OPEN. Raises ValueError for another message."""
    if not opened or opened[0] & KIND != OPEN:
        raise ValueError("no OPEN of Zenoh")
    _lease, rest = take_number(opened[1:])
    return take_number(rest)[0]


def payload_at(message: bytes) -> int | None:
    """Where the payload begins in a batch that holds one message last: behind its length. None where nothing fits."""
    for place in range(min(64, len(message))):
        try:
            length, rest = take_number(message[place:])
        except ValueError:
            continue
        if length == len(rest) > 0:
            return len(message) - length
    return None


def put(sequence: int, key: str, payload: bytes) -> bytes:
    """A batch with one frame that puts a payload under a key, for a node that was told no number of the key."""
    push = bytes((PUSH | _WRITTEN_OUT, 0)) + number(len(key)) + key.encode()
    frame = bytes((FRAME | _RELIABLE,)) + number(sequence)
    return batch(frame + push + bytes((PUT,)) + number(len(payload)) + payload)


def renamed(message: bytes, key_number: int) -> bytes:
    """A batch with one frame whose first message is for a key by the receiver's number of it, under another number.

    Any other batch comes back as it is. Raises ValueError when it ends too early.
    """
    if len(message) < 2 or message[0] & (KIND | EXTENDED) != FRAME:
        return message
    push = take_number(message[1:])[1]
    if not push or push[0] & (KIND | _NAMED_BY_SENDER) != PUSH:
        return message
    return message[: len(message) - len(push) + 1] + number(key_number) + take_number(push[1:])[1]


def number_of_key(connection: socket.socket, key: str) -> int:
    """Wait for the other side to say by what number it calls a key in this session.

    Raises ValueError for a batch that ends too early, OSError when nothing of the kind comes in time.
    """
    named = b"\0" + number(len(key)) + key.encode()
    while True:
        declared = _receive(connection)
        place = declared.find(named)
        begin = declared.rfind(_KEY_DECLARED, max(0, place - 4), max(0, place))
        if begin >= 0:
            return take_number(declared[begin + 1 :])[0]


def open_session(connection: socket.socket, say: Callable[[bytes], None], first: int) -> None:
    """Open a session as a peer that nobody knows yet, whose first frame has the number `first`.

    Raises ValueError for answers that are none of Zenoh, OSError when the connection ends.
    """
    zid = secrets.token_bytes(16)
    who = bytes((_VERSION, len(zid) - 1 << 4 | _PEER)) + zid + struct.pack("<BH", _RESOLUTION, _BATCH_BYTES)
    say(batch(bytes((INIT | SIZES | EXTENDED,)) + who + _WITH_PRIORITIES))
    cookie = _cookie(_receive(connection))
    say(batch(bytes((OPEN,)) + number(_LEASE_MS) + number(first) + number(len(cookie)) + cookie))
    first_number(_receive(connection))


def _cookie(answer: bytes) -> bytes:
    if len(answer) < 3 or answer[0] & (KIND | ACKNOWLEDGES) != INIT | ACKNOWLEDGES:
        raise ValueError("no INIT of Zenoh in answer")
    zid_bytes = (answer[2] >> 4) + 1
    length, rest = take_number(answer[3 + zid_bytes + (3 if answer[0] & SIZES else 0) :])
    return rest[:length]


def _receive(connection: socket.socket) -> bytes:
    return exactly(connection, struct.unpack("<H", exactly(connection, 2))[0])
