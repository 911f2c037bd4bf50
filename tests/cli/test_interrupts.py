"""Ctrl-C, SIGTERM and SIGKILL at any moment: earlier results intact, nothing left behind, and the run can go on."""

import itertools
import json
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import polars
import pytest
from lab import COMSECLAB, RESOLVED_OR_NOT, SMALL_PLAN, comseclab, footprint, gone, marked, one_line, untouched

from comseclab.errors import LabError
from comseclab.results.store import RunFolder
from comseclab.testbed.lock import machine_lock


@pytest.fixture
def before(tmp_path: Path) -> dict[str, set[str]]:
    return untouched(tmp_path)


@pytest.fixture
def lab(before: dict[str, set[str]], tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    (tmp_path / "small.toml").write_text(SMALL_PLAN)
    process = subprocess.Popen([COMSECLAB, "run", "small.toml"], cwd=tmp_path, env=marked(), stderr=subprocess.DEVNULL)
    yield process
    if process.poll() is None:
        process.kill()
    process.wait()


def wait_for_trial(folder: Path, number: int, process: subprocess.Popen[bytes]) -> None:
    """Until trial `number` has begun."""
    while not list(folder.glob(f"runs/*/trials/{number:04d}-*")):
        assert process.poll() is None, "the campaign ended early"
        time.sleep(0.02)


@pytest.mark.parametrize(("number", "seed"), [(signal.SIGINT, 1), (signal.SIGTERM, 2)])
def test_an_interrupted_run_goes_on(
    before: dict[str, set[str]], lab: subprocess.Popen[bytes], tmp_path: Path, number: int, seed: int
) -> None:
    wait_for_trial(tmp_path, 2, lab)
    time.sleep(random.Random(seed).uniform(0, 1.5))
    lab.send_signal(number)
    assert lab.wait(60) == 128 + number
    assert gone(before)
    run = next(tmp_path.glob("runs/*-small"))
    kept = {path: path.read_bytes() for path in run.rglob("samples.parquet")}
    assert kept
    comseclab("run", "small.toml", "--resume", cwd=tmp_path, expect=RESOLVED_OR_NOT)
    assert all(path.read_bytes() == content for path, content in kept.items())
    assert all(row["trials"] == 2 for row in json.loads((run / "summary.json").read_text())["cases"])


def test_a_laboratory_that_waits_is_terminated_and_leaves_nothing(
    before: dict[str, set[str]], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    with machine_lock():
        lab = request.getfixturevalue("lab")
        while not list(tmp_path.glob("runs/*-small/spools/*")):
            assert lab.poll() is None, "it does not wait"
            time.sleep(0.02)
        lab.terminate()
        assert lab.wait(60) == 128 + signal.SIGTERM
    assert gone(before)
    assert not list(tmp_path.glob("runs/*-small/spools"))


def test_a_killed_laboratory_takes_its_trial_along_and_clean_finds_the_rest(
    before: dict[str, set[str]], lab: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    wait_for_trial(tmp_path, 2, lab)
    time.sleep(0.7)
    run = RunFolder(next(tmp_path.glob("runs/*-small")))
    with pytest.raises(LabError, match="worked on by another laboratory"), run.claimed():
        pass
    lab.kill()
    lab.wait()
    begun = set((run.path / "trials").iterdir())
    with run.claimed():
        refused = comseclab("run", "small.toml", "--resume", cwd=tmp_path, expect=2)
    assert "worked on by another laboratory" in one_line(refused)
    assert set((run.path / "trials").iterdir()) == begun
    for _ in range(100):
        if not footprint()["processes"]:
            break
        time.sleep(0.05)
    assert not footprint()["processes"]
    comseclab("clean", cwd=tmp_path)
    assert "nothing was left" in comseclab("clean", cwd=tmp_path).stdout
    assert gone(before)
    comseclab("run", "small.toml", "--resume", cwd=tmp_path, expect=RESOLVED_OR_NOT)


def test_two_laboratories_do_not_measure_at_the_same_time(lab: subprocess.Popen[bytes], tmp_path: Path) -> None:
    wait_for_trial(tmp_path, 1, lab)
    other = tmp_path / "other"
    other.mkdir()
    (other / "small.toml").write_text(SMALL_PLAN)
    comseclab("run", "small.toml", cwd=other, expect=RESOLVED_OR_NOT)
    lab.wait(120)
    windows = sorted(span(path) for path in tmp_path.rglob("samples.parquet"))
    assert all(first[1] < second[0] for first, second in itertools.pairwise(windows))
    assert len(windows) >= 8  # more where a trial had to be repeated


def span(path: Path) -> tuple[int, int]:
    """First send and last receipt of a trial, ns on one clock for the whole machine."""
    frame = polars.read_parquet(path)
    return int(frame["begin_ns"].min()), int(frame["done_ns"].max())  # type: ignore[arg-type]
