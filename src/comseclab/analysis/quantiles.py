"""Quantiles of many observations in little memory, and Tukey's box.

One definition serves everywhere: the p-quantile of n observations is the smallest of them that at least a share p does
not exceed, the order statistic of rank ceil(p n) (type 1 of Hyndman & Fan 1996). It never interpolates, so a lost
message may stand among them as an infinite one.
"""

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from comseclab.analysis.summary import Box, LossAware, LossAwareNs, Quantiles

SIGNIFICANT_BITS = 13
"""Integers below 2^13 have a bucket each; above, a bucket is 2^-12 of its value wide, its middle at most 2^-13 off."""
RELATIVE_ERROR = 2.0**-SIGNIFICANT_BITS
_SHIFT = 52 - (SIGNIFICANT_BITS - 1)
_ORIGIN = (1023 << (52 - _SHIFT)) - 1
_BUCKETS = 63 << (52 - _SHIFT)


def rank(n: int, p: float) -> int:
    """The rank, from 1, of the p-quantile of n observations."""
    return max(1, math.ceil(p * n - 1e-9))


def resolvable(n: int, p: float) -> bool:
    """Whether n observations tell the p-quantile: whether they contain a distribution-free 95 % interval for it.

    The extremes of n observations enclose the quantile unless all lie on one side of it, with chance p^n and (1 - p)^n
    (David & Nagaraja 2003, section 7.1). Each must be at most 2.5 %: n >= 6 for p50, 36 for p90, 368 for p99 and
    3688 for p99.9.
    """
    return p**n <= 0.025 and (1 - p) ** n <= 0.025


def loss_aware_median(latencies: NDArray[np.float64], sent: int) -> float:
    """The exact median of `sent` messages of which `latencies` arrived; infinite when most were lost."""
    if sent == 0 or rank(sent, 0.5) > len(latencies):
        return math.inf
    at = rank(sent, 0.5) - 1
    return float(np.partition(latencies, at)[at])


class Histogram:
    """Counts of nanosecond values in buckets of constant relative width; n, mean, variance and extremes are exact.

    A value's bucket is read from the leading bits of its floating-point form. Quantiles are off by at most 2^-13
    (0.013 %) of their value. It holds any number of observations within +-2^53 ns in constant memory (4 MB).
    """

    def __init__(self) -> None:
        self._counts = np.zeros(2 * _BUCKETS + 1, np.int64)
        self._first, self._last = len(self._counts), -1
        self._cumulative: NDArray[np.int64] | None = None
        self.n = 0
        self.mean = 0.0
        self._squares = 0.0
        self.min = math.inf
        self.max = -math.inf

    def add(self, values: NDArray[np.float64]) -> None:
        """Count whole nanoseconds (half ones are rounded down in buckets, not in mean and extremes)."""
        if not len(values):
            return
        buckets = _bucket(values)
        first = int(buckets.min())
        counts = np.bincount(buckets - first)
        begin, end = first + _BUCKETS, first + _BUCKETS + len(counts)
        self._counts[begin:end] += counts
        self._first, self._last = min(self._first, begin), max(self._last, end - 1)
        self._cumulative = None
        self._add_moments(values)
        self.min = min(self.min, float(values.min()))
        self.max = max(self.max, float(values.max()))

    def _add_moments(self, values: NDArray[np.float64]) -> None:
        """Chan, Golub & LeVeque 1983: join means and sums of squared deviations of two groups."""
        mean = float(values.mean())
        deviations = values - mean
        total = self.n + len(values)
        self._squares += float(deviations @ deviations) + (mean - self.mean) ** 2 * self.n * len(values) / total
        self.mean += (mean - self.mean) * len(values) / total
        self.n = total

    @property
    def sd(self) -> float | None:
        return math.sqrt(self._squares / (self.n - 1)) if self.n > 1 else None

    def at_ranks(self, ranks: NDArray[np.int64]) -> NDArray[np.float64]:
        """Order statistics by rank, from 1 to n."""
        slots = np.searchsorted(self._accumulated(), ranks).astype(np.int64) + self._first
        values = _middle(slots - _BUCKETS).clip(self.min, self.max)
        values[ranks == 1], values[ranks == self.n] = self.min, self.max
        return values

    def quantile(self, p: float) -> float:
        return float(self.at_ranks(np.array([rank(self.n, p)]))[0])

    def beyond(self, limit: float) -> tuple[int, int]:
        """How many observations lie below and above `limit`; those in its own bucket count as neither."""
        slot = int(_bucket(np.array([limit]))[0]) + _BUCKETS
        below, above = self._counts[self._first : slot], self._counts[slot + 1 : self._last + 1]
        return int(below.sum()), int(above.sum())

    def _accumulated(self) -> NDArray[np.int64]:
        """Of the occupied buckets, from the first on."""
        if self._cumulative is None:
            self._cumulative = np.add.accumulate(self._counts[self._first : self._last + 1])
        return self._cumulative


