"""Whatever ends a trial, nothing of it is left."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from bench import LABORATORIES, make_spec, native, run_apart

from comseclab.testbed import clean
from comseclab.trial.launch import command


def traces(folder: Path) -> dict[str, set[str]]:
    """What a trial could leave on the machine, by the names that trials use."""

    def names(*command: str) -> set[str]:
        return set(
            subprocess.run(command, capture_output=True, text=True, check=False).stdout.replace(":", " ").split()
        )

    ours = re.compile("robot|station|(port|end)-.*|switch|eth0@.*")
    return {
        "namespaces": set(filter(ours.fullmatch, names("ip", "netns"))),
        "devices": set(filter(ours.fullmatch, names("ip", "-o", "link"))),
        "mounts": {line for line in Path("/proc/mounts").read_text().splitlines() if "/run/comseclab" in line},
        "files": {str(path) for path in Path("/run").glob("comseclab*")},
        "notes": {str(path) for path in clean.notes().glob("*.json") if str(folder) in path.read_text()},
        "processes": {str(found.pid) for found in psutil.process_iter(["cmdline"])
                      if any(str(folder) in part for part in found.info["cmdline"] or [])},
    }  # fmt: skip


@pytest.fixture(autouse=True)
def _nothing_left(tmp_path: Path) -> Iterator[None]:
    before = traces(tmp_path)
    yield
    while LABORATORIES:
        with LABORATORIES.pop() as laboratory:
            laboratory.kill()
    assert traces(tmp_path) == before


def descendants(process: "subprocess.Popen[str]") -> list[psutil.Process]:
    return psutil.Process(process.pid).children(recursive=True)


def wait_for(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def running_nodes(process: "subprocess.Popen[str]") -> list[psutil.Process]:
    found = []
    for child in descendants(process):
        with suppress(psutil.NoSuchProcess):
            if child.name() == "comseclab-node" and child.cmdline()[1:2] != ["--calibrate"]:
                found.append(child)
    return found


def ended(processes: list[psutil.Process]) -> bool:
    return not any(process.is_running() and process.status() != psutil.STATUS_ZOMBIE for process in processes)


@pytest.mark.parametrize("moment", ["start", "nodes"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_to_the_laboratory_ends_everything(tmp_path: Path, number: signal.Signals, moment: str) -> None:
    folder = tmp_path / "trial"
    laboratory = run_apart(make_spec(tmp_path, round_s=60.0), folder)
    wait_for(lambda: folder.exists() if moment == "start" else len(running_nodes(laboratory)) == 2)
    family = descendants(laboratory)
    os.kill(laboratory.pid, number)
    begun = time.monotonic()
    assert laboratory.wait(20) != 0
    wait_for(lambda: ended(family))
    assert time.monotonic() - begun < 10  # two seconds are promised; the machine may be busy
    if number == signal.SIGKILL:
        assert any("unfinished trial" in line for line in clean.clean())
    assert not folder.exists()


def test_the_trial_ends_with_a_laboratory_that_dies_before_it_has_begun(tmp_path: Path) -> None:
    native()
    code = (
        "import os, subprocess, sys\n"
        "child = subprocess.Popen([*sys.argv[1:]], stdin=subprocess.PIPE, start_new_session=True)\n"
        "print(child.pid, flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    spec = tmp_path / "spec.json"
    spec.write_text(make_spec(tmp_path, round_s=60.0).model_dump_json())
    (tmp_path / "trial" / "log").mkdir(parents=True)
    argv = ["python3", "-c", code, *map(str, command(spec, tmp_path / "trial"))]
    done = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=False, stderr=subprocess.DEVNULL)
    pid = int(done.stdout.split()[0])
    wait_for(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)


def test_a_crashed_node_makes_the_trial_invalid_says_how_it_ended_and_leaves_no_core(tmp_path: Path) -> None:
    folder = tmp_path / "trial"
    allowed = ("sh", "-c", 'ulimit -S -c "$(ulimit -H -c)" && exec "$0" "$@"')
    laboratory = run_apart(make_spec(tmp_path, round_s=60.0), folder, wrapper=allowed)
    wait_for(lambda: len(running_nodes(laboratory)) == 2)
    node = running_nodes(laboratory)[0]
    assert set(node.rlimit(psutil.RLIMIT_CORE)) <= {0, 1}
    node.send_signal(signal.SIGSEGV)
    out, errors = laboratory.communicate(timeout=60)
    assert laboratory.returncode == 0, errors
    assert '"status":"invalid"' in out
    assert "was ended by SIGSEGV" in out


def test_a_killed_trial_process_makes_the_trial_invalid(tmp_path: Path) -> None:
    laboratory = run_apart(make_spec(tmp_path, round_s=60.0), tmp_path / "trial")
    wait_for(lambda: len(running_nodes(laboratory)) == 2)
    family = descendants(laboratory)
    trial = next(child for child in family if "comseclab.trial" in child.cmdline() and "unshare" not in child.name())
    trial.kill()
    out, errors = laboratory.communicate(timeout=60)
    assert laboratory.returncode == 0, errors
    assert "was ended by SIGKILL" in out or "was killed" in out
    assert ended(family)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_full_disk_is_told_in_a_line_and_leaves_no_folder(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    script = 'mount -t tmpfs -o size=64k none "$1"; shift; "$@"; code=$?; ls "$0"; exit $code'
    wrapper = ["unshare", "--mount", "sh", "-c", script, str(disk), str(disk)]
    laboratory = run_apart(make_spec(tmp_path), disk / "trial", wrapper=wrapper, spec_folder=tmp_path)
    out, errors = laboratory.communicate(timeout=60)
    assert laboratory.returncode == 2, errors
    assert "disk is full" in errors.strip().splitlines()[-1]
    assert out == ""
