"""When a comparison has enough pairs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from comseclab.analysis.compare import Interval, nominal_level, ratio_interval


@dataclass(frozen=True)
class Decision:
    """Whether to stop, and why; the interval as it stands."""

    stop: bool
    reason: Literal["too few pairs", "not precise yet", "precise", "all pairs used", "no ratio: lost"]
    interval: Interval | None


def enough(pair_ratios: Sequence[float], precision: float = 0.1, min_pairs: int = 5, max_pairs: int = 30) -> Decision:
    """Stop once the ratio's interval lies within a factor 1 +- `precision` of the estimate, or after `max_pairs`.

    `pair_ratios` as `compare.pair_ratios` gives them. Where every pair so far has an infinite median, further ones
    would not give a ratio, and it stops at `min_pairs`.
    """
    ratios = np.asarray(pair_ratios, float)
    interval = ratio_interval(ratios, nominal_level(min_pairs, max_pairs))
    if len(ratios) >= max_pairs:
        return Decision(True, "all pairs used", interval)
    if len(ratios) < min_pairs:
        return Decision(False, "too few pairs", interval)
    if not (np.isfinite(ratios) & (ratios > 0)).any():
        return Decision(True, "no ratio: lost", interval)
    if interval is None or interval.low is None or interval.high is None:
        return Decision(False, "not precise yet", interval)
    least, most = interval.estimate * (1 - precision), interval.estimate * (1 + precision)
    within = least <= interval.low and interval.high <= most
    return Decision(within, "precise" if within else "not precise yet", interval)
