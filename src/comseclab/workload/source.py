"""What a stream sends: the seam between recordings or synthetic sensors and spools."""

from collections.abc import Iterator
from typing import NamedTuple, Protocol

from comseclab.errors import LabError
from comseclab.workload.types import MessageType

MOST_MESSAGES = 10_000_000


class Message(NamedTuple):
    """One message to send. New payloads come in slots 0, 1, ...; a `payload` of None repeats its slot's."""

    offset_ns: int
    slot: int
    payload: bytes | None
    expected: int
    """About how many messages the round will have."""


class Source(Protocol):
    """Where a stream's messages come from. Sources that are equal give the same messages."""

    @property
    def type(self) -> MessageType | None:
        """None: opaque bytes. Raises LabError when a recording cannot be read or lacks the topic."""

    @property
    def origin(self) -> str:
        """One line for the results that identifies the messages, with a recording's SHA-256."""

    def messages(self, duration_ns: int) -> Iterator[Message]:
        """The messages of a round by intended time, the first at 0. Raises LabError."""


def most_messages(count: int, origin: str) -> int:
    """`count`, unless a round would have more than the node can hold."""
    if count > MOST_MESSAGES:
        raise LabError(f"{origin}: a round would have {count} messages", f"at most {MOST_MESSAGES}; shorten duration_s")
    return count
