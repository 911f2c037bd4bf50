"""The evidence of a cell as the page tells it, and results that are damaged or gone."""

from pathlib import Path
from typing import Any

import pytest
from made_up_attacks import TRIAL, WHOLE, cell, matrix, write_attacks, write_trial

from comseclab.attack.matrix import Matrix
from comseclab.attack.spec import Seen
from comseclab.attack.verdict import Verdict
from comseclab.errors import LabError
from comseclab.report.attack import build, evidence
from comseclab.report.attack.run import AttackRun, read


@pytest.mark.parametrize(("here", "typed"), [("", "runs/20260102T1"), ("elsewhere", "{root}/runs/20260102T1")])
def test_the_run_is_repeated_from_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, here: str, typed: str
) -> None:
    folder = write_attacks(tmp_path / "runs" / "20260102T1")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / here)
    named = typed.format(root=tmp_path)
    assert f"<pre>comseclab attack {named}\ncomseclab report {named}</pre>" in build(folder).read_text()


def _proof(run: AttackRun, configuration: str, attack: str) -> dict[str, Any]:
    """A cell's evidence."""
    group = next(one for one in evidence.groups(run) if one["name"] == configuration)
    return next(found for found in group["cells"] if found["attack"] == attack)


def test_a_control_counts_as_the_verdict_took_it(run: AttackRun) -> None:
    """Of `stopped`: a control whose harm was noticed worked, though it never succeeded."""
    noticed = cell("fastdds", "none", "silence-gap", Verdict.DETECTED)
    stopped = cell("fastdds", "all-encrypt", "silence-gap", Verdict.STOPPED).model_copy(
        update={"evidence": ["trials/x"]}
    )
    changed = AttackRun(run.path, run.matrix.model_copy(update={"cells": [noticed, stopped]}))
    (control,) = _proof(changed, "fastdds all-encrypt", "silence-gap")["controls"]
    assert control["text"] == "the same attack without protection worked, noticed or not, in 3 of 3 valid trials"


def test_the_control_of_an_insider_holds_the_right(tmp_path: Path) -> None:
    folder = write_attacks(tmp_path / "run")
    forged = Seen(before=WHOLE, during=WHOLE, after=WHOLE, forged=5, rogues=1)
    for number, valid in ((1, True), (2, False)):
        write_trial(folder / f"trials/x_control-{number}", "insider-publish", "control", forged, valid=valid)
    trials = [f"trials/x_control-{number}" for number in (1, 2)]
    tried = cell("fastdds", "all-encrypt", "insider-publish", Verdict.STOPPED)
    found = matrix().model_copy(
        update={"cells": [tried.model_copy(update={"evidence": trials, "control_succeeded": 1})]}
    )
    (control,) = _proof(AttackRun(folder, found), "fastdds all-encrypt", "insider-publish")["controls"]
    assert control["text"] == "the same node, holding the right, worked, noticed or not, in 1 of 1 valid trial"
    (folder / trials[0] / "record.json").unlink()
    (control,) = _proof(AttackRun(folder, found), "fastdds all-encrypt", "insider-publish")["controls"]
    assert "worked in 1 or more valid trials, not all of whose records are still there" in control["text"]


def test_a_trial_whose_victim_crashed_is_told_as_the_verdict_took_it(tmp_path: Path) -> None:
    folder = write_attacks(tmp_path / "run")
    crashed = Seen(before=WHOLE, during=WHOLE, after=WHOLE, targeted=12, crashed={"station-subscriber": "SIGSEGV"})
    write_trial(folder / f"{TRIAL}_attack-1", "modify", "attack", crashed)
    trial = _proof(read(folder), "fastdds all-encrypt", "modify")["trials"][0]
    assert trial["outcome"] == "disrupted: no altered message delivered"
    assert trial["told"] == ["station-subscriber ended with SIGSEGV"]


def test_a_cell_that_was_not_tried_has_no_command(tmp_path: Path) -> None:
    found = matrix()
    for one in found.cells:
        one.again = ""
    assert "Just this cell again" not in build(write_attacks(tmp_path / "run", found)).read_text()


def _unknown_attack(wrong: Matrix) -> None:
    wrong.cells[0].attack = "nothing"


def _twice(wrong: Matrix) -> None:
    wrong.cells.append(wrong.cells[0])


def _outside(wrong: Matrix) -> None:
    wrong.cells[0].evidence = ["../elsewhere"]


def _too_many(wrong: Matrix) -> None:
    wrong.cells[0].succeeded = 4


def _no_category(wrong: Matrix) -> None:
    wrong.attacks[0].stride = "Mischief"


def _nothing(wrong: Matrix) -> None:
    wrong.cells = []


@pytest.mark.parametrize("break_it", [_unknown_attack, _twice, _outside, _too_many, _no_category, _nothing])
def test_contradictions_are_refused(tmp_path: Path, break_it: object) -> None:
    wrong = matrix()
    assert callable(break_it)
    break_it(wrong)
    with pytest.raises(LabError, match="damaged"):
        build(write_attacks(tmp_path / "run", wrong))


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    folder = write_attacks(tmp_path / "run")
    (folder / "trials/fastdds_all-encrypt_modify_attack-1/record.json").write_text("{")
    with pytest.raises(LabError, match=r"record\.json is damaged"):
        build(folder)
    (folder / "attack.json").write_text("{")
    with pytest.raises(LabError, match=r"attack\.json"):
        build(folder)


def test_trials_that_were_thrown_away_leave_the_page_whole(tmp_path: Path) -> None:
    folder = write_attacks(tmp_path / "run")
    (folder / "trials/fastdds_all-encrypt_modify_attack-1/record.json").unlink()
    assert "its record is no longer there" in build(folder).read_text()
