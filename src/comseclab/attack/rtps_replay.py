"""RTPS messages sent again: as they were, renumbered, or to a participant that came later."""

import struct
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from comseclab.attack import rtps_wire as wire
from comseclab.attack.frame import Frame
from comseclab.attack.rtps_known import Known, message_in
from comseclab.attack.rtps_wire import Message
from comseclab.protection.rtps import Submessage

if TYPE_CHECKING:
    from comseclab.attack.scene import Scene

REPLAYED = 20
RESTART_NS = 600_000_000
"""What was recorded so long before a subscriber was back counts as sent before its restart."""
MOST_AWAITED_S = 0.5
SHORT = 68
"""Bytes of a SEC_BODY that holds INFO_DST and a HEARTBEAT, and of some more."""
SENT_BEFORE = 5


def hidden(messages: Iterable[Frame]) -> bool:
    """Whether all numbers of the stream are encrypted."""
    found = (message for frame in messages if (message := message_in(frame)))
    return not any(data.of_user for message in found for data in wire.data_of(message))


def again(scene: "Scene", known: Known, *, resequenced: bool) -> str:
    """Send the last messages again, renumbered to follow the last if `resequenced`; returns what was sent, in words.

    Numbers that are signed are altered all the same and the signature is left out, as a receiver may not insist on it.
    Those that are encrypted cannot be.
    """
    frames = scene.messages()[-REPLAYED:]
    numbers = _next_numbers(frames, known) if resequenced else {}
    for frame in frames:
        message = _of(frame)
        if resequenced:
            message = replace(message, parts=tuple(_renumbered(message, numbers)))
        scene.inject_on_path(frame.with_payload(message.raw()))
    return f"{len(frames)} frames sent again, {len(numbers)} messages renumbered"


def to_restarted(scene: "Scene", known: Known) -> str:
    """The same with the last messages of before a restart, addressed to the subscriber's new participant.

    Where numbers are encrypted, all that the writer sent is sent again from its first message on, to a reader that has
    heard nothing else so far (see `hold_back`): to it the numbers are new.
    """
    frames, until_ns = scene.messages(), (scene.restarted_ns or 0) - RESTART_NS
    numbers: dict[int, int] = {}
    if hidden(frames):
        frames = [frame for frame in list(scene.path.seen) if is_of_stream(frame, scene, frames, known)]
        frames = [frame for frame in frames if frame.at_ns < until_ns]
    else:
        frames = [frame for frame in frames if frame.at_ns < until_ns][-REPLAYED:]
        numbers = _next_numbers(frames, known)
    for frame in frames:
        message = _of(frame)
        message = replace(message, parts=tuple(_renumbered(message, numbers)))
        message = replace(message, parts=tuple(_retargeted(message.parts, known.reader.prefix)))
        scene.inject_on_path(_redirected(frame, known.reader.user[1]).with_payload(message.raw()))
    return f"{len(frames)} frames sent again to the new participant, {len(numbers)} messages renumbered"


def await_message(scene: "Scene") -> None:
    """Until the restarted subscriber has got a message: before it, Cyclone DDS takes none that is out of turn."""
    until = time.monotonic() + MOST_AWAITED_S
    while time.monotonic() < until and scene.messages()[-1].at_ns <= (scene.restarted_ns or 0):
        time.sleep(0.002)


def hold_back(scene: "Scene", known: Known) -> None:
    """From now on keep the stream from the subscriber until the attack ends.

    What may be a HEARTBEAT, which tells a new reader with which number to begin, comes to it only behind old messages.
    """
    messages = scene.messages()

    def rule(frame: Frame) -> list[tuple[float, Frame]]:
        if is_of_stream(frame, scene, messages, known):
            scene.targeted += scene.dialect.is_message(frame, scene)
            return []
        if _may_be_heartbeat(frame, scene):
            for old in messages[:SENT_BEFORE]:
                scene.inject_on_path(_redirected(old, frame.destination[1]).with_payload(old.payload))
        return [(0.0, frame)]

    scene.follow(rule)


def _may_be_heartbeat(frame: Frame, scene: "Scene") -> bool:
    if (frame.source[0], frame.destination[0]) != (scene.writer.address, scene.reader.address):
        return False
    message = message_in(frame)
    kinds = {part.kind: len(part.body) for part in message.parts} if message else {}
    return wire.SRTPS_PREFIX in kinds and 0 < kinds.get(wire.SEC_BODY, 0) <= SHORT


def is_of_stream(frame: Frame, scene: "Scene", messages: Sequence[Frame], known: Known) -> bool:
    """Whether a frame carries a message of the encrypted stream or a HEARTBEAT or GAP of its writer.

    These are known by the port, where it is another than discovery's, or by the key of each submessage. Where only
    whole RTPS messages are encrypted, HEARTBEATs are not known from others.
    """
    if (frame.source[0], frame.destination[0]) != (scene.writer.address, scene.reader.address):
        return False
    if scene.dialect.is_message(frame, scene):
        return True
    ports = {message.destination[1] for message in messages}
    if known.reader.user[1] != known.reader.metatraffic[1] and frame.destination[1] in ports:
        return True
    keys = {key for message in messages[-1:] for key in wire.keys_of(_of(message))}
    found = message_in(frame)
    return bool(found and keys & set(wire.keys_of(found)))


def _of(frame: Frame) -> Message:
    message = message_in(frame)
    assert message is not None, "or it were no message of the stream"
    return message


def _next_numbers(frames: Iterable[Frame], known: Known) -> dict[int, int]:
    """For each number in the frames one that follows the last, in the same order."""
    old = (data.number for frame in frames for data in wire.data_of(_of(frame)) if data.writer == known.entity)
    return {number: known.last + 1 + place for place, number in enumerate(dict.fromkeys(old))}


def _renumbered(message: Message, numbers: Mapping[int, int]) -> Iterator[Submessage]:
    """The message with other numbers and without signatures, which would betray it; as it was where all is hidden."""
    fresh = {
        id(data.part): numbers[data.number] for data in wire.data_of(message) if data.of_user and data.number in numbers
    }
    if not fresh:
        yield from message.parts
        return
    for part in wire.unprotected(message.parts):
        if part.kind != wire.HEARTBEAT:  # it would tell the true numbers
            yield wire.renumbered(part, fresh[id(part)]) if id(part) in fresh else part


def _retargeted(parts: Iterable[Submessage], prefix: bytes) -> Iterator[Submessage]:
    """Addressed to another participant, and to any reader there; what is signed stays."""
    signed = False
    for part in parts:
        signed = signed or part.kind in (wire.SRTPS_PREFIX, wire.SEC_PREFIX)
        if part.kind == wire.INFO_DST and not signed:
            yield replace(part, body=prefix)
        elif part.kind in (wire.DATA, wire.DATA_FRAG) and not signed:
            yield wire.for_any_reader(part)
        else:
            yield part
        signed = signed and part.kind not in (wire.SRTPS_POSTFIX, wire.SEC_POSTFIX)


def _redirected(frame: Frame, port: int) -> Frame:
    """The frame to another UDP port of its target."""
    header = 14 + 4 * (frame.raw[14] & 0x0F)
    raw = frame.raw[: header + 2] + struct.pack(">H", port) + frame.raw[header + 4 :]
    return replace(frame, raw=raw)
