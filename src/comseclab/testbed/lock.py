"""One timed trial a machine at a time: a lock that all users of the machine share."""

import fcntl
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from comseclab.errors import LabError

LOCK = Path("/tmp/comseclab.lock")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


@contextmanager
def machine_lock(path: Path = LOCK, say: Callable[[str], None] = _say) -> Iterator[None]:
    """Hold the machine for the block; waits for whoever has it, after saying who. A lock ends with its process."""
    descriptor = _open(path)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(
                f"waiting for another timed trial on this machine: {os.pread(descriptor, 200, 0).decode() or 'unknown'}"
            )
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"process {os.getpid()} of user {os.geteuid()}".encode(), 0)
        try:
            yield
        finally:
            os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def _open(path: Path) -> int:
    """Open the lock file, making it for all users. It is never made over another's: kernels refuse that in /tmp."""
    for _ in range(2):
        try:
            return os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            pass
        except OSError as error:
            raise LabError(f"cannot open {path}: {error.strerror}", "remove it") from error
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        except FileExistsError:
            continue
        os.fchmod(descriptor, 0o666)
        return descriptor
    raise LabError(f"cannot make {path}", "look at its folder's rights")
