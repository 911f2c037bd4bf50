"""The launcher sets up what a command needs and no more. Programs that would install or build are stand-ins here."""

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
FRESH = ["src/comseclab/places.py", "native/link/Cargo.toml", "uv.lock", "pyproject.toml", "setup/debian-run.txt"]
"""What the launcher reads, and compares with its stamps."""


class Launcher:
    """A copy of the launcher whose Python packages are set up, on a machine of another user's without packages."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("comseclab", *FRESH):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(CHECKOUT / name, folder / name)
        self.stand_in(folder / ".venv/bin/comseclab", 'echo "comseclab $*"')
        self.programs = folder / "programs"
        self.stand_in(self.programs / "id", "echo 1000")
        self.stand_in(self.programs / "dpkg-query", "exit 1")
        self.rust("cargo", "1.95.0")
        self.rust("rustc", "1.85.0")
        self.stamp("python")

    def stand_in(self, path: Path, script: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def rust(self, tool: str, version: str) -> None:
        self.stand_in(self.programs / tool, f"echo '{tool} {version} (f2d3ce0bd 2026-03-21)'")

    def stamp(self, name: str) -> None:
        path = self.folder / "build/stamps" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        later = time.time() + 60
        os.utime(path, (later, later))

    def installed(self, *more: str) -> None:
        """Let all packages of the list be installed, and some more."""
        text = (CHECKOUT / "setup/debian-run.txt").read_text()
        names = [line for line in text.splitlines() if line and not line.startswith("#")]
        lines = "".join(f"{name} installed\n" for name in (*names, *more))
        (self.folder / "installed").write_text(lines)
        self.stand_in(self.programs / "dpkg-query", f"cat {self.folder}/installed")

    def __call__(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        path = f"{self.programs}:{os.environ['PATH']}"
        return subprocess.run(
            [self.folder / "comseclab", *arguments],
            env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False,
        )  # fmt: skip


@pytest.fixture
def launcher(tmp_path: Path) -> Launcher:
    return Launcher(tmp_path)


@pytest.mark.parametrize(
    "command",
    [[], ["--help"], ["-h"], ["run", "--help"], ["demo", "-h"], ["doctor"], ["clean"], ["report", "runs/latest"]],
)
def test_what_runs_no_trial_needs_python_packages_alone(launcher: Launcher, command: list[str]) -> None:
    done = launcher(*command)
    assert (done.returncode, done.stdout.strip()) == (0, " ".join(["comseclab", *command])), done.stderr


@pytest.mark.parametrize("command", [["demo"], ["run", "plan.toml"], ["attack", "plan.toml"]])
def test_a_trial_needs_the_stacks(launcher: Launcher, command: list[str]) -> None:
    done = launcher(*command)
    assert done.returncode == 2
    assert "packages are missing; install them with: sudo apt-get install" in done.stderr
    assert " libfastrtps-dev " in done.stderr
    assert "cargo-web" not in done.stderr


def test_python3_venv_is_asked_for(launcher: Launcher) -> None:
    (launcher.folder / "build/stamps/python").unlink()
    launcher.stand_in(launcher.programs / "python3", "exit 1")
    done = launcher("doctor")
    assert done.returncode == 2
    assert done.stderr.rstrip().endswith("sudo apt-get install --no-install-recommends python3 python3-venv")


@pytest.mark.parametrize("tool", ["cargo", "rustc"])
def test_rust_that_is_too_old_is_none(launcher: Launcher, tool: str) -> None:
    launcher.installed()
    launcher.rust(tool, "1.63.0")
    done = launcher("demo")
    assert done.returncode == 2
    assert done.stderr.rstrip().endswith("sudo apt-get install --no-install-recommends cargo-web rustc-web")
    launcher.installed("cargo-web", "rustc-web")
    assert "is older than Rust 1.85; put newer ones first on the PATH" in launcher("demo").stderr


def test_with_all_set_up_the_command_runs(launcher: Launcher) -> None:
    launcher.installed()
    launcher.stamp("native-run")
    assert launcher("demo").stdout == "comseclab demo\n"
