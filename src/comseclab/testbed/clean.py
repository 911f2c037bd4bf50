"""What a killed laboratory leaves, and its removal.

Namespaces, devices, processes and keys of a trial end with its first process, which ends with the laboratory. What can
stay is the folder of a trial that was not closed. Each running trial is therefore written down in a file of its own;
a record whose laboratory no longer lives (same process id *and* start time) shows what to remove.
"""

import json
import os
import shutil
import signal
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from comseclab.errors import LabError


def notes() -> Path:
    """Where this user's running trials are written down."""
    return Path(f"/tmp/comseclab-{os.geteuid()}")


@contextmanager
def recorded(trial_pid: int, folder: Path) -> Iterator[None]:
    """Have a running trial written down for the block."""
    place = notes()
    note = place / f"{trial_pid}.json"
    content = {"laboratory": _identity(os.getpid()), "trial": _identity(trial_pid), "folder": str(folder)}
    try:
        place.mkdir(mode=0o700, exist_ok=True)
        _check_own(place)
        note.write_text(json.dumps(content))
        yield
    finally:
        note.unlink(missing_ok=True)
        with suppress(OSError):  # another trial of this user is still written down
            place.rmdir()


def clean() -> list[str]:
    """Remove what laboratories of this user left that no longer live; returns a line for each thing removed."""
    place = notes()
    if not place.is_dir():
        return []
    _check_own(place)
    removed = []
    for note in sorted(place.glob("*.json")):
        try:
            left = json.loads(note.read_text())
        except ValueError:  # cut off while it was written: before its trial had anything
            left = {}
        if left and _lives(left["laboratory"]):
            continue
        if left and _lives(left["trial"]):
            os.kill(left["trial"]["pid"], signal.SIGKILL)
            removed.append(f"process {left['trial']['pid']} of a trial")
        folder = Path(left["folder"]) if left else None
        if folder and folder.is_dir() and not (folder / "record.json").exists():
            shutil.rmtree(folder)
            removed.append(f"unfinished trial {folder}")
        note.unlink()
        removed.append(f"note {note}")
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
