"""Ratios, verdicts, stopping, shares, deadline, breakdown: known answers and hard cases."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from comseclab.analysis.breakdown import PASSES, breakdown, cipher_pass_ns
from comseclab.analysis.compare import (
    FIXED,
    STOPPED,
    compare,
    difference,
    mean_interval,
    nominal_level,
    pair_ratios,
    ratio_estimate,
    verdict,
)
from comseclab.analysis.shares import deadline, design_effect, exact_bounds, loss_difference
from comseclab.analysis.stop import enough
from comseclab.middleware.registry import MIDDLEWARES

INF = math.inf
medians = st.lists(st.tuples(st.floats(1e3, 1e10), st.floats(1e3, 1e10)), min_size=2, max_size=30)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.95, 1.05, "equivalent"), (1 / 1.1, 1.1, "equivalent"), (1.02, 1.05, "equivalent"),
        (1.02, 1.2, "more"), (0.5, 0.95, "less"), (0.9, 1.05, "not resolved"), (0.95, 1.11, "not resolved"),
        (1.0, 1.2, "not resolved"), (2.0, INF, "more"),
    ],
)  # fmt: skip
def test_verdicts_of_rule_9(low, high, expected):
    assert verdict(low, high, 0.1) == expected


def test_mean_interval_by_hand():
    # Mean 3, sd sqrt(2.5), t(0.975, 4) = 2.7764: half width 2.7764 * sqrt(2.5 / 5) = 1.9632.
    found = mean_interval(np.arange(1.0, 6.0), 0.95)
    assert (found.estimate, found.low, found.high) == pytest.approx((3, 1.0368, 4.9632), abs=1e-4)


def test_ratio_by_hand():
    found = compare([100, 100, 100], [100, 200, 400], 0.1, FIXED)
    half = math.log(2) * 4.302653 / math.sqrt(3)
    assert (found.median, found.low, found.high) == pytest.approx(
        (2, 2 * math.exp(-half), 2 * math.exp(half)), rel=1e-6
    )
    assert (found.pairs, found.lost_pairs, found.method) == (3, 0, "t")


def test_identical_arms_are_equivalent():
    found = compare([3e5] * 5, [3e5] * 5, 0.1, STOPPED)
    assert (found.median, found.low, found.high, found.verdict) == (1, 1, 1, "equivalent")


@given(medians)
def test_swapping_the_arms_inverts_the_ratio(pairs):
    one, other = (list(side) for side in zip(*pairs, strict=True))
    there, back = compare(one, other, 0.1, STOPPED), compare(other, one, 0.1, STOPPED)
    assert there.median == pytest.approx(1 / back.median, rel=1e-9)
    assert there.low == pytest.approx(1 / back.high, rel=1e-9)
    assert {"more": "less", "less": "more"}.get(there.verdict, there.verdict) == back.verdict


def test_one_pair_has_a_ratio_without_a_verdict():
    found = compare([100], [150], 0.1, STOPPED)
    assert (found.median, found.low, found.verdict, found.method) == (1.5, None, "not resolved", "none")
    assert difference([100], [150], STOPPED) is None


@pytest.mark.parametrize(
    ("baseline", "case"),
    [([100.0] * 5, [INF] * 5), ([INF] * 5, [100.0] * 5), ([INF] * 5, [INF] * 5), ([1.0] * 6, [1.0] * 3 + [INF] * 3)],
)
def test_no_ratio_where_most_was_lost(baseline, case):
    found = compare(baseline, case, 0.1, STOPPED)
    assert (found.median, found.low, found.high, found.verdict, found.method) == (None, None, None, "lost", "none")
    assert found.lost_pairs >= 3
    assert difference(baseline, case, STOPPED) is None


def test_few_infinite_ratios_leave_an_interval_between_order_statistics():
    # 10 pairs, binomial(10, 1/2): second smallest to second largest has 97.9 %.
    case = [2.0, 2.1, 2.2, 2.3, 2.4, 2.5, 2.6, 2.7, INF, INF]
    found = compare([1.0] * 10, case, 0.1, STOPPED)
    assert (found.median, found.low, found.high) == (2.4, 2.1, None)
    assert (found.verdict, found.lost_pairs, found.method) == ("more", 2, "order statistics")
    many = compare([1.0] * 10, [2.0, 2.1, 2.2, 2.3, 2.4, 2.5, INF, INF, INF, INF], 0.1, STOPPED)
    assert (many.median, many.low, many.verdict) == (2.4, 2.1, "more")
    few = compare([1.0] * 5, [2.0, 2.0, 2.0, 2.0, INF], 0.1, STOPPED)
    assert (few.median, few.low, few.verdict) == (2, None, "not resolved")


def test_pair_ratios_of_infinite_medians():
    assert np.array_equal(pair_ratios([1, 1, INF, INF], [2, INF, 1, INF]), [2, INF, 0, math.nan], equal_nan=True)


def test_no_ratio_of_nothing_used():
    assert ratio_estimate([0, 0, 0], [1, 1, 1], STOPPED) is None


def test_the_stopping_rule_asks_for_a_wider_interval():
    ratios = [1.5, 1.52, 1.48, 1.5, 1.51]
    stopped, fixed = enough(ratios, max_pairs=30).interval, enough(ratios, max_pairs=5).interval
    assert (nominal_level(5, 30), nominal_level(5, 5)) == (0.965, 0.95)
    assert stopped.high / stopped.estimate == pytest.approx(
        (fixed.high / fixed.estimate) ** (3.1354747 / 2.7764), rel=1e-5
    )


def test_stopping():
    precise, coarse = [1.5, 1.52, 1.48, 1.5, 1.51], [1.0, 2.0, 1.5, 0.7, 3.0]
    assert enough(precise[:4]).reason == "too few pairs"
    assert (enough(precise).stop, enough(precise).reason) == (True, "precise")
    assert (enough(coarse).stop, enough(coarse).reason) == (False, "not precise yet")
    assert (enough(coarse * 6).stop, enough(coarse * 6).reason) == (True, "all pairs used")
    assert (enough(precise, precision=0.001).stop, enough([INF] * 5).reason) == (False, "no ratio: lost")
    assert enough([math.nan] * 5).reason == "no ratio: lost"
    assert enough([]).stop is False


@given(st.lists(st.floats(0.5, 2), min_size=5, max_size=29), st.floats(0.01, 0.5))
def test_stops_only_within_the_precision(ratios, precision):
    found = enough(ratios, precision)
    within = found.interval.high <= found.interval.estimate * (1 + precision) * (1 + 1e-12)
    assert not found.stop or within


def test_difference_of_loss_is_newcombes():
    # Newcombe 1998 (Statistics in Medicine 17, 873), table II, example (a): 56/70 against 48/80, method 10.
    found = loss_difference([48], [80], [56], [70])
    assert found is not None
    assert (found.estimate, found.low, found.high) == pytest.approx((0.2, 0.0524, 0.3339), abs=5e-5)
    assert loss_difference([0], [0], [1], [10]) is None


def test_losses_that_come_in_bursts_widen_the_interval():
    even = loss_difference([0] * 5, [1000] * 5, [10] * 5, [1000] * 5)
    bursts = loss_difference([0] * 5, [1000] * 5, [50, 0, 0, 0, 0], [1000] * 5)
    assert even is not None
    assert bursts is not None
    assert even.estimate == bursts.estimate == 0.01
    assert bursts.low < 0 < even.low
    assert bursts.high > even.high


def test_design_effect_by_hand():
    # All hits in one of two trials of 100: residuals +-50, variance 2 * 5000 / 200^2 = 1/4; independent: 1/4 / 200.
    assert design_effect(np.array([100.0, 0.0]), np.array([100.0, 100.0])) == pytest.approx(200)
    assert design_effect(np.array([10.0, 10.0]), np.array([100.0, 100.0])) == 1


def test_exact_bounds_are_clopper_and_pearsons():
    assert exact_bounds(0, 10) == pytest.approx((0, 0.30850), abs=1e-5)
    assert exact_bounds(5, 10) == pytest.approx((0.18709, 0.81291), abs=1e-5)
    assert exact_bounds(10, 10) == pytest.approx((0.69150, 1), abs=1e-5)


def test_deadline_verdicts():
    met = deadline(10, 0.001, [0] * 10, [1000] * 10)
    assert met is not None
    assert (met.verdict, met.upper_bound, met.effective_n) == ("met", pytest.approx(1 - 0.025 ** (1 / 10000)), 10000)
    assert (met.trials, met.trials_with_miss) == (10, 0)
    assert met.trials_upper_bound == pytest.approx(0.30850, abs=1e-5)
    missed = deadline(10, 0.001, [20] * 10, [1000] * 10)
    assert missed is not None
    assert (missed.verdict, missed.share) == ("missed", 0.02)
    burst = deadline(10, 0.01, [200] + [0] * 9, [1000] * 10)
    assert burst is not None
    assert (burst.verdict, burst.trials_with_miss) == ("not resolved", 1)
    # Design effect 10/9 * 36000 / 10000^2 / (0.02 * 0.98 / 10000) = 204.08; t(9999) and t(9) are 1.96020 and 2.26216.
    assert burst.effective_n == pytest.approx(10000 / 204.0816 * (1.96020 / 2.26216) ** 2, rel=1e-4)
    assert deadline(10, 0.01, [], []) is None
    everything = deadline(10, 0.01, [10, 10], [10, 10])
    assert everything is not None
    assert (everything.verdict, everything.upper_bound) == ("missed", 1)


def test_one_trial_with_misses_tells_little():
    single = deadline(10, 0.5, [5], [100])
    assert single is not None
    assert single.lower_bound <= 0.05 <= single.upper_bound


def test_passes_of_every_built_in_protection_are_known():
    assert {name for stack in MIDDLEWARES.values() for name in stack.protections} == set(PASSES)


def test_breakdown_adds_up():
    floor = {"sizes": {"1000": {"seal_ns": 500, "open_ns": 500}, "9000": {"seal_ns": 2500, "open_ns": 2500}}}
    assert cipher_pass_ns(floor, 5000) == 3000
    found = breakdown(100_000, 2_000, ("none", "sros2-default"), 5000, floor, (9000.0, 9172.0), 1_000_000_000)
    assert (found.passes, found.cipher_floor_ns, found.extra_bytes, found.extra_bytes_ns) == (3, 9000, 172, 1376)
    assert found.rest_ns == 100_000 - 2_000 - 9_000 - 1_376
    unknown = breakdown(100_000, 2_000, ("none", "my-own"), 5000, floor, (None, 1.0), 0)
    assert (unknown.cipher_floor_ns, unknown.extra_bytes_ns, unknown.rest_ns) == (None, None, 98_000)
    assert cipher_pass_ns({}, 5000) is None
