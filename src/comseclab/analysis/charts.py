"""What charts draw: reductions of the samples, small whatever their number."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from comseclab.analysis.quantiles import Histogram
from comseclab.analysis.summary import Box, Part

Floats = NDArray[np.float64]
DRAWN_OUTLIERS = 200
ECDF_SHARES = np.concatenate([np.linspace(0, 1, 249), np.logspace(-6, -2.5, 100), 1 - np.logspace(-2.5, -7, 150)])


class Ecdf(Part):
    """At most 500 points of the distribution of latency over all messages sent: it ends at 1 - loss."""

    latency_ns: list[float]
    share: list[float]


class Outliers(Part):
    """Values beyond the whiskers of the box; at most 200 are drawn, the extremes among them."""

    drawn_ns: list[float]
    total: int


class OverTime(Part):
    """Latency over time, in bins; each keeps its smallest and largest value (null: nothing arrived) and its losses.

    A message never begun has no time, so it is not among these losses.
    """

    trial: list[int] = Field(default_factory=list, description="its number")
    time_s: list[float] = Field(default_factory=list, description="begin of the bin since the round's first message")
    low_ns: list[float | None] = Field(default_factory=list)
    high_ns: list[float | None] = Field(default_factory=list)
    lost: list[int] = Field(default_factory=list)


class TrialPoint(Part):
    """One trial's loss-aware median (null: more than half lost) and loss."""

    number: int
    pair: int
    median_ns: float | None
    loss: float


class LinkPoint(Part):
    """One direction of a link as the probes found it, means over the trials of the case."""

    sender: str
    receiver: str
    sent: int
    received: int
    duplicated: int
    reordered: int
    delay_ns: dict[str, float]


class CaseCharts(Part):
    case: str
    stream: str
    stream_id: int
    quantity: Literal["latency", "half round trip"]
    box: Box | None
    outliers: Outliers
    ecdf: Ecdf
    over_time: OverTime
    trials: list[TrialPoint]
    links: list[LinkPoint]


class ChartData(Part):
    """One entry a row of the summary, in its order."""

    cases: list[CaseCharts]


def ecdf(latency: Histogram, sent: int) -> Ecdf:
    """The distribution over all `sent` messages at shares that are denser in the tails."""
    ranks = (
        np.unique(np.clip(np.ceil(ECDF_SHARES * sent).astype(np.int64), 1, latency.n))
        if latency.n
        else np.empty(0, int)
    )
    values = latency.at_ranks(ranks) if latency.n else np.empty(0)
    return Ecdf(latency_ns=values.tolist(), share=(ranks / max(sent, 1)).tolist())


def outliers(latency: Histogram, box: Box | None) -> Outliers:
    """Those beyond the whiskers, evenly thinned by rank."""
    if box is None:
        return Outliers(drawn_ns=[], total=0)
    low, high = box.mild_low + box.severe_low, box.mild_high + box.severe_high
    ranks = np.concatenate([np.arange(1, low + 1), np.arange(latency.n - high + 1, latency.n + 1)])
    if len(ranks) > DRAWN_OUTLIERS:
        ranks = ranks[np.linspace(0, len(ranks) - 1, DRAWN_OUTLIERS).round().astype(np.int64)]
    return Outliers(drawn_ns=latency.at_ranks(ranks).tolist() if len(ranks) else [], total=low + high)


def over_time(
    into: OverTime, trial: int, begin: Floats, arrived: NDArray[np.bool_], latency: Floats, bins: int
) -> None:
    """Append one trial: `begin` of every message in ns since its round's start, `latency` of those that `arrived`."""
    if not len(begin):
        return
    width = max(float(begin.max()), 1.0) / bins
    at = np.minimum(begin / width, bins - 1).astype(np.uint16)
    lost = np.bincount(at[~arrived], minlength=bins)
    came = at[arrived]
    if len(came) and bool((came[1:] < came[:-1]).any()):
        order = np.argsort(came, kind="stable")
        came, latency = came[order], latency[order]
    starts = np.searchsorted(came, np.arange(bins))
    counts = np.diff(np.append(starts, len(came)))
    filled = np.flatnonzero(counts)
    low, high = np.full(bins, np.nan), np.full(bins, np.nan)
    if len(filled):
        low[filled] = np.minimum.reduceat(latency, starts[filled])
        high[filled] = np.maximum.reduceat(latency, starts[filled])
    for bin_number in np.flatnonzero(counts + lost).tolist():
        into.trial.append(trial)
        into.time_s.append(bin_number * width / 1e9)
        into.low_ns.append(float(low[bin_number]) if counts[bin_number] else None)
        into.high_ns.append(float(high[bin_number]) if counts[bin_number] else None)
        into.lost.append(int(lost[bin_number]))
