"""Recordings: MCAP, rosbag2 (.db3, or the folder with its metadata.yaml) and ROS 1 .bag, read by `rosbags`."""

import hashlib
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import ceil
from pathlib import Path

from rosbags.interfaces import Connection
from rosbags.rosbag2 import Reader

from comseclab.errors import LabError
from comseclab.workload.bag1 import ChunkwiseReader
from comseclab.workload.source import Message, most_messages
from comseclab.workload.types import MessageType, recorded_type

SECOND_NS = 1_000_000_000
SUFFIXES = (".mcap", ".db3", ".bag")


@dataclass(frozen=True)
class Recording:
    """A recording as it stands on the disk; `state` (files, sizes, times of change) keys what is remembered of it."""

    path: Path
    state: tuple[tuple[str, int, int], ...]

    @classmethod
    def of(cls, path: Path) -> "Recording":
        """The recording at `path`. Raises LabError when there is none, or of no known format."""
        if not path.exists():
            raise LabError(f"no recording {path}", "give an .mcap, .db3 or .bag file, or a rosbag2 folder")
        if not path.is_dir() and path.suffix not in SUFFIXES:
            raise LabError(
                f"recording {path.name} is of no known format", f"known: {', '.join(SUFFIXES)}, rosbag2 folder"
            )
        if path.is_dir() and not (path / "metadata.yaml").is_file():
            raise LabError(f"folder {path} has no metadata.yaml", "name the .mcap or .db3 file in it")
        return _remembered(path, tuple(_state(file) for file in _files(path)))

    @property
    def connections(self) -> dict[str, list[Connection]]:
        """By topic, of topics that have messages. Raises LabError when there are none."""
        return self._content[0]

    @cached_property
    def _content(self) -> tuple[dict[str, list[Connection]], int]:
        found: dict[str, list[Connection]] = {}
        with self._reader() as reader:
            duration_ns = reader.duration
            for connection in reader.connections:
                if connection.msgcount > 0:
                    found.setdefault(connection.topic, []).append(connection)
        if not found:
            raise LabError(f"recording {self.path.name} holds no messages", "choose another")
        return found, duration_ns

    @cached_property
    def sha256(self) -> str:
        """Of the file; of a folder, over its files in order of name."""
        digest = hashlib.sha256()
        for file in _files(self.path):
            with file.open("rb") as content:
                while block := content.read(1 << 20):
                    digest.update(block)
        return digest.hexdigest()

    def type(self, topic: str) -> MessageType:
        """The type of a topic's messages. Raises LabError when the topic is not there or its type is unknown."""
        first, *others = self._on(topic)
        if any(other.msgtype != first.msgtype for other in others):
            raise LabError(f"recording {self.path.name} has several types on {topic}", "choose another topic")
        with self._explained():
            return recorded_type(first.msgtype, first.msgdef)

    def messages(self, topic: str, begin_ns: int | None = None) -> Iterator[tuple[int, bytes]]:
        """Times of recording, ns, and messages in CDR, in order of time, from `begin_ns` on.

        Raises LabError at a damaged place.
        """
        kind = self.type(topic)
        with self._reader() as reader:
            connections = [one for one in reader.connections if one.topic == topic]
            for _, time_ns, raw in reader.messages(connections, start=begin_ns):
                yield time_ns, kind.normalise(raw, ros1=isinstance(reader, ChunkwiseReader))

    def all_begun_ns(self, topics: Sequence[str]) -> int:
        """The time by which each of the topics has had its first message. Raises LabError."""
        return max(next(self.messages(topic), (0, b""))[0] for topic in topics)

    def expected(self, topic: str, duration_ns: int) -> int:
        """About how many messages a topic has in `duration_ns` of its time. Raises LabError when it has none."""
        count = sum(connection.msgcount for connection in self._on(topic))
        return ceil(count * min(1.0, duration_ns / max(1, self._content[1])))

    def _on(self, topic: str) -> list[Connection]:
        if topic not in self.connections:
            listed = ", ".join(sorted(self.connections))
            raise LabError(f"recording {self.path.name} has no messages on {topic}", f"it has {listed}")
        return self.connections[topic]

    @contextmanager
    def _reader(self) -> Iterator[ChunkwiseReader | Reader]:
        with (
            self._explained(),
            ChunkwiseReader(self.path) if self.path.suffix == ".bag" else Reader(self.path) as reader,
        ):
            yield reader

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """What rosbags finds wrong, in whatever way, becomes a LabError: the file is damaged."""
        try:
            yield
        except LabError:
            raise
        except PermissionError:
            raise LabError(f"no right to read recording {self.path}", "ask its owner") from None
        except Exception as error:
            reason = str(error).partition("\n")[0] or type(error).__name__
            raise LabError(
                f"recording {self.path.name} cannot be read: {reason}",
                "it may be cut off or damaged; `ros2 bag reindex`, `mcap recover` or `rosbag reindex` can repair one",
            ) from None


