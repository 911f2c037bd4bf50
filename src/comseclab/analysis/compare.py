"""Comparing a case with its baseline over trial pairs: ratio, verdict, differences, each with its interval.

The trials of a pair ran side by side, so what they share (a warm machine, a neighbour) cancels in their ratio. Pairs
are independent of each other; messages within a trial are not, so intervals rest on pairs alone.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from comseclab.analysis.summary import Difference, Estimate, Ratio, Verdict

Floats = NDArray[np.float64]

FIXED, STOPPED = 0.95, 0.965
"""Nominal levels of intervals over pairs, for a number of pairs fixed beforehand and under the stopping rule. A rule
that stops once the interval is narrow favours samples whose spread came out small; at nominal 96.5 % the interval then
covers about 95 % (benchmarks/analysis/truth.py)."""


@dataclass(frozen=True)
class Interval:
    """An estimate and its interval; low and high are None where the data allow none."""

    estimate: float
    low: float | None
    high: float | None
    method: Literal["t", "order statistics", "none"]


def pair_ratios(baseline: Sequence[float], case: Sequence[float]) -> Floats:
    """case / baseline per pair of loss-aware medians; infinite or 0 where one is infinite, NaN where both are."""
    below, above = np.asarray(baseline, float), np.asarray(case, float)
    ratios = np.full(len(below), np.nan)
    known = ~(np.isinf(below) & np.isinf(above)) & (below > 0)
    ratios[known] = above[known] / below[known]
    return ratios


def nominal_level(min_pairs: int, max_pairs: int) -> float:
    """The level for a campaign of `min_pairs` to `max_pairs` pairs."""
    return FIXED if min_pairs == max_pairs else STOPPED


def mean_interval(values: Floats, level: float) -> Interval:
    """Mean and Student's t interval of independent values."""
    n, mean = len(values), float(values.mean())
    if n < 2:
        return Interval(mean, None, None, "none")
    half = float(stats.t.ppf((1 + level) / 2, n - 1)) * float(values.std(ddof=1)) / math.sqrt(n)
    return Interval(mean, mean - half, mean + half, "t")


def ratio_interval(ratios: Floats, level: float) -> Interval | None:
    """The ratio over pairs: geometric mean and t interval of the logarithms; None where most pairs have no finite one.

    Where some ratios are infinite or zero (one arm of the pair lost more than half), the median of the ratios and its
    distribution-free interval between order statistics instead.
    """
    if (
        not len(ratios)
        or 2 * np.count_nonzero(~(np.isfinite(ratios) & (ratios > 0))) >= len(ratios)
        or np.isnan(ratios).any()
    ):
        return None
    if not np.isfinite(ratios).all() or (ratios <= 0).any():
        return _order_interval(np.sort(ratios), level)
    logs = mean_interval(np.log(ratios), level)
    if logs.low is None or logs.high is None:
        return Interval(math.exp(logs.estimate), None, None, "none")
    return Interval(math.exp(logs.estimate), math.exp(logs.low), math.exp(logs.high), "t")


def _order_interval(ordered: Floats, level: float) -> Interval:
    """Hahn & Meeker 1991, section 5.2: from the k-th smallest to the k-th largest."""
    n = len(ordered)
    median = float(ordered[math.ceil(n / 2) - 1])
    k = int(stats.binom.ppf((1 - level) / 2, n, 0.5))
    if k < 1:
        return Interval(median, None, None, "none")
    return Interval(median, float(ordered[k - 1]), float(ordered[n - k]), "order statistics")


def verdict(low: float, high: float, tolerance: float) -> Verdict:
    """Rule 9: equivalence by an interval within the tolerance (Schuirmann 1987), else more, less or not resolved."""
    if low >= 1 / (1 + tolerance) and high <= 1 + tolerance:
        return "equivalent"
    if low > 1:
        return "more"
    return "less" if high < 1 else "not resolved"


def compare(baseline: Sequence[float], case: Sequence[float], tolerance: float, level: float) -> Ratio:
    """The ratio of loss-aware medians over pairs, with its verdict."""
    ratios = pair_ratios(baseline, case)
    pairs, lost = len(ratios), int(np.count_nonzero(np.isinf(baseline) | np.isinf(case)))
    found = ratio_interval(ratios, level)

    def result(said: Verdict, low: float | None, high: float | None) -> Ratio:
        return Ratio(
            median=found.estimate if found else None, low=low, high=high, verdict=said, pairs=pairs,
            lost_pairs=lost, tolerance=tolerance, method=found.method if found else "none",
        )  # fmt: skip

    if found is None:
        return result("lost" if lost else "not resolved", None, None)
    if found.low is None or found.high is None:
        return result("not resolved", None, None)
    high = found.high if math.isfinite(found.high) else None
    return result(verdict(found.low, found.high, tolerance), found.low, high)


def difference(baseline: Sequence[float], case: Sequence[float], level: float) -> Difference | None:
    """Mean of the pairs' differences of loss-aware medians; None where one is infinite or there are too few pairs."""
    values = np.asarray(case, float), np.asarray(baseline, float)
    if len(baseline) < 2 or not (np.isfinite(values[0]).all() and np.isfinite(values[1]).all()):
        return None
    found = mean_interval(values[0] - values[1], level)
    if found.low is None or found.high is None:
        return None
    return Difference(estimate=found.estimate, low=found.low, high=found.high, pairs=len(baseline))


def ratio_estimate(baseline: Sequence[float], case: Sequence[float], level: float) -> Estimate | None:
    """A ratio of positive quantities over pairs, such as CPU time; None where it does not exist."""
    ratios = pair_ratios(baseline, case)
    found = ratio_interval(ratios, level)
    if found is None or found.method != "t" or found.low is None or found.high is None:
        return None
    return Estimate(estimate=found.estimate, low=found.low, high=found.high, pairs=len(ratios))
