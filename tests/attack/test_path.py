"""Somebody on the path of the real switch sees every frame and says what goes on in its place, within bounds."""

import json
from typing import Any

import pytest

from attack.inside import run_inside
from comseclab.places import native_programs
from comseclab.trial.launch import ISOLATE

HELLO = "hello of 5 from 10.77.0.1"


@pytest.fixture(scope="module")
def tried() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        run_inside(ISOLATE, "inside_path.py", str(native_programs() / "comseclab-switch"))
    )
    return found


@pytest.mark.parametrize(
    ("rule", "arrived"),
    [
        ("looks", [HELLO]),
        ("drops", []),
        ("alters", ["other of 5 from 10.77.0.1"]),
        ("alters and shortens", ["hi of 2 from 10.77.0.1"]),
        ("alters and lengthens", [f"{'x' * 20} of 9001 from 10.77.0.1"]),
        ("repeats", [HELLO, HELLO]),
        ("lets overtake", ["second of 6 from 10.77.0.1", "first of 5 from 10.77.0.1"]),
        ("sends from elsewhere", [HELLO]),
    ],
)
def test_what_goes_on_is_what_the_rule_says(tried: dict[str, Any], rule: str, arrived: list[str]) -> None:
    """The receiving kernel checks the checksums of what was altered."""
    assert tried[rule] == {"arrived": arrived, "failure": None}


@pytest.mark.parametrize(
    ("rule", "failure"),
    [
        ("fails", "ValueError: a rule fails at port 0"),
        ("multiplies", "LabError: more than 32 frames"),
        ("multiplies without end", "LabError: more than 32 frames"),
        ("holds for too long", "LabError: a frame would be held for 6 s"),
        ("sends away", "LabError: 192.0.2.1 is no address of a testbed"),
    ],
)
def test_a_rule_that_fails_or_goes_too_far_is_noted_and_followed_no_more(
    tried: dict[str, Any], rule: str, failure: str
) -> None:
    assert tried[rule]["failure"].startswith(failure)
    assert set(tried[rule]["arrived"]) == {HELLO}
    assert len(tried[rule]["arrived"]) == (2 if rule == "fails" else 1)


def test_a_held_frame_comes_no_sooner(tried: dict[str, Any]) -> None:
    assert tried["held"] == {"late": True}


def test_a_rule_at_work_ends_before_the_next_begins(tried: dict[str, Any]) -> None:
    assert tried["exchanged"] == {"ended": True, "arrived": [HELLO]}


def test_an_injected_frame_goes_where_its_address_says_but_not_back_to_its_port(tried: dict[str, Any]) -> None:
    forged = ["forged of 6 from 10.77.0.1"]
    assert tried["forged at its port"]["arrived"] == forged
    assert tried["forged at the attacker's"]["arrived"] == forged
    assert tried["forged at the receiver's"]["arrived"] == []


def test_what_was_seen_is_remembered(tried: dict[str, Any]) -> None:
    assert tried["seen"] == {"port": 0, "source": "10.77.0.1", "destination": ["10.77.0.2", 7401]}


def test_when_nobody_is_on_the_path_any_more_frames_pass(tried: dict[str, Any]) -> None:
    assert tried["left"]["arrived"] == ["afterwards of 10 from 10.77.0.1"]
