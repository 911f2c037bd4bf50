"""A conclusion is as many checks as it names cells; each holds, fails, or is not resolved by the evidence."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from comseclab.literature.evidence import Evidence, Range
from comseclab.literature.study import Key
from comseclab.report import units

Said = Literal["confirmed", "refuted", "changed", "not resolved"]

CARRIED = 0.10
"""A cell carries its stream when it loses at most this share: the study calls 5 % carried and 37 % not."""
LOST = 0.50
"""A cell loses its stream when it loses at least this share."""
REAL_TIME_NS = 100e6
"""One period at 10 Hz, the slower of the two rates the study marks as real time."""
RESOLVED_SHARE = 0.5
"""Of the checks, so that a few cells do not speak for many."""


@dataclass(frozen=True)
class Check:
    """One comparison with its figures in words; `holds` is None where it is not resolved."""

    cells: tuple[Key, ...]
    asks: str
    holds: bool | None
    figures: str


@dataclass(frozen=True)
class Verdict:
    """What the checks say together.

    Confirmed or refuted when all resolved checks agree, and at least half of all are resolved; changed when some hold
    and some fail; else not resolved.
    """

    said: Said
    checks: Sequence[Check]

    @property
    def hold(self) -> int:
        return sum(check.holds is True for check in self.checks)

    @property
    def fail(self) -> int:
        return sum(check.holds is False for check in self.checks)


def decide(checks: Iterable[Check | None]) -> Verdict:
    """The verdict of all checks; None stands for what cannot be asked, since both cells lost their streams."""
    asked = [check for check in checks if check is not None]
    hold = sum(check.holds is True for check in asked)
    fail = sum(check.holds is False for check in asked)
    if hold and fail:
        return Verdict("changed", asked)
    if not asked or hold + fail < RESOLVED_SHARE * len(asked):
        return Verdict("not resolved", asked)
    return Verdict("confirmed" if hold else "refuted", asked)


def carries(evidence: Evidence, cell: Key) -> Check:
    """At most a tenth of the messages is lost."""
    return _of_loss(evidence, cell, "carried", lambda loss: loss.at_most(CARRIED))


def not_carried(evidence: Evidence, cell: Key) -> Check:
    """More than a tenth of the messages is lost."""
    return _of_loss(evidence, cell, "not carried", lambda loss: _negated(loss.at_most(CARRIED)))


def loses(evidence: Evidence, cell: Key) -> Check:
    """At least half of the messages is lost."""
    return _of_loss(evidence, cell, "lost", lambda loss: loss.at_least(LOST))


def loses_at_most(evidence: Evidence, cell: Key, share: float) -> Check:
    """At most this share of the messages is lost."""
    return _of_loss(evidence, cell, f"loses at most {units.percent(share)} %", lambda loss: loss.at_most(share))


def _of_loss(evidence: Evidence, cell: Key, asks: str, holds: Callable[[Range], bool | None]) -> Check:
    loss = evidence.loss(cell)
    return Check((cell,), asks, holds(loss) if loss else None, loss_text(loss))


def usable(evidence: Evidence, cell: Key) -> Check:
    """Carried, with a median of at most one period at 10 Hz."""
    loss, median = evidence.loss(cell), evidence.median_ns(cell)
    if loss is None or median is None:
        return Check((cell,), "usable", None, "not measured")
    holds = _both(loss.at_most(CARRIED), median.at_most(REAL_TIME_NS))
    return Check((cell,), "usable", holds, f"{loss_text(loss)}, median {time_text(median)}")


def unusable(evidence: Evidence, cell: Key) -> Check:
    """The opposite of usable."""
    found = usable(evidence, cell)
    return Check(found.cells, "not usable", _negated(found.holds), found.figures)


def in_real_time(evidence: Evidence, cell: Key) -> Check:
    """The median over all messages is at most one period at 10 Hz."""
    median = evidence.median_ns(cell)
    holds = median.at_most(REAL_TIME_NS) if median else None
    return Check((cell,), "within 100 ms", holds, f"median {time_text(median)}")


def ratio_at_most(evidence: Evidence, base: Key, cell: Key, limit: float) -> Check | None:
    """The latency of `cell` is at most `limit` times that of `base`."""
    return _of_ratio(evidence, base, cell, f"at most {limit:g}×", lambda ratio: ratio.at_most(limit))


def ratio_above(evidence: Evidence, base: Key, cell: Key, limit: float) -> Check | None:
    """The latency of `cell` is more than `limit` times that of `base`."""
    return _of_ratio(evidence, base, cell, f"above {limit:g}×", lambda ratio: _negated(ratio.at_most(limit)))


def ratio_within(evidence: Evidence, base: Key, cell: Key, factor: float) -> Check | None:
    """Neither is more than `factor` times as slow as the other."""
    return _of_ratio(
        evidence, base, cell, f"within {factor:g}× either way",
        lambda ratio: _both(ratio.at_most(factor), ratio.at_least(1 / factor)),
    )  # fmt: skip


def _of_ratio(
    evidence: Evidence, base: Key, cell: Key, asks: str, holds: Callable[[Range], bool | None]
) -> Check | None:
    ratio = evidence.ratio(base, cell)
    if ratio is None and _measured(evidence, base, cell):
        return None
    return Check((base, cell), asks, holds(ratio) if ratio else None, ratio_text(ratio))


def gap_shrinks(evidence: Evidence, near: tuple[Key, Key], far: tuple[Key, Key]) -> Check | None:
    """The second ratio (base, cell) is below the first; None where a cell lost its stream.

    Not resolved where one did so at times only: a gap that is 0 or infinite in some trials has no size.
    """
    first, second = evidence.ratio(*near), evidence.ratio(*far)
    if _lost(evidence, near, first) or _lost(evidence, far, second):
        return None
    holds = None
    if first and second and all(ratio.low > 0 and ratio.high < math.inf for ratio in (first, second)):
        holds = True if second.high < first.low else False if second.low >= first.high else None
    return Check((*near, *far), "gap shrinks", holds, f"{ratio_text(first)} → {ratio_text(second)}")


def _lost(evidence: Evidence, pair: tuple[Key, Key], ratio: Range | None) -> bool:
    """Whether one of the pair, or both, lost the stream in every trial."""
    return _measured(evidence, *pair) if ratio is None else math.isinf(ratio.low) or ratio.high == 0


def _measured(evidence: Evidence, *cells: Key) -> bool:
    return all(evidence.loss(cell) for cell in cells)


def same_loss(evidence: Evidence, base: Key, cell: Key) -> Check:
    """The losses of both differ by at most a tenth of the messages."""
    below, above = evidence.loss(base), evidence.loss(cell)
    if below is None or above is None:
        return Check((base, cell), "same loss", None, "not measured")
    low, high = above.low - below.high, above.high - below.low
    holds = True if low >= -CARRIED and high <= CARRIED else False if low > CARRIED or high < -CARRIED else None
    return Check((base, cell), "same loss", holds, f"{loss_text(below)} → {loss_text(above)}")


def loses_less(evidence: Evidence, cells: Sequence[Key], than: Key) -> Check:
    """At least one of `cells` loses less than `than` does."""
    losses, limit = [evidence.loss(cell) for cell in cells], evidence.loss(than)
    if limit is None or any(loss is None for loss in losses):
        return Check((*cells, than), "one loses less", None, "not measured")
    known = [loss for loss in losses if loss]
    some = any(loss.high < limit.low for loss in known)
    none = all(loss.low >= limit.high for loss in known)
    figures = f"{', '.join(loss_text(loss) for loss in known)}; beside {loss_text(limit)}"
    return Check((*cells, than), "one loses less", True if some else False if none else None, figures)


def loses_more(evidence: Evidence, cell: Key, than: Key) -> Check:
    """`cell` loses at least as much as `than` does."""
    found = loses_less(evidence, [cell], than)
    return Check(found.cells, "loses as much or more", _negated(found.holds), found.figures)


def any_of(checks: Sequence[Check], asks: str) -> Check:
    """At least one of the checks holds."""
    every = [check.holds for check in checks]
    holds = True if True in every else None if None in every else False
    cells = tuple(cell for check in checks for cell in check.cells)
    return Check(cells, asks, holds, "; ".join(check.figures for check in checks))


def _both(first: bool | None, second: bool | None) -> bool | None:
    if first is False or second is False:
        return False
    return None if first is None or second is None else True


def _negated(holds: bool | None) -> bool | None:
    return None if holds is None else not holds


def loss_text(loss: Range | None) -> str:
    """`0 % lost`, or from the least to the most of the trials."""
    if loss is None:
        return "not measured"
    if loss.unknown:
        return loss.unknown
    ends = dict.fromkeys(units.percent(end) for end in (loss.low, loss.high))
    return f"{' to '.join(ends)} % lost"


def time_text(median: Range | None) -> str:
    """`1.2 ms to 1.4 ms`."""
    if median is None:
        return "not measured"
    if math.isinf(median.low):
        return "never: most is lost"
    if median.unknown:
        return median.unknown
    if math.isinf(median.high):
        return "not resolved" if median.low == 0 else f"{units.duration(median.low)} or more: most was lost at times"
    return " to ".join(dict.fromkeys(units.duration(end) for end in (median.low, median.high)))


def ratio_text(ratio: Range | None) -> str:
    """`1.36× to 1.49×`."""
    if ratio is None:
        return "not measured"
    if math.isinf(ratio.low):
        return "only the second lost most"
    if ratio.high == 0:
        return "only the first lost most"
    if math.isinf(ratio.high):
        return ratio.unknown or "not resolved"
    return " to ".join(dict.fromkeys(f"{units.ratio(end)}×" for end in (ratio.low, ratio.high)))
