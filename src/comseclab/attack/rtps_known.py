"""What somebody on the path learns of the DDS participants that talk there."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from comseclab.attack import rtps_wire as wire
from comseclab.attack.frame import UDP, Frame
from comseclab.attack.rtps_wire import Data, Message
from comseclab.protection.rtps import ENDPOINTS, PARTICIPANTS

if TYPE_CHECKING:
    from comseclab.attack.scene import Scene

USUAL_WRITER, USUAL_READER = bytes.fromhex("00000103"), bytes.fromhex("00000104")
"""The entity ids that both stacks give to the first writer or reader of a participant; any node of theirs shows it."""
MANY = 10_000
"""More than a trial's messages or heartbeats."""


@dataclass(frozen=True)
class Participant:
    """What a participant says of itself by SPDP, which no protection encrypts."""

    header: bytes
    """How its messages begin."""
    number: int
    """Sequence number of its announcement."""
    announcement: bytes
    """The serialised payload of it."""
    metatraffic: tuple[str, int]
    """Where it takes discovery."""
    user: tuple[str, int]
    """Where it takes messages."""

    @property
    def prefix(self) -> bytes:
        return self.header[-wire.PREFIX_BYTES :]


@dataclass(frozen=True)
class Known:
    """The attacked stream, as far as the path shows it."""

    writer: Participant
    reader: Participant
    entity: bytes
    """The writer's entity id, learned or guessed."""
    reader_entity: bytes
    last: int
    """Sequence number of its last message, read or counted."""
    beats: int
    """The last count in its HEARTBEATs."""
    told: int
    """The next sequence number of its participant's writer of SEDP, which tells of writers."""
    payload: bytes | None
    """A message in clear; None where none was seen."""


@lru_cache(maxsize=4096)
def message_in(frame: Frame) -> Message | None:
    """The RTPS message a frame carries, if it does."""
    return wire.parse(frame.payload) if frame.protocol == UDP else None


def data_in(frames: Iterable[Frame]) -> Iterator[Data]:
    """All DATA and DATA_FRAG with headers in clear."""
    for frame in frames:
        if message := message_in(frame):
            yield from wire.data_of(message)


def participant(frames: Iterable[Frame], address: str) -> Participant | None:
    """The participant that announced itself last from an address; None where none did."""
    found = None
    for frame in frames:
        message = message_in(frame) if frame.source[0] == address else None
        for data in wire.data_of(message) if message else ():
            if data.writer == PARTICIPANTS and (announced := _announced(message, data)):
                found = announced
    return found


def _announced(message: Message | None, data: Data) -> Participant | None:
    said = wire.listed(data.payload)
    metatraffic = wire.locator_of(said.get(wire.PID_METATRAFFIC_UNICAST, b""))
    user = wire.locator_of(said.get(wire.PID_DEFAULT_UNICAST, b""))
    if message is None or metatraffic is None or user is None:
        return None
    return Participant(message.header, data.number, data.payload, metatraffic, user)


def learn(scene: "Scene") -> Known | None:
    """What is known by now; None where a participant of the stream has not announced itself."""
    frames = list(scene.path.seen)
    writer_at, reader_at = scene.writer.address, scene.reader.address
    writer, reader = participant(frames, writer_at), participant(frames, reader_at)
    if writer is None or reader is None:
        return None
    sent = [frame for frame in frames if frame.source[0] == writer_at]
    messages = [data for data in data_in(sent) if data.of_user]
    entity = messages[-1].writer if messages else _told(sent, scene.spec.trial.streams[0].topic) or USUAL_WRITER
    counts = [
        count for frame in sent if (m := message_in(frame)) for who, count in wire.heartbeats_of(m) if who == entity
    ]
    numbers = [data.number for data in messages if data.writer == entity]
    marks = scene.spec.trial.nonce.encode(), bytes.fromhex(scene.spec.trial.nonce)
    clear = [data.payload for data in messages if any(mark in data.payload for mark in marks)]
    answers = [message for frame in frames if frame.source[0] == reader_at and (message := message_in(frame))]
    readers = [who for message in answers for who, to in wire.acknowledged(message) if to == entity]
    endpoints = [data.number for data in data_in(sent) if data.writer == ENDPOINTS[0]]
    return Known(
        writer, reader, entity,
        reader_entity=readers[-1] if readers else USUAL_READER,
        told=max(endpoints, default=0) + 1,
        last=max(numbers) if numbers else len({frame.raw for frame in scene.messages()}),
        beats=max(counts, default=MANY),
        payload=clear[-1] if clear and messages[-1].part.kind == wire.DATA else None,
    )  # fmt: skip


def _told(frames: Iterable[Frame], topic: str) -> bytes | None:
    """The entity id of the topic's writer as discovery tells it, where that is in clear."""
    name = topic.removeprefix("/").encode()
    for data in data_in(frames):
        said = wire.listed(data.payload) if data.writer == ENDPOINTS[0] else {}
        if name in said.get(wire.PID_TOPIC, b"") and len(said.get(wire.PID_ENDPOINT_GUID, b"")) == 16:
            return said[wire.PID_ENDPOINT_GUID][-4:]
    return None
