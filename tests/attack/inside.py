"""Runs a script of this folder in fresh namespaces, as the laboratory runs a trial."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from comseclab.trial.launch import AS_USER

HERE = Path(__file__).parent
AS_ROOT = () if os.geteuid() == 0 else AS_USER


def environment() -> dict[str, str]:
    """In which a script finds the tests and the laboratory."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE.parent), *sys.path])}


def run_inside(namespaces: Sequence[str], script: str, *arguments: str, pass_fds: Sequence[int] = ()) -> str:
    """What the script prints, in namespaces made by these options of unshare(1)."""
    argv = ["unshare", *AS_ROOT, *namespaces, "--", sys.executable, str(HERE / script), *arguments]
    done = subprocess.run(
        argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, pass_fds=pass_fds,
        env=environment(),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout
