"""Spools: the messages of one stream as a file the node reads. Layout: docs/formats.md."""

import errno
import hashlib
import json
import os
import shutil
import struct
from array import array
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO

from comseclab.errors import LabError
from comseclab.workload.source import Message, Source
from comseclab.workload.types import Description

HEADER = struct.Struct("<8sIIQQQ24x")
ENTRY = struct.Struct("<qQII")
MAGIC = b"CSLSPOOL"
VERSION = 1
CODECS = ("cdr", "ros1")
RESERVE_BYTES = 64 << 20
"""Left free on the disk, for the records of the trials; free space is checked anew after as much was written."""

Progress = Callable[[str, float], None]
"""Called with what is being prepared and the share done, 0 to 1."""


@dataclass(frozen=True)
class Spool:
    """A written spool. `max_size` is by codec, in bytes; an opaque stream's size is the same in all."""

    path: Path
    sha256: str
    messages: int
    distinct: int
    """Different messages among them; they are sent in turn."""
    rate_hz: float
    max_size: dict[str, int]
    type: str
    types: Description
    origin: str


class Spools:
    """Spools in one folder, each written once: a spool present under the same key is used again."""

    def __init__(self, folder: Path, progress: Progress = lambda _what, _share: None) -> None:
        self.folder = folder
        self.progress = progress

    def prepare(self, source: Source, duration_s: float) -> Spool:
        """The spool of `duration_s` seconds of a source.

        Raises LabError when the source cannot be read or the disk is too full.
        """
        key = hashlib.sha256(f"{VERSION} {source.origin} {duration_s!r}".encode()).hexdigest()[:16]
        path, about = self.folder / f"{key}.spool", self.folder / f"{key}.json"
        try:
            known = Spool(**{**json.loads(about.read_text()), "path": path})
            if path.is_file():
                return known
        except (OSError, ValueError, TypeError):
            about.unlink(missing_ok=True)
        part = path.with_suffix(".part")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            spool = self._write(source, duration_s, part, path)
            os.replace(part, path)
            about_part = about.with_suffix(".json.part")
            about_part.write_text(json.dumps({**asdict(spool), "path": path.name}))
            os.replace(about_part, about)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise _disk_full(self.folder) from None
            raise LabError(f"cannot write {path}: {error.strerror}", "choose another folder with --out") from None
        finally:
            part.unlink(missing_ok=True)
        return spool

    def _write(self, source: Source, duration_s: float, part: Path, path: Path) -> Spool:
        kind = source.type
        with part.open("wb") as file:
            writer = _Writer(file, self.folder)
            max_size = dict.fromkeys(CODECS, 0)
            for message in source.messages(round(duration_s * 1e9)):
                if message.payload is not None:
                    sizes = kind.sizes(message.payload) if kind else dict.fromkeys(CODECS, len(message.payload))
                    max_size = {codec: max(size, sizes[codec]) for codec, size in max_size.items()}
                if writer.add(message):
                    self.progress(source.origin, min(1.0, writer.count / max(1, message.expected)))
            writer.finish()
        self.progress(source.origin, 1.0)
        with part.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        return Spool(
            path=path,
            sha256=digest,
            messages=writer.count,
            distinct=writer.distinct,
            rate_hz=writer.count / duration_s,
            max_size=max_size,
            type=kind.name if kind else "",
            types=kind.description if kind else {},
            origin=source.origin,
        )


class _Writer:
    """Writes payloads as they come, keeping the index (40 B a message) in memory until the end."""

    def __init__(self, file: BinaryIO, folder: Path) -> None:
        self.file = file
        self.folder = folder
        self.index = bytearray()
        self.places = array("Q")
        self.largest = 0
        self.room_until = 0
        file.write(bytes(HEADER.size))

    @property
    def count(self) -> int:
        return len(self.index) // ENTRY.size

    @property
    def distinct(self) -> int:
        return len(self.places) // 2

    def add(self, message: Message) -> bool:
        """Append a message; True about once in 8 MiB or 4096 messages, to report progress."""
        before = self.file.tell()
        if message.payload is not None:
            self._check_disk(before + len(message.payload))
            self.file.write(bytes(-before % 8))
            self.places.extend((self.file.tell(), len(message.payload)))
            self.largest = max(self.largest, len(message.payload))
            self.file.write(message.payload)
        place, size = self.places[2 * message.slot : 2 * message.slot + 2]
        self.index += ENTRY.pack(message.offset_ns, place, size, 0)
        return before >> 23 != self.file.tell() >> 23 or self.count % 4096 == 0

    def finish(self) -> None:
        """Write the index and the header."""
        self.file.write(bytes(-self.file.tell() % 8))
        index = self.file.tell()
        self.file.write(self.index)
        self.file.seek(0)
        self.file.write(HEADER.pack(MAGIC, VERSION, 0, self.count, index, self.largest))

    def _check_disk(self, end: int) -> None:
        if end > self.room_until:
            if shutil.disk_usage(self.folder).free < end - self.file.tell() + RESERVE_BYTES:
                raise _disk_full(self.folder)
            self.room_until = end + RESERVE_BYTES


def schedule(path: Path) -> list[int]:
    """When each message of a spool is to be sent, ns since the round's start."""
    with path.open("rb") as file:
        _, _, _, count, index, _ = HEADER.unpack(file.read(HEADER.size))
        file.seek(index)
        return [at_ns for at_ns, *_ in ENTRY.iter_unpack(file.read(count * ENTRY.size))]


def _disk_full(folder: Path) -> LabError:
    return LabError(
        f"the disk that holds {folder} is full", "free some space, shorten duration_s, or choose --out elsewhere"
    )
