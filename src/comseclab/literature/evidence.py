"""What may be said of a cell: from published figures, which are single numbers, or from our trials, as intervals.

The same criteria are applied to both, so that a reader sees whether the published figures themselves bear a conclusion
out.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from comseclab.analysis import compare
from comseclab.literature.study import Key, Published
from comseclab.report import units
from comseclab.report.arms import Arm

MOST = 0.5
"""Of the messages: where more than this share is lost, the typical message never arrives."""


@dataclass(frozen=True)
class Range:
    """A quantity known to lie between two bounds; both infinite where more than half of the messages were lost."""

    low: float
    high: float
    unknown: str = ""
    """Why no more is known than these bounds, in words; empty where the quantity was measured."""

    def at_most(self, limit: float) -> bool | None:
        """Whether it is; None where the range does not tell."""
        return True if self.high <= limit else False if self.low > limit else None

    def at_least(self, limit: float) -> bool | None:
        """Whether it is; None where the range does not tell."""
        return True if self.low >= limit else False if self.high < limit else None


UNKNOWN = Range(0.0, math.inf)
"""Of a latency or a ratio of which trials tell nothing."""
SINGLE = Range(0.0, 1.0, "loss not resolved")
"""Of a loss: one trial tells nothing of the next."""
OVERLOADED = Range(0.0, math.inf, "overloaded, and its rounds too short to tell")


class Evidence(Protocol):
    """Every answer is None where the cell was not measured."""

    def loss(self, cell: Key) -> Range | None: ...
    def median_ns(self, cell: Key) -> Range | None: ...
    def ratio(self, base: Key, cell: Key) -> Range | None:
        """Latency of `cell` over that of `base`; None also where both lost most."""
        ...


@dataclass(frozen=True)
class FromStudy:
    """A study prints the mean of what arrived; where most was lost, that says nothing of the typical message."""

    cells: Mapping[Key, Published]

    def loss(self, cell: Key) -> Range | None:
        found = self.cells.get(cell)
        return Range(found.loss, found.loss) if found else None

    def median_ns(self, cell: Key) -> Range | None:
        found = self.cells.get(cell)
        if found is None:
            return None
        value = math.inf if found.mean_ns is None or found.loss > MOST else found.mean_ns
        return Range(value, value)

    def ratio(self, base: Key, cell: Key) -> Range | None:
        below, above = self.median_ns(base), self.median_ns(cell)
        if below is None or above is None or (math.isinf(below.low + above.low) and below.low == above.low):
            return None
        value = above.low / below.low
        return Range(value, value)


@dataclass(frozen=True)
class FromTrials:
    """Our own. Loss: from the least to the most of the trials, since a single one tells nothing of the next.
    Latency: 95 % intervals over trials, of pairs for ratios.

    Pairs are trials of the same pass of the campaign; within a pass every cell runs once, in random order.

    `unsettled` cells are overloaded, and their rounds were too short to show how they stay; their numbers are the least
    shares of messages lost in the long run, as the link has no rate for them.
    """

    arms: Mapping[Key, Arm]
    unsettled: Mapping[Key, float] = field(default_factory=dict)

    def loss(self, cell: Key) -> Range | None:
        losses = [trial.loss for trial in self.arms[cell].charts.trials] if cell in self.arms else []
        if not losses:
            return None
        if cell in self.unsettled:
            least = self.unsettled[cell]
            return Range(
                least, 1.0, f"at least {units.percent(least)} % lost in the long run" if least else OVERLOADED.unknown
            )
        return Range(min(losses), max(losses)) if len(losses) > 1 else SINGLE

    def median_ns(self, cell: Key) -> Range | None:
        medians = list(self._medians(cell).values())
        if medians and cell in self.unsettled:
            return Range(math.inf, math.inf) if self.unsettled[cell] > MOST else OVERLOADED
        if len(medians) < 2:
            return UNKNOWN if medians else None
        if any(math.isinf(value) for value in medians):
            return Range(min(medians), math.inf)
        return _interval(np.array(medians))

    def ratio(self, base: Key, cell: Key) -> Range | None:
        below, above = self._medians(base), self._medians(cell)
        if not below or not above:
            return None
        if self.unsettled.keys() & {base, cell}:
            both_lose = all(self.unsettled.get(one, 0.0) > MOST for one in (base, cell))
            return None if both_lose else OVERLOADED
        pairs = sorted(below.keys() & above.keys())
        if len(pairs) < 2:
            return UNKNOWN
        ratios = compare.pair_ratios([below[pair] for pair in pairs], [above[pair] for pair in pairs])
        if np.isnan(ratios).all():
            return None
        if np.isinf(ratios).all() or (ratios == 0).all():
            return Range(float(ratios[0]), float(ratios[0]))
        return _interval(ratios)

    def _medians(self, cell: Key) -> dict[int, float]:
        """By pair, the trials' medians over all messages sent."""
        if cell not in self.arms:
            return {}
        return {
            trial.pair: math.inf if trial.median_ns is None else trial.median_ns
            for trial in self.arms[cell].charts.trials
        }


def _interval(values: compare.Floats) -> Range:
    found = compare.ratio_interval(values, compare.FIXED)
    if found is None or found.low is None or found.high is None:
        return UNKNOWN
    return Range(found.low, found.high)
