"""The guest in which the kernel's path is tested: it reaches nothing of the host and leaves nothing behind."""

import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
import uml


def wait_for_end(folder: Path) -> bool:
    """Killed processes take a moment to go. False: some are still there after 10 s."""
    for _ in range(100):
        commands = [" ".join(process.info["cmdline"] or []) for process in psutil.process_iter(["cmdline"])]
        if not any(str(folder) in command for command in commands):
            return True
        time.sleep(0.1)
    return False


def test_the_hosts_files_are_read_only(tmp_path: Path) -> None:
    shared, outside = tmp_path / "shared", tmp_path / "outside"
    with pytest.raises(RuntimeError, match="Read-only file system"):
        uml.run(["touch", str(outside)], shared, timeout_s=60)
    assert not outside.exists()
    assert uml.run(["sh", "-c", "touch inside; id -u"], shared, timeout_s=60) == "0\n"
    assert (shared / "inside").exists()
    assert wait_for_end(shared)


def test_a_late_guest_is_killed(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="still running"):
        uml.run(["sleep", "600"], tmp_path, timeout_s=3)
    assert wait_for_end(tmp_path)


def test_a_guest_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    start = f"import uml, pathlib; uml.run(['sleep', '600'], pathlib.Path({str(tmp_path)!r}), timeout_s=600)"
    starter = subprocess.Popen([sys.executable, "-c", start], cwd=Path(uml.__file__).parent)
    while not (tmp_path / "output").exists():
        assert starter.poll() is None
        time.sleep(0.1)
    starter.kill()
    starter.wait()
    assert wait_for_end(tmp_path)
