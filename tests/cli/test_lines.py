"""What a verb prints to be read or pasted stands whole on its line, whatever a user's names and words hold."""

from pathlib import Path

import pytest

from comseclab import laboratory
from comseclab.attack import run as attacks
from comseclab.cli import attack, carry_out
from comseclab.places import shipped_plan
from comseclab.plan import load_plan
from comseclab.results.store import RunFolder

PLAN = load_plan(shipped_plan("demo"))


def interrupted(*_arguments: object) -> None:
    raise KeyboardInterrupt


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run folder whose name is longer than a line, with what rich takes for markup and the shell for two words."""
    return tmp_path / "a very long name of a folder for the results of a whole laboratory [lab]" / "[bold]run"


def test_a_measurement_that_is_cut_off_says_how_to_go_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(laboratory, "measure", interrupted)
    with pytest.raises(KeyboardInterrupt):
        carry_out.carry_out(laboratory.Work(RunFolder(folder), PLAN, []))
    told = capsys.readouterr().err.splitlines()
    assert f"results: {folder}" in told
    assert f"interrupted; continue with: comseclab run '{folder}' --resume" in told


def test_attacks_that_are_cut_off_say_how_to_go_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(attacks, "carry_out", interrupted)
    with pytest.raises(KeyboardInterrupt):
        attack._carry_out(attacks.AttackWork(RunFolder(folder), PLAN, []), None)
    told = capsys.readouterr().err.splitlines()
    assert f"results: {folder}" in told
    assert f"interrupted; continue with: comseclab attack '{folder}' --resume" in told