def _bucket(values: NDArray[np.float64]) -> NDArray[np.int64]:
    magnitude = np.abs(values) if values.min() < 0 else values
    buckets: NDArray[np.int64] = np.maximum((magnitude.view(np.int64) >> _SHIFT) - _ORIGIN, 0)
    return buckets if magnitude is values else np.where(values < 0, -buckets, buckets)


def _middle(buckets: NDArray[np.int64]) -> NDArray[np.float64]:
    """The middle of each bucket, among whole nanoseconds."""
    size = np.abs(buckets)
    low = ((size + _ORIGIN) << _SHIFT).view(np.float64)
    high = ((size + 1 + _ORIGIN) << _SHIFT).view(np.float64)
    middle = np.where(size == 0, 0.0, low + np.maximum(high - low - 1, 0) / 2)
    return np.where(buckets < 0, -middle, middle)


def describe(histogram: Histogram) -> Quantiles | None:
    """Description of the observations; None without any."""
    n = histogram.n
    if not n:
        return None
    p50, p90, p99, p999 = (histogram.quantile(p) if resolvable(n, p) else None for p in (0.5, 0.9, 0.99, 0.999))
    return Quantiles(
        n=n, mean=histogram.mean, sd=histogram.sd,
        min=histogram.min, p50=p50, p90=p90, p99=p99, p999=p999, max=histogram.max,
    )  # fmt: skip


def describe_loss_aware(histogram: Histogram, sent: int) -> LossAware:
    """Quantiles over all `sent` messages, those not in `histogram` being infinitely late."""

    def quantile(p: float) -> LossAwareNs:
        if not resolvable(sent, p):
            return None
        lost: Literal["lost"] = "lost"
        return lost if rank(sent, p) > histogram.n else float(histogram.at_ranks(np.array([rank(sent, p)]))[0])

    return LossAware(n=sent, p50=quantile(0.5), p90=quantile(0.9), p99=quantile(0.99), p999=quantile(0.999))


def box(histogram: Histogram) -> Box | None:
    """Tukey's box (Tukey 1977) of the observations that arrived; None without any.

    An observation in the bucket of a fence counts as within it.
    """
    if not histogram.n:
        return None
    q1, median, q3 = (histogram.quantile(p) for p in (0.25, 0.5, 0.75))
    spread = q3 - q1
    low, high = histogram.beyond(q1 - 1.5 * spread)[0], histogram.beyond(q3 + 1.5 * spread)[1]
    severe_low, severe_high = histogram.beyond(q1 - 3 * spread)[0], histogram.beyond(q3 + 3 * spread)[1]
    whiskers = histogram.at_ranks(np.array([low + 1, histogram.n - high]))
    return Box(
        q1=q1, median=median, q3=q3, whisker_low=float(whiskers[0]), whisker_high=float(whiskers[1]),
        mild_low=low - severe_low, mild_high=high - severe_high, severe_low=severe_low, severe_high=severe_high,
    )  # fmt: skip
