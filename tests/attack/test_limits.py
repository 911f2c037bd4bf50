"""An adversary's load is bounded in frames, bytes and time."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from attack.scenes import scene_on
from comseclab.attack import limits
from comseclab.attack.spec import AttackSpec
from comseclab.errors import LabError
from comseclab.testbed.host import Host

NOBODY = Host("attacker", Path("/proc/self/ns/net"), "10.77.0.3", "lo", Path())


class Clock:
    """Seconds, by hand."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def spend(budget: limits.Budget, clock: Clock, count: int, size: int, every_s: float) -> int:
    """How many of so many frames are allowed."""
    for number in range(count):
        try:
            budget.spend(size)
        except LabError:
            return number
        clock.now += every_s
    return count


@pytest.mark.parametrize(
    ("size", "every_s", "allowed"),
    [
        (100, 0.0004, limits.MOST_FRAMES),
        (1_000_000, 0.01, limits.MOST_BYTES // 1_000_000),
        (100, 0.5, int(limits.MOST_SECONDS / 0.5) + 1),
        (100, 0.00001, limits.MOST_FRAMES_A_SECOND),
        (limits.MOST_BYTES + 1, 0.1, 0),
    ],
    ids=["frames", "bytes", "seconds", "rate", "one"],
)
def test_a_budget_ends(size: int, every_s: float, allowed: int) -> None:
    clock = Clock()
    assert spend(limits.Budget(clock), clock, 2 * limits.MOST_FRAMES, size, every_s) == allowed


def test_a_budget_lasts_from_the_first_frame_on() -> None:
    clock = Clock()
    budget = limits.Budget(clock)
    clock.now += 10 * limits.MOST_SECONDS
    assert spend(budget, clock, 10, 100, 0.1) == 10


def test_a_second_later_as_many_may_follow() -> None:
    clock = Clock()
    budget = limits.Budget(clock)
    assert spend(budget, clock, limits.MOST_FRAMES, 1, 0) == limits.MOST_FRAMES_A_SECOND
    clock.now += 1.0
    assert spend(budget, clock, limits.MOST_FRAMES, 1, 0) == limits.MOST_FRAMES - limits.MOST_FRAMES_A_SECOND


def test_what_is_refused_is_not_counted() -> None:
    budget = limits.Budget()
    with pytest.raises(LabError):
        budget.spend(limits.MOST_BYTES + 1)
    assert (budget.frames, budget.bytes) == (0, 0)


def test_a_budget_that_is_closed_is_empty() -> None:
    budget = limits.Budget()
    budget.close()
    with pytest.raises(LabError, match="has ended"):
        budget.spend(1)


@pytest.mark.parametrize("delay_s", [-0.1, limits.MOST_HELD_S + 0.1, float("nan"), float("inf")])
def test_a_frame_is_held_only_so_long(delay_s: float) -> None:
    with pytest.raises(LabError, match="would be held"):
        limits.check_held(delay_s)
    limits.check_held(limits.MOST_HELD_S)


@pytest.mark.parametrize("end_s", [0.8, 0.5, 0.8 + limits.MOST_SECONDS + 0.1, float("inf"), float("nan")])
def test_an_attack_lasts_only_so_long(end_s: float) -> None:
    fields = {"trial": scene_on({"attacker": NOBODY}, Path())[0].spec.trial, "attack": "drop", "forged_nonce": "0" * 16}
    with pytest.raises(ValidationError, match="an attack lasts up to"):
        AttackSpec(**fields, begin_s=0.8, end_s=end_s)  # type: ignore[arg-type]
    AttackSpec(**fields, begin_s=0.8, end_s=0.8 + limits.MOST_SECONDS)  # type: ignore[arg-type]
