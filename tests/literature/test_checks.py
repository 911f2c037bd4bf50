"""What the criteria say of figures whose answer is known."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from comseclab.literature import checks, conclusions
from comseclab.literature.checks import Check, decide
from comseclab.literature.conclusions import CRITERIA, RELIABLE
from comseclab.literature.evidence import UNKNOWN, FromStudy, Range
from comseclab.literature.study import Key, Published, Study

A, B = ("be", "localhost", "scan"), ("be-crypto", "localhost", "scan")
LOST = Range(math.inf, math.inf)


@dataclass
class Known:
    """Evidence as given; a ratio that is not given follows from the medians."""

    losses: Mapping[Key, Range] = field(default_factory=dict)
    medians: Mapping[Key, Range] = field(default_factory=dict)
    ratios: Mapping[tuple[Key, Key], Range] = field(default_factory=dict)

    def loss(self, cell: Key) -> Range | None:
        return self.losses.get(cell)

    def median_ns(self, cell: Key) -> Range | None:
        return self.medians.get(cell)

    def ratio(self, base: Key, cell: Key) -> Range | None:
        return self.ratios.get((base, cell))


def of_loss(low: float, high: float) -> Known:
    return Known(losses={A: Range(low, high)})


@pytest.mark.parametrize(
    ("low", "high", "carried", "lost"),
    [(0, 0.1, True, False), (0.11, 0.2, False, False), (0.05, 0.2, None, False), (0.5, 1, False, True),
     (0.4, 0.6, False, None)],
)  # fmt: skip
def test_loss(low: float, high: float, carried: bool | None, lost: bool | None) -> None:
    assert checks.carries(of_loss(low, high), A).holds is carried
    assert checks.not_carried(of_loss(low, high), A).holds is (None if carried is None else not carried)
    assert checks.loses(of_loss(low, high), A).holds is lost


def test_what_was_not_measured_holds_nothing() -> None:
    nothing = Known()
    found = [checks.carries(nothing, A), checks.usable(nothing, A), checks.same_loss(nothing, A, B),
             checks.ratio_at_most(nothing, A, B, 2), checks.loses_less(nothing, [A], B)]  # fmt: skip
    assert all(check and check.holds is None for check in found)
    assert decide(found).said == "not resolved"


@pytest.mark.parametrize(
    ("loss", "median", "usable"),
    [(Range(0, 0), Range(9e7, 1e8), True), (Range(0, 0), Range(9e7, 1.1e8), None),
     (Range(0, 0), Range(1.1e8, 2e8), False), (Range(0.2, 0.3), Range(1, 2), False), (Range(0.6, 0.7), LOST, False),
     (Range(0, 0.2), Range(1, 2), None)],
)  # fmt: skip
def test_usable(loss: Range, median: Range, usable: bool | None) -> None:
    evidence = Known(losses={A: loss}, medians={A: median})
    assert checks.usable(evidence, A).holds is usable
    assert checks.unusable(evidence, A).holds is (None if usable is None else not usable)


@pytest.mark.parametrize(
    ("ratio", "at_most", "above", "within"),
    [(Range(1.1, 1.5), True, False, True), (Range(1.4, 1.6), None, None, None), (Range(1.51, 2), False, True, False),
     (Range(0.5, 0.6), True, False, False), (Range(0.6, 0.7), True, False, None),
     (Range(0, math.inf), None, None, None), (LOST, False, True, False), (Range(0, 0), True, False, False)],
)  # fmt: skip
def test_ratios(ratio: Range, at_most: bool | None, above: bool | None, within: bool | None) -> None:
    evidence = Known(ratios={(A, B): ratio})
    for check, expected in (
        (checks.ratio_at_most(evidence, A, B, 1.5), at_most),
        (checks.ratio_above(evidence, A, B, 1.5), above),
        (checks.ratio_within(evidence, A, B, 1.5), within),
    ):
        assert check
        assert check.holds is expected


def test_no_ratio_is_asked_where_both_lost() -> None:
    assert checks.ratio_at_most(Known(losses={A: Range(1, 1), B: Range(1, 1)}), A, B, 2) is None


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [(Range(0, 0), Range(0.05, 0.1), True), (Range(0, 0.02), Range(0.09, 0.11), None),
     (Range(0, 0), Range(0.2, 1), False), (Range(0.9, 1), Range(0, 0), False)],
)  # fmt: skip
def test_same_loss(first: Range, second: Range, same: bool | None) -> None:
    assert checks.same_loss(Known(losses={A: first, B: second}), A, B).holds is same


def test_loses_less_asks_for_one_of_many() -> None:
    third = ("ros", "localhost", "scan")
    evidence = Known(losses={A: Range(0.9, 1), B: Range(0, 0.1), third: Range(0.5, 0.6)})
    assert checks.loses_less(evidence, [A, B], third).holds is True
    assert checks.loses_less(evidence, [A], third).holds is False
    assert checks.loses_more(evidence, A, third).holds is True
    assert checks.loses_more(evidence, B, third).holds is False


@pytest.mark.parametrize(
    ("near", "far", "shrinks"),
    [(Range(9, 11), Range(2, 3), True), (Range(2, 3), Range(9, 11), False), (Range(2, 5), Range(4, 6), None)],
)
def test_gap(near: Range, far: Range, shrinks: bool | None) -> None:
    c, d = ("be", "ethernet", "scan"), ("ros", "ethernet", "scan")
    found = checks.gap_shrinks(Known(ratios={(A, B): near, (c, d): far}), (A, B), (c, d))
    assert found
    assert found.holds is shrinks
    for lost in (LOST, Range(0, 0)):
        assert checks.gap_shrinks(Known(ratios={(A, B): lost, (c, d): far}), (A, B), (c, d)) is None
        assert checks.gap_shrinks(Known(ratios={(A, B): near, (c, d): lost}), (A, B), (c, d)) is None
    both_lost = Known(losses={A: Range(1, 1), B: Range(1, 1)}, ratios={(c, d): far})
    assert checks.gap_shrinks(both_lost, (A, B), (c, d)) is None
    for unresolved in (UNKNOWN, Range(100, math.inf), Range(0, 1)):
        open_gap = checks.gap_shrinks(Known(ratios={(A, B): unresolved, (c, d): far}), (A, B), (c, d))
        assert open_gap
        assert open_gap.holds is None
    half_measured = checks.gap_shrinks(Known(losses={A: Range(0, 0)}, ratios={(c, d): far}), (A, B), (c, d))
    assert half_measured
    assert half_measured.holds is None


@pytest.mark.parametrize(
    ("holds", "said"),
    [([True, True, None], "confirmed"), ([False, False], "refuted"), ([True, False, None, None, None], "changed"),
     ([True, None, None], "not resolved"), ([], "not resolved"), ([None], "not resolved")],
)  # fmt: skip
def test_verdicts(holds: list[bool | None], said: str) -> None:
    assert decide(Check((A,), "", one, "") for one in holds).said == said


PUBLISHED = {
    "security-is-acceptable": ("changed", 24, 28), "overhead-is-low-when-wired": ("changed", 13, 20),
    "clouds-are-not-carried": ("changed", 15, 24), "small-and-medium-arrive-locally": ("confirmed", 18, 18),
    "ice-loses-clouds": ("confirmed", 2, 2), "encrypted-best-effort-loses": ("changed", 4, 5),
    "ros-keeps-clouds-on-ethernet": ("confirmed", 6, 6),
    "reliable-alone-carries-all-on-ethernet": ("confirmed", 15, 15),
    "wifi-carries-scans": ("changed", 8, 9), "wifi-is-for-scans-only": ("confirmed", 18, 18),
    "only-reliable-beats-ros-on-wifi": ("confirmed", 12, 12), "networks-in-order": ("changed", 16, 18),
    "security-does-not-lose": ("changed", 38, 45), "ros-is-slower-locally": ("confirmed", 6, 6),
    "fast-dds-beats-ice": ("confirmed", 4, 4), "clouds-locally": ("confirmed", 5, 5),
    "reliability-is-cheap": ("changed", 14, 15), "tls-is-cheap": ("confirmed", 4, 4),
    "ice-copes-with-images-when-wired": ("confirmed", 4, 4),
    "encryption-costs-but-stays-in-real-time": ("changed", 10, 12), "gap-to-ros-shrinks": ("confirmed", 8, 8),
    "order-on-wifi": ("confirmed", 5, 5), "security-is-cheap-on-wifi": ("confirmed", 5, 5),
    "encryption-over-ethernet-stays-in-real-time": ("changed", 6, 8), "ethernet-is-slower": ("changed", 17, 18),
    "ros-and-fast-dds-are-robust": ("changed", 19, 21), "larger-is-slower": ("changed", 33, 34),
}  # fmt: skip
"""What the published tables say of the published conclusions: verdict, checks that hold, checks. They bear them out,
but for exceptions that the text leaves out: ROS, for one, is faster over Ethernet than on one host."""


def test_the_published_figures_by_our_criteria(study: Study) -> None:
    judged = dict(conclusions.judge(study, FromStudy(study.published)))
    found = {name: (verdict.said, verdict.hold, len(verdict.checks)) for name, verdict in judged.items()}
    assert found == PUBLISHED


def altered(study: Study, change: Callable[[Key, Published], Published]) -> FromStudy:
    return FromStudy({key: change(key, cell) for key, cell in study.published.items()})


def _all(cell: dict[str, Any], *configurations: str) -> Callable[[Key, Published], Published]:
    """Change these configurations' cells, or all, alike."""
    return lambda key, published: (
        published.model_copy(update=cell) if not configurations or key[0] in configurations else published
    )


