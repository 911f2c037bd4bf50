"""What charts draw: reductions of the samples, small whatever their number."""

from typing import Literal

from comseclab.analysis.summary import Box, Part


class Ecdf(Part):
    """At most 500 points of the distribution of latency over all messages sent: it ends at 1 - loss."""

    latency_ns: list[float]
    share: list[float]


class Outliers(Part):
    """Values beyond the whiskers of the box; at most 200 are drawn, the extremes among them."""

    drawn_ns: list[float]
    total: int


class OverTime(Part):
    """Latency over time, in bins; each keeps its smallest and largest value (null: nothing arrived) and its losses."""

    trial: list[int]
    time_s: list[float]
    low_ns: list[float | None]
    high_ns: list[float | None]
    lost: list[int]


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
