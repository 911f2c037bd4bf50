"""Runs a command as root under another kernel: User-Mode Linux, an ordinary process of the host."""

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

GUEST = Path(__file__).with_name("guest.py")
MEMORY_MB = 384
HALTING_S = 5.0
CONTAINED = ["setpriv", "--pdeathsig", "KILL", "unshare", "--pid", "--fork", "--kill-child"]
"""A guest is several processes: in a PID namespace they all end with the first, and that with this process."""
if os.geteuid() != 0:
    CONTAINED.append("--map-root-user")


def run(
    command: list[str],
    folder: Path,
    *,
    kernel: Path = Path("/usr/bin/linux.uml"),
    options: tuple[str, ...] = (),
    timeout_s: float,
) -> str:
    """Run `command` in a guest that sees the host's files read-only and `folder` (writable) as /run/shared.

    Returns what it printed. Raises RuntimeError with the output, or the guest's console, when it fails or is late.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "command.json").write_text(json.dumps(command))
    arguments = [
        f"mem={MEMORY_MB}M", "rootfstype=hostfs", "rootflags=/", "ro", f"init={sys.executable}",
        f"uml_dir={folder}", "umid=guest", "con=null", "con0=null,fd:1", "quiet", "panic=-1", *options,
        "--", str(GUEST), str(folder),
    ]  # fmt: skip
    console = folder / "console"
    with console.open("wb") as out:
        guest = subprocess.Popen(
            [*CONTAINED, str(kernel), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
            env=os.environ | {"TMPDIR": memory_folder(folder)},
        )
        try:
            if not _ended(guest, folder / "exit", timeout_s):
                raise RuntimeError(f"guest still running after {timeout_s} s:\n{report(folder)}")
        finally:
            guest.kill()
            guest.wait()
    if not (folder / "exit").exists() or (folder / "exit").read_text() != "0":
        raise RuntimeError(report(folder))
    return (folder / "output").read_text()


def _ended(guest: subprocess.Popen[bytes], code: Path, timeout_s: float) -> bool:
    """Wait until the guest has ended, or for a moment after it has said its exit code: some hang when they halt."""
    deadline_s = time.monotonic() + timeout_s
    while guest.poll() is None:
        if time.monotonic() > deadline_s:
            return False
        if code.exists() and code.read_text():
            with suppress(subprocess.TimeoutExpired):
                guest.wait(HALTING_S)
            return True
        time.sleep(0.1)
    return True


def memory_folder(otherwise: Path) -> str:
    """Where the guest's memory lives: the kernel maps a file there, with the right to execute."""
    shared = os.statvfs("/dev/shm")
    roomy = shared.f_bavail * shared.f_frsize > 2 * MEMORY_MB << 20
    return "/dev/shm" if roomy and not shared.f_flag & os.ST_NOEXEC else str(otherwise)


def report(folder: Path) -> str:
    parts = [folder / "output", folder / "console"]
    return "\n".join(part.read_text(errors="replace")[-4000:] for part in parts if part.exists())