REFUTED_BY = {
    "ice-loses-clouds": _all({"loss": 0.0, "mean_ns": 1e6}, "ice", "ice-ssl"),
    "small-and-medium-arrive-locally": _all({"loss": 0.2}),
    "ros-is-slower-locally": _all({"mean_ns": 1e4}, "ros"),
    "tls-is-cheap": _all({"mean_ns": 1e9}, "ice-ssl"),
    "wifi-is-for-scans-only": _all({"loss": 0.0, "mean_ns": 1e6}),
    "reliability-is-cheap": lambda key, published: published.model_copy(
        update={"loss": 0.0, "mean_ns": 1e9 if key[0] in RELIABLE else 1e6}
    ),
    "encryption-over-ethernet-stays-in-real-time": _all({"loss": 0.0, "mean_ns": 1e9}),
    "ethernet-is-slower": _all({"loss": 0.0, "mean_ns": 1e6}),
    "ros-and-fast-dds-are-robust": _all({"loss": 0.2}),
    "larger-is-slower": _all({"loss": 0.0, "mean_ns": 1e6}),
    "clouds-are-not-carried": _all({"loss": 0.0}),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUTED_BY)
def test_other_figures_refute(study: Study, name: str) -> None:
    evidence = altered(study, REFUTED_BY[name])
    assert decide(CRITERIA[name](evidence)).said == "refuted"
