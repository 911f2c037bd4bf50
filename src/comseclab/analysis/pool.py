"""All trials of one stream of one case, taken in one after the other and kept only as what the summary needs."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from comseclab.analysis.charts import OverTime, TrialPoint, over_time
from comseclab.analysis.quantiles import Histogram, loss_aware_median
from comseclab.analysis.samples import Counted
from comseclab.results.record import SWITCH_HOST, TrialRecord

COUNTS = ("sent", "not_taken", "lost", "duplicated", "reordered", "late", "foreign")


@dataclass(frozen=True)
class TrialResult:
    """What comparisons need of one trial."""

    number: int
    median_ns: float
    """Loss-aware; infinite when most was lost."""
    sent: int
    lost: int
    missed: int
    cpu_s: float


@dataclass
class Pool:
    """One stream of one case. Latency is that of the case's pattern: half a round trip for echo, else one way."""

    echo: bool
    limit_ns: int | None
    bins_per_trial: int
    trials: dict[int, TrialResult] = field(default_factory=dict)
    """By pair."""
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))
    latency: Histogram = field(default_factory=Histogram)
    from_intended: Histogram = field(default_factory=Histogram)
    stages: dict[str, Histogram] = field(default_factory=dict)
    rates: dict[str, list[float]] = field(default_factory=dict)
    over_time: OverTime = field(default_factory=OverTime)

    def add(self, record: TrialRecord, counted: Counted) -> None:
        """Take in one valid trial."""
        latency = counted.latency / 2 if self.echo else counted.latency
        for name in COUNTS:
            self.counts[name] += getattr(counted, name)
        self.latency.add(latency)
        if not self.echo:
            self.from_intended.add(counted.from_intended)
        for stage, values in counted.stages.items():
            self.stages.setdefault(self._stage(stage), Histogram()).add(values)
        for name in ("offered_hz", "achieved_hz", "throughput_bps"):
            rate = getattr(counted, name)
            if rate is not None and not (self.echo and name == "offered_hz"):
                self.rates.setdefault(name, []).append(rate)
        over_time(self.over_time, record.number, counted.begin, counted.arrived, latency, self.bins_per_trial)
        judged = latency if self.echo else counted.from_intended
        self.trials[record.pair] = TrialResult(
            number=record.number,
            median_ns=loss_aware_median(latency, counted.sent),
            sent=counted.sent,
            lost=counted.lost,
            missed=counted.lost + self._late(judged),
            cpu_s=sum(use.user_s + use.system_s for use in record.processes if use.host != SWITCH_HOST),
        )

    def _stage(self, name: str) -> str:
        """In echo, what lies between the sender's two ends is the whole way there and back."""
        return "round_trip" if self.echo and name == "transmission" else name

    def _late(self, judged: NDArray[np.float64]) -> int:
        return 0 if self.limit_ns is None else int(np.count_nonzero(judged > self.limit_ns))

    def points(self) -> list[TrialPoint]:
        return [
            TrialPoint(
                number=trial.number, pair=pair, median_ns=trial.median_ns if math.isfinite(trial.median_ns) else None,
                loss=trial.lost / trial.sent if trial.sent else 1.0,
            )
            for pair, trial in sorted(self.trials.items())
        ]  # fmt: skip

    def rate(self, name: str) -> float | None:
        """Mean of the trials' rates."""
        return float(np.mean(self.rates[name])) if name in self.rates else None

    def paired(self, baseline: "Pool", name: str) -> tuple[list[Any], list[Any]]:
        """One quantity of the pairs both have, of the baseline and of this."""
        pairs = sorted(self.trials.keys() & baseline.trials.keys())
        return [getattr(baseline.trials[pair], name) for pair in pairs], [
            getattr(self.trials[pair], name) for pair in pairs
        ]
