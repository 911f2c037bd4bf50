"""Spools: the messages of one stream as a file the node reads. Layout: docs/formats.md."""

import errno
import hashlib
import json
import os
import shutil
import struct
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from comseclab.errors import LabError
from comseclab.workload.source import Source
from comseclab.workload.types import Description

HEADER = struct.Struct("<8sIIQQQ24x")
ENTRY = struct.Struct("<qQII")
MAGIC = b"CSLSPOOL"
VERSION = 1
RESERVE_BYTES = 64 << 20
"""Left free on the disk, for the records of the trials."""

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
        entries, slots, largest = bytearray(), dict[int, tuple[int, int]](), 0
        max_size = {"cdr": 0, "ros1": 0}
        with part.open("wb") as file:
            file.write(bytes(HEADER.size))
            for message in source.messages(round(duration_s * 1e9)):
                if message.payload is not None:
                    if file.tell() >> 26 != (file.tell() + len(message.payload)) >> 26 or not slots:
                        self._check_disk(len(message.payload))
                    sizes = kind.sizes(message.payload) if kind else dict.fromkeys(max_size, len(message.payload))
                    max_size = {codec: max(size, sizes[codec]) for codec, size in max_size.items()}
                    largest = max(largest, len(message.payload))
                    file.write(bytes(-file.tell() % 8))
                    slots[message.slot] = file.tell(), len(message.payload)
                    file.write(message.payload)
                entries += ENTRY.pack(message.offset_ns, *slots[message.slot], 0)
                if len(entries) // ENTRY.size % 64 == 0:
                    self.progress(source.origin, min(1.0, len(entries) / ENTRY.size / max(1, message.expected)))
            file.write(bytes(-file.tell() % 8))
            index = file.tell()
            file.write(entries)
            count = len(entries) // ENTRY.size
            file.seek(0)
            file.write(HEADER.pack(MAGIC, VERSION, 0, count, index, largest))
        self.progress(source.origin, 1.0)
        with part.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        types = kind.description if kind else {}
        name = kind.name if kind else ""
        return Spool(path, digest, count, len(slots), count / duration_s, max_size, name, types, source.origin)

    def _check_disk(self, size: int) -> None:
        if shutil.disk_usage(self.folder).free < size + RESERVE_BYTES:
            raise _disk_full(self.folder)


def _disk_full(folder: Path) -> LabError:
    return LabError(
        f"the disk that holds {folder} is full", "free some space, shorten duration_s, or choose --out elsewhere"
    )
