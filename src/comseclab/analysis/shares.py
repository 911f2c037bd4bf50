"""Shares of messages (loss, deadline misses), with intervals that know that messages come in trials.

Losses come in bursts and differ between trials, so n messages say less than n independent ones would. The design effect
measures by how much; intervals use the effective n = n / design effect (Rao & Scott 1992; Korn & Graubard 1998).
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from comseclab.analysis.summary import Deadline, Difference

Floats = NDArray[np.float64]
LEVEL = 0.95


def design_effect(hits: Floats, totals: Floats) -> float:
    """Variance of the pooled share between trials over that of as many independent messages; at least 1."""
    n, trials = float(totals.sum()), len(totals)
    if trials < 2 or n == 0:
        return 1.0
    share = float(hits.sum()) / n
    independent = share * (1 - share) / n
    if independent == 0:
        return 1.0
    residuals = hits - share * totals
    return max(1.0, trials / (trials - 1) * float(residuals @ residuals) / n**2 / independent)


def loss_difference(
    baseline_lost: Sequence[int], baseline_sent: Sequence[int], case_lost: Sequence[int], case_sent: Sequence[int]
) -> Difference | None:
    """Loss of the case minus loss of the baseline, counts per trial: Newcombe 1998, method 10 (hybrid score interval).

    Both arms take the greater of their design effects, since few trials may happen to show no burst. None where an arm
    sent nothing.
    """
    arms = [(np.asarray(lost, float), np.asarray(sent, float))
            for lost, sent in ((case_lost, case_sent), (baseline_lost, baseline_sent))]  # fmt: skip
    if any(sent.sum() == 0 for _, sent in arms):
        return None
    freedom = len(baseline_sent) + len(case_sent) - 2
    z = float(stats.t.ppf((1 + LEVEL) / 2, freedom)) if freedom else float(stats.norm.ppf((1 + LEVEL) / 2))
    effect = max(design_effect(lost, sent) for lost, sent in arms)
    (p1, low1, high1), (p2, low2, high2) = (
        _wilson(float(lost.sum() / sent.sum()), float(sent.sum()) / effect, z) for lost, sent in arms
    )
    return Difference(
        estimate=p1 - p2,
        low=p1 - p2 - math.hypot(p1 - low1, high2 - p2),
        high=p1 - p2 + math.hypot(high1 - p1, p2 - low2),
        pairs=min(len(baseline_sent), len(case_sent)),
    )


def _wilson(share: float, n: float, z: float) -> tuple[float, float, float]:
    """The share and Wilson's score interval of n observations."""
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return share, max(0.0, centre - half), min(1.0, centre + half)


def exact_bounds(hits: float, n: float) -> tuple[float, float]:
    """Clopper & Pearson 1934: the 95 % interval of a share; hits and n need not be whole."""
    tail = (1 - LEVEL) / 2
    low = float(stats.beta.ppf(tail, hits, n - hits + 1)) if hits > 0 else 0.0
    high = float(stats.beta.ppf(1 - tail, hits + 1, n - hits)) if hits < n else 1.0
    return low, high


def deadline(limit_ns: int, allowed_share: float, missed: Sequence[int], totals: Sequence[int]) -> Deadline | None:
    """Misses per trial against the allowed share; None without messages.

    Met when the upper bound is at most the allowed share, missed when the lower bound is above it. Exact bounds at the
    effective n, with Korn & Graubard's correction for the few trials the design effect is estimated from.
    """
    hits, sizes = np.asarray(missed, float), np.asarray(totals, float)
    n, trials = float(sizes.sum()), int(np.count_nonzero(sizes))
    if n == 0:
        return None
    share, effect = float(hits.sum()) / n, design_effect(hits, sizes)
    effective = n / effect
    if effect > 1:
        level = (1 + LEVEL) / 2
        effective *= float(stats.t.ppf(level, n - 1) / stats.t.ppf(level, trials - 1)) ** 2
    low, high = exact_bounds(share * effective, effective)
    with_miss = int(np.count_nonzero(hits))
    return Deadline(
        limit_ns=limit_ns, allowed_share=allowed_share, n=int(n), missed=int(hits.sum()), share=share,
        lower_bound=low, upper_bound=high, effective_n=effective, trials=trials, trials_with_miss=with_miss,
        trials_upper_bound=exact_bounds(with_miss, trials)[1],
        verdict="met" if high <= allowed_share else "missed" if low > allowed_share else "not resolved",
    )  # fmt: skip
