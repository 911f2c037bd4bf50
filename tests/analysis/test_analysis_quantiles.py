"""Quantiles, the histogram behind them, Tukey's box."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from comseclab.analysis.quantiles import (
    RELATIVE_ERROR,
    Histogram,
    box,
    describe,
    describe_loss_aware,
    loss_aware_median,
    rank,
    resolvable,
)

nanoseconds = st.lists(st.integers(-(2**45), 2**45), min_size=1, max_size=300)


def histogram(values):
    found = Histogram()
    found.add(np.asarray(values, float))
    return found


@pytest.mark.parametrize(
    ("n", "p", "expected"), [(1, 0.5, 1), (2, 0.5, 1), (3, 0.5, 2), (10, 0.9, 9), (1000, 0.999, 999)]
)
def test_rank_is_that_of_hyndman_and_fan_type_1(n, p, expected):
    assert rank(n, p) == expected
    assert np.quantile(np.arange(1, n + 1), p, method="inverted_cdf") == expected


@pytest.mark.parametrize(("p", "fewest"), [(0.5, 6), (0.9, 36), (0.99, 368), (0.999, 3688)])
def test_fewest_observations_of_a_quantile(p, fewest):
    assert resolvable(fewest, p)
    assert not resolvable(fewest - 1, p)


@given(nanoseconds, st.floats(0, 1))
def test_histogram_quantile_is_the_order_statistic_within_its_error(values, p):
    exact = sorted(values)[rank(len(values), p) - 1]
    assert abs(histogram(values).quantile(p) - exact) <= RELATIVE_ERROR * abs(exact) + 0.5


def test_histogram_error_over_all_ranks():
    values = np.unique(np.geomspace(1, 2**45, 20_001).round())
    found = histogram(values).at_ranks(np.arange(1, len(values) + 1))
    assert np.abs(found / values - 1).max() <= RELATIVE_ERROR


@given(st.lists(st.integers(-8191, 8191), min_size=1, max_size=50), st.floats(0, 1))
def test_small_values_are_exact(values, p):
    assert histogram(values).quantile(p) == sorted(values)[rank(len(values), p) - 1]


@given(nanoseconds, nanoseconds)
def test_moments_of_two_groups_are_those_of_their_union(first, second):
    joined = histogram(first)
    joined.add(np.asarray(second, float))
    union = np.array(first + second, float)
    scale = np.abs(union).max() + 1
    assert joined.n == len(union)
    assert joined.mean == pytest.approx(union.mean(), abs=1e-9 * scale)
    assert joined.sd == pytest.approx(union.std(ddof=1), rel=1e-6, abs=1e-6 * scale)
    assert (joined.min, joined.max) == (union.min(), union.max())
    assert joined.quantile(0.5) == histogram(union).quantile(0.5)


def test_description_by_hand():
    found = describe(histogram(range(1, 1001)))
    assert found is not None
    assert (found.n, found.mean, found.min, found.max) == (1000, 500.5, 1, 1000)
    assert found.sd == pytest.approx(math.sqrt(1000 * 1001 / 12))
    assert (found.p50, found.p90, found.p99, found.p999) == (500, 900, 990, None)


def test_description_of_one_and_of_none():
    one = describe(histogram([7]))
    assert one is not None
    assert (one.n, one.mean, one.sd, one.min, one.p50, one.max) == (1, 7, None, 7, None, 7)
    assert describe(Histogram()) is None
    assert box(Histogram()) is None


def test_lost_messages_are_infinitely_late():
    arrived = histogram(range(1, 61))
    found = describe_loss_aware(arrived, sent=100)
    assert (found.n, found.p50, found.p90, found.p99) == (100, 50, "lost", None)
    assert describe_loss_aware(arrived, sent=120).p50 == 60
    assert describe_loss_aware(arrived, sent=121).p50 == "lost"
    assert describe_loss_aware(Histogram(), sent=100).p50 == "lost"
    assert describe_loss_aware(Histogram(), sent=0).p50 is None


@pytest.mark.parametrize(
    ("latencies", "sent", "expected"),
    [
        ([3, 1, 2], 3, 2),
        ([3, 1, 2], 4, 2),
        ([3, 1, 2], 6, 3),
        ([3, 1, 2], 7, math.inf),
        ([], 5, math.inf),
        ([], 0, math.inf),
    ],
)
def test_loss_aware_median_by_hand(latencies, sent, expected):
    assert loss_aware_median(np.array(latencies, float), sent) == expected


def test_box_by_hand():
    # Quartiles 300, 600, 900; fences at -600 and 1800, severe ones at -1500 and 2700.
    values = [-1501, 200, 300, 400, 500, 600, 700, 800, 900, 1800, 1801, 2701]
    found = box(histogram(values))
    assert found is not None
    assert (found.q1, found.median, found.q3) == (300, 600, 900)
    assert (found.whisker_low, found.whisker_high) == (200, 1800)
    assert (found.mild_low, found.mild_high, found.severe_low, found.severe_high) == (0, 1, 1, 1)


@given(nanoseconds)
def test_box_is_ordered_and_counts_what_lies_beyond_it(values):
    found = box(histogram(values))
    assert found is not None
    assert found.whisker_low <= found.q1 <= found.median <= found.q3 <= found.whisker_high
    outside = found.mild_low + found.mild_high + found.severe_low + found.severe_high
    assert outside <= len(values) / 2
    assert histogram(values).quantile(0) >= min(values)
