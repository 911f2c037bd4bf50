"""docs/attacks.md says of every attack what the code does."""

import pytest

from attack.catalogue import DOCUMENT, written
from comseclab.attack import limits
from comseclab.attack.attacks.replay import ReplayRestarted
from comseclab.attack.base import Attack
from comseclab.attack.campaign import BEFORE_S, MOST_REPEATS, ROUND_S
from comseclab.attack.registry import ATTACKS
from comseclab.attack.verdict import Verdict

TEXT = DOCUMENT.read_text()
UNWRAPPED = " ".join(TEXT.split())


def test_the_tables_are_those_of_the_code() -> None:
    assert written(TEXT) == TEXT, "run python tests/attack/catalogue.py"


@pytest.mark.parametrize("attack", ATTACKS)
def test_every_attack_is_there(attack: str) -> None:
    assert f"| `{attack}` |" in TEXT


@pytest.mark.parametrize("verdict", Verdict)
def test_every_verdict_is_there(verdict: Verdict) -> None:
    assert f"| *{verdict.value}* |" in TEXT


@pytest.mark.parametrize(
    "number",
    [
        f"{limits.MOST_FRAMES // 1000} 000 frames,",
        f"{limits.MOST_BYTES // 1_000_000} MB",
        f"{limits.MOST_FRAMES_A_SECOND // 1000} 000 frames a second",
        f"{limits.MOST_SECONDS:g} s from the first frame",
        f"at most {limits.MOST_FOR_ONE} frames may go on",
        f"more than {limits.MOST_HELD_S:g} s",
        f"alone for {BEFORE_S} s, under attack for {Attack.lasts_s} s "
        f"(`replay-restarted`: {ReplayRestarted.lasts_s} s), and alone again until {ROUND_S} s have passed",
    ],
)
def test_every_bound_is_the_code_s(number: str) -> None:
    assert number in UNWRAPPED


def test_an_invalid_trial_is_repeated_as_often_as_it_says() -> None:
    assert MOST_REPEATS + 1 == 3
    assert "three times over" in UNWRAPPED
