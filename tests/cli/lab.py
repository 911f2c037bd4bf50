"""Runs the command line as a user does, and says what it left behind."""

import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from comseclab.testbed import lock

LOCK = lock.LOCK
"""Stays: removing a lock file that others may be waiting on would let two laboratories in."""
COMSECLAB = Path(sys.executable).with_name("comseclab")

SMALL_PLAN = """
[plan]
name = "small"
duration_s = 0.5
drain_s = 0.2

[stop]
min_pairs = 2
max_pairs = 2

[factors]
protection = ["none", "payload-encrypt"]
link = "localhost"
workload = "tiny"

[[workloads.tiny.streams]]
opaque_bytes = 2000
rate_hz = 100.0
"""


MARK = "COMSECLAB_TEST"
"""An environment variable: whatever a laboratory starts inherits it, and is known by it."""


RESOLVED_OR_NOT = (0, 3)
"""A few pairs resolve a comparison or do not, as the machine will have it."""


def marked() -> dict[str, str]:
    """The environment of a laboratory under test."""
    return {**os.environ, MARK: str(os.getpid())}


def comseclab(*arguments: str | Path, cwd: Path, expect: int | tuple[int, ...] = 0) -> subprocess.CompletedProcess[str]:
    """Run a verb to its end; the exit code must be an expected one."""
    expected = expect if isinstance(expect, tuple) else (expect,)
    done = subprocess.run(
        [COMSECLAB, *arguments], cwd=cwd, env=marked(), capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode in expected, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    """The single line a user's mistake is answered with."""
    lines = [line for line in done.stderr.splitlines() if line.startswith("comseclab: ")]
    assert len(lines) == 1, done.stderr
    assert "Traceback" not in done.stderr
    return lines[0]


def footprint() -> dict[str, set[str]]:
    """What a laboratory could leave on the machine: processes, devices, named namespaces, temporary files."""
    mark = f"{MARK}={os.getpid()}".encode()
    processes = set()
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit() and mark in (entry / "environ").read_bytes().split(b"\0"):
                processes.add((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode())
    named = Path("/run/netns")
    return {
        "processes": processes,
        "devices": set(os.listdir("/sys/class/net")),
        "namespaces": set(os.listdir(named)) if named.is_dir() else set(),
        "files": {name for folder in ("/tmp", "/dev/shm") for name in os.listdir(folder) if "comseclab" in name}
        - {LOCK.name},
    }


def untouched(cwd: Path) -> dict[str, set[str]]:
    """The footprint without a laboratory; what one killed on this machine before had left is removed first."""
    comseclab("clean", cwd=cwd)
    return {**footprint(), "processes": set()}


def gone(before: dict[str, set[str]]) -> bool:
    """Whether everything the laboratory made is gone, within 20 s."""
    for _ in range(400):
        if footprint() == before:
            return True
        time.sleep(0.05)
    return False
