"""The command line as a user meets it: help, one small campaign, and every mistake answered with one line."""

import json
import os
import subprocess
from pathlib import Path

import polars
import pytest
from lab import COMSECLAB, RESOLVED_OR_NOT, SMALL_PLAN, comseclab, footprint, one_line

from comseclab.results.store import ATTACK_PLAN
from kept import with_private_key


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SMALL_PLAN)
    return path


def test_help_shows_every_verb_and_examples(tmp_path: Path) -> None:
    text = comseclab("--help", cwd=tmp_path).stdout
    for verb in (
        "demo",
        "run",
        "report",
        "doctor",
        "clean",
        "build",
        "test",
        "Examples",
        "Exit codes",
        "130 interrupted",
    ):
        assert verb in text
    assert "--recording" in comseclab("run", "--help", cwd=tmp_path).stdout


def test_doctor_tells_what_the_machine_can_do(tmp_path: Path) -> None:
    text = comseclab("doctor", cwd=tmp_path).stdout
    for what in ("netem", "namespace", "fastdds", "SCHED_FIFO", "locked memory", "rmem", "clock"):
        assert what.lower() in text.lower()


def test_a_campaign_from_plan_to_page(plan: Path) -> None:
    before = footprint()
    done = comseclab("run", plan.name, cwd=plan.parent, expect=RESOLVED_OR_NOT)
    run = plan.parent / "runs" / "latest"
    assert str(run.resolve() / "report.html") in done.stderr.replace("\n", "")
    summary = json.loads((run / "summary.json").read_text())
    assert [row["factors"]["protection"] for row in summary["cases"]] == ["none", "payload-encrypt"]
    assert all(row["trials"] == 2 and row["sent"] == 2 * 45 for row in summary["cases"])
    assert summary["cases"][1]["ratio_to_baseline"]["pairs"] == 2
    trials = list((run / "trials").iterdir())
    assert len(trials) >= 4  # more where one had to be repeated
    assert polars.read_parquet(run / "trials" / "*" / "samples.parquet").height == len(trials) * 50
    assert not (run / "spools").exists()
    assert with_private_key(run.resolve()) == []
    (run / "report.html").unlink()
    comseclab("report", "runs/latest", cwd=plan.parent)
    assert (run / "report.html").stat().st_size > 100_000
    assert footprint() == before


def test_a_missed_deadline_is_exit_code_1(plan: Path) -> None:
    plan.write_text(SMALL_PLAN.replace('["none", "payload-encrypt"]', '"none"') + "\n[deadline]\nlatency_ms = 0.001\n")
    comseclab("run", plan, cwd=plan.parent, expect=1)


def test_a_dry_run_makes_nothing(plan: Path) -> None:
    text = comseclab("run", plan, "--dry-run", cwd=plan.parent).stdout
    assert "payload-encrypt" in text
    assert "2 cases" in text
    assert not (plan.parent / "runs").exists()


@pytest.mark.parametrize(
    ("arguments", "cause"),
    [
        (["run", "nowhere.toml"], "nowhere.toml"),
        (["run", "two\nlines.toml"], "no plan two lines.toml"),
        (["run", "small.toml", "--only", "link=wifi"], 'no link "wifi"'),
        (["run", "small.toml", "--topic", "/scan"], "--recording"),
        (["run", "small.toml", "--recording", "absent.mcap"], "absent.mcap"),
        (["run", "small.toml", "--resume"], "no run small"),
        (["run", "small.toml", "--out", "small.toml"], "small.toml"),
        (["report", "."], "not a run folder"),
        (["test"], "checkout"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(plan: Path, arguments: list[str], cause: str) -> None:
    assert cause in one_line(comseclab(*arguments, cwd=plan.parent, expect=2))


@pytest.mark.parametrize("verb", [["run", "attacks", "--resume"], ["reproduce", "martin2018", "--from", "attacks"]])
def test_a_run_folder_of_attacks_is_sent_to_their_verb(plan: Path, verb: list[str]) -> None:
    (plan.parent / "attacks").mkdir()
    (plan.parent / "attacks" / ATTACK_PLAN).touch()
    line = one_line(comseclab(*verb, cwd=plan.parent, expect=2))
    assert line == "comseclab: attacks holds attacks, not measurements (`comseclab attack` takes it)"


def test_a_wrong_key_names_the_nearest_one(plan: Path) -> None:
    plan.write_text(SMALL_PLAN.replace("min_pairs", "min_pair"))
    assert 'did you mean "min_pairs"' in one_line(comseclab("run", plan, cwd=plan.parent, expect=2))


def test_missing_native_programs_are_named(plan: Path) -> None:
    environment = {**os.environ, "COMSECLAB_BUILD": str(plan.parent)}
    done = subprocess.run(
        [COMSECLAB, "run", plan], cwd=plan.parent, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "comseclab build" in one_line(done)


@pytest.mark.parametrize("size", ["40k", "200k", "600k"])
def test_a_full_disk_loses_nothing_that_was_measured(plan: Path, size: str) -> None:
    script = f"mkdir small && mount -t tmpfs -o size={size} none small && {COMSECLAB} run small.toml --out small; "
    script += "code=$?; find small -name record.json | wc -l; find small -name '*.part'; exit $code"
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    done = subprocess.run(
        ["unshare", *user, "--mount", "sh", "-c", script], cwd=plan.parent, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2, done.stderr
    assert "disk" in one_line(done)
    assert ".part" not in done.stdout
