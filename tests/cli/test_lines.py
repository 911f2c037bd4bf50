"""What a verb prints to be read or pasted stands whole on its line, whatever a user's names and words hold."""

from pathlib import Path

import pytest

from comseclab import laboratory
from comseclab.attack import run as attacks
from comseclab.attack.cells import configurations
from comseclab.cli import attack, carry_out
from comseclab.cli.attack_cells import show_cells
from comseclab.cli.cases import show_cases
from comseclab.errors import LabError
from comseclab.places import shipped_plan
from comseclab.plan import expand, load_plan
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


@pytest.mark.parametrize(("begun", "then"), [(False, ""), (True, "; then: comseclab run '{folder}' --resume")])
def test_what_was_measured_alone_can_be_resumed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, begun: bool, then: str
) -> None:
    def fail(*_arguments: object) -> None:
        raise LabError("the disk is full", "free some space")

    folder.mkdir(parents=True)
    if begun:
        (folder / "campaign.json").touch()
    monkeypatch.setattr(laboratory, "measure", fail)
    with pytest.raises(LabError) as caught:
        carry_out.carry_out(laboratory.Work(RunFolder(folder), PLAN, []))
    assert caught.value.remedy == f"free some space{then.format(folder=folder)}"


def test_attacks_that_are_cut_off_say_how_to_go_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(attacks, "carry_out", interrupted)
    with pytest.raises(KeyboardInterrupt):
        attack._carry_out(attacks.AttackWork(RunFolder(folder), PLAN, []), None)
    told = capsys.readouterr().err.splitlines()
    assert f"results: {folder}" in told
    assert f"interrupted; continue with: comseclab attack '{folder}' --resume" in told


@pytest.mark.parametrize("description", ["our robot's laser [/scan]", "[bold]loud", "a :robot:"])
def test_a_description_is_shown_as_it_is(description: str, capsys: pytest.CaptureFixture[str]) -> None:
    plan = PLAN.model_copy(update={"plan": PLAN.plan.model_copy(update={"description": description})})
    show_cases(plan, expand(plan))
    assert description in capsys.readouterr().out


def test_cells_are_shown_under_the_description_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    plan = load_plan(shipped_plan("attacks"), {"plan": {"name": "p", "description": "our laser [/scan]"}})
    show_cells(plan, configurations(plan, expand(plan)))
    assert "our laser [/scan]" in capsys.readouterr().out


def test_one_case_is_no_cases(capsys: pytest.CaptureFixture[str]) -> None:
    show_cases(PLAN, expand(PLAN)[:1])
    assert "1 case, 5 pairs each" in capsys.readouterr().out
