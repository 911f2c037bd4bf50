"""What a killed laboratory leaves, and its removal.

Namespaces, devices, processes and keys of a trial end with its first process, which ends with the laboratory. What can
stay is the folder of a trial that was not closed, or a temporary one. Each is therefore written down in a file of its
own; a record whose laboratory no longer lives (same process id *and* start time) shows what to remove.
"""

import json
import os
import shutil
import signal
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

from comseclab.errors import LabError


def notes() -> Path:
    """Where this user's running trials and temporary folders are written down."""
    return Path(f"/tmp/comseclab-{os.geteuid()}")


class Note:
    """A running trial, written down."""

    def __init__(self, path: Path, folder: Path) -> None:
        self._path = path
        self._content = {"laboratory": _identity(os.getpid()), "folder": str(folder)}
        self._write()

    def trial(self, pid: int) -> None:
        """Add the trial's process."""
        self._content["trial"] = _identity(pid)
        self._write()

    def _write(self) -> None:
        part = self._path.with_suffix(".part")
        part.write_text(json.dumps(self._content))
        part.rename(self._path)


@contextmanager
def noted(folder: Path) -> Iterator[Note]:
    """Have a folder written down for the block, of a trial before it has anything."""
    place = notes()
    path = place / f"{os.getpid()}-{threading.get_ident()}.json"
    try:
        yield _write_down(place, path, folder)
    finally:
        path.unlink(missing_ok=True)
        with suppress(OSError):  # another trial of this user is still written down
            place.rmdir()


@contextmanager
def scratch() -> Iterator[Path]:
    """A temporary folder, gone after the block; what a kill leaves of it, `clean` finds."""
    with TemporaryDirectory(prefix="comseclab-") as made, noted(Path(made)):
        yield Path(made)


def _write_down(place: Path, path: Path, folder: Path) -> Note:
    while True:
        place.mkdir(mode=0o700, exist_ok=True)
        _check_own(place)
        with suppress(FileNotFoundError):  # another trial ended, and took the place for empty
            return Note(path, folder)


def clean() -> list[str]:
    """Remove what laboratories of this user left that no longer live; returns a line for each thing removed."""
    place = notes()
    if not place.is_dir():
        return []
    _check_own(place)
    removed = []
    for note in sorted(place.glob("*.json")):
        left = json.loads(note.read_text())
        if _lives(left["laboratory"]):
            continue
        trial, folder = left.get("trial"), Path(left["folder"])
        if trial and _lives(trial):
            os.kill(trial["pid"], signal.SIGKILL)
            removed.append(f"process {trial['pid']} of a trial")
        if folder.is_dir() and not (folder / "record.json").exists():
            shutil.rmtree(folder)
            kind = "temporary folder" if folder.parent == Path(gettempdir()) else "unfinished trial"
            removed.append(f"{kind} {folder}")
        note.unlink()
        removed.append(f"note {note}")
    for part in place.glob("*.part"):  # cut off while it was written
        part.unlink()
    with suppress(OSError):  # a living laboratory's note is there
        place.rmdir()
    return removed


def _check_own(place: Path) -> None:
    found = place.lstat()
    if found.st_uid != os.geteuid() or not stat.S_ISDIR(found.st_mode):
        raise LabError(f"{place} belongs to someone else", "have it removed")


def _identity(pid: int) -> dict[str, int]:
    """A process, told apart from later ones of the same number by its start time (clock ticks since boot)."""
    return {"pid": pid, "start": _start(pid) or 0}


def _start(pid: int) -> int | None:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
    except OSError:
        return None


def _lives(identity: dict[str, int]) -> bool:
    return _start(identity["pid"]) == identity["start"]