@dataclass(frozen=True)
class Recorded:
    """A topic of a recording at its own times, or at `rate_hz`.

    Time 0 is `begin_ns` of the recording, where several topics are to keep step, else the first message's. A recording
    shorter than the round is played again from there, one mean gap after its last message.
    """

    path: Path
    topic: str
    rate_hz: float | None = None
    begin_ns: int | None = None

    @property
    def recording(self) -> Recording:
        return Recording.of(self.path)

    @property
    def type(self) -> MessageType:
        return self.recording.type(self.topic)

    @property
    def origin(self) -> str:
        rate = f" at {self.rate_hz:g} Hz" if self.rate_hz else ""
        begin = f" from {self.begin_ns} ns on" if self.begin_ns is not None else ""
        return f"{self.path.name} (SHA-256 {self.recording.sha256}) {self.topic}{rate}{begin}"

    def messages(self, duration_ns: int) -> Iterator[Message]:
        expected = self.recording.expected(self.topic, duration_ns)
        offsets = array("q")
        begin_ns = self.begin_ns
        for slot, (time_ns, payload) in enumerate(self.recording.messages(self.topic, begin_ns)):
            begin_ns = time_ns if begin_ns is None else begin_ns
            offset = round(slot * SECOND_NS / self.rate_hz) if self.rate_hz else time_ns - begin_ns
            offset = max(offset, *offsets[-1:], 0)
            if offset >= duration_ns:
                return
            offsets.append(offset)
            yield Message(offset, slot, payload, expected)
        period = self._period_ns(offsets)
        expected = most_messages(ceil(len(offsets) * duration_ns / period), self.origin)
        for place in range(len(offsets), expected + 1):
            passed, slot = divmod(place, len(offsets))
            offset = round(passed * period) + offsets[slot]
            if offset < duration_ns:
                yield Message(offset, slot, None, expected)

    def _period_ns(self, offsets: Sequence[int]) -> float:
        """From one pass's beginning to the next's: its length and one mean gap."""
        if self.rate_hz:
            return len(offsets) * SECOND_NS / self.rate_hz
        if not offsets or offsets[-1] == offsets[0]:
            raise LabError(
                f"recording {self.path.name} has too few messages on {self.topic} to know their rate: {len(offsets)}",
                "give the stream a rate_hz",
            )
        return (offsets[-1] - offsets[0]) * len(offsets) / (len(offsets) - 1)


def _files(path: Path) -> list[Path]:
    return sorted(file for file in path.iterdir() if file.is_file()) if path.is_dir() else [path]


def _state(file: Path) -> tuple[str, int, int]:
    found = file.stat()
    return file.name, found.st_size, found.st_mtime_ns


@lru_cache(maxsize=64)
def _remembered(path: Path, state: tuple[tuple[str, int, int], ...]) -> Recording:
    return Recording(path, state)
