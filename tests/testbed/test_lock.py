import os
import subprocess
import sys
from pathlib import Path

import pytest

from comseclab.errors import LabError
from comseclab.testbed.lock import machine_lock

HOLD = """
import sys
from pathlib import Path
from comseclab.testbed.lock import machine_lock
with machine_lock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def hold(path: Path) -> "subprocess.Popen[str]":
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    return holder


def test_the_lock_waits_for_its_holder_and_says_who_it_is(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    holder = hold(path)
    said: list[str] = []

    def say(text: str) -> None:
        said.append(text)
        holder.kill()  # a killed laboratory must free the lock

    with machine_lock(path, say):
        assert holder.wait() < 0
    assert f"process {holder.pid} of user {os.geteuid()}" in said[0]


def test_a_free_lock_is_taken_without_a_word(tmp_path: Path) -> None:
    said: list[str] = []
    for _ in range(2):
        with machine_lock(tmp_path / "lock", said.append):
            pass
    assert said == []


def test_all_users_can_open_the_lock(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        with machine_lock(tmp_path / "lock"):
            pass
    finally:
        os.umask(before)
    assert (tmp_path / "lock").stat().st_mode & 0o777 == 0o666


def test_a_link_in_place_of_the_lock_is_refused(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(LabError, match="lock"), machine_lock(tmp_path / "lock"):
        pass
    assert not (tmp_path / "elsewhere").exists()
