"""A run folder whose plan was damaged is refused in one line that names the file."""

import json
from pathlib import Path

import pytest

from comseclab import laboratory
from comseclab.attack import run as attacks
from comseclab.errors import LabError
from comseclab.places import shipped_plan
from comseclab.plan import load_plan, saved_text
from comseclab.results.store import ATTACK_PLAN

PLAN = load_plan(shipped_plan("demo")).model_dump(mode="json")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({}, 'needs the table [plan]'),
        ([], "valid dictionary"),
        ({"plan": PLAN, "cases": 3}, "cases"),
        ({"plan": PLAN, "cases": []}, "names no case of its plan"),
        ({"plan": {**PLAN, "odd": 1}, "cases": []}, 'no key "odd"'),
    ],
)  # fmt: skip
def test_a_damaged_plan_is_named(tmp_path: Path, content: object, said: str) -> None:
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(content))
    with pytest.raises(LabError) as caught:
        laboratory.reopen(tmp_path)
    assert str(caught.value).startswith(str(path))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [{}, [], {"plan": PLAN, "cases": 3}])
def test_a_damaged_plan_of_attacks_is_named(tmp_path: Path, content: object) -> None:
    path = tmp_path / ATTACK_PLAN
    path.write_text(json.dumps(content))
    with pytest.raises(LabError) as caught:
        attacks.reopen(tmp_path)
    assert str(caught.value).startswith(str(path))


def test_a_plan_file_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"plan\.toml cannot be read: No such file"):
        saved_text(tmp_path)
