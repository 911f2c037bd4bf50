"""The example transport, built as a stranger would build it, and a laboratory per test."""

import itertools
import subprocess
from pathlib import Path

import pytest

from node.lab import BUILD, PROGRAM, ROOT, Lab, calibration

PORTS = itertools.count(23000, 16)


@pytest.fixture(scope="session")
def udp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example transport, compiled against the installed header alone."""
    if not PROGRAM.exists():
        pytest.skip("the native programs are not built: ./comseclab build")
    prefix, build = tmp_path_factory.mktemp("prefix"), tmp_path_factory.mktemp("example")
    source = ROOT / "native" / "example-transport"
    for command in (
        ["cmake", "--install", BUILD, "--prefix", prefix, "--component", "development"],
        ["cmake", "-S", source, "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}"],
        ["cmake", "--build", build],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return build / "libcomseclab-udp.so"


@pytest.fixture(scope="session")
def clock(udp: Path) -> dict[str, object]:
    return calibration()


@pytest.fixture
def lab(udp: Path, clock: dict[str, object], tmp_path: Path) -> Lab:
    return Lab(tmp_path, udp, clock, next(PORTS))
