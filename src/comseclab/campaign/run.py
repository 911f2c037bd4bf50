"""A campaign: trials in paired, interleaved order until every comparison is resolved or has all its pairs."""

import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from comseclab.campaign.schedule import Group, blocks, make_groups
from comseclab.results.record import TrialRecord
from comseclab.results.store import RunFolder

PAUSES_S = (0.0, 5.0, 30.0)
"""Before each repetition of an invalid trial: what disturbed the machine may pass. Then its case is given up."""

Execute = Callable[[str, int, int, Path], TrialRecord]
"""(case, pair, number, folder) -> the closed trial."""
Medians = Callable[[Path], Mapping[int, float]]
"""A trial's folder -> per stream its loss-aware median latency, ns (infinite when most was lost)."""
Enough = Callable[[Sequence[tuple[float, float]]], bool]
"""Pairs of (baseline, variant) medians of one stream -> whether more would add little."""


class Watcher(Protocol):
    """Who is told how the campaign goes."""

    def began(self, case: str, pair: int, number: int) -> None: ...
    def ended(self, record: TrialRecord, seconds: float, remaining_trials: int) -> None: ...


@dataclass(frozen=True)
class Rule:
    """When to stop: see docs/methodology.md."""

    min_pairs: int
    max_pairs: int
    enough: Enough


@dataclass
class Campaign:
    """The state of one campaign: what has been measured and what is left."""

    run: RunFolder
    baselines: Mapping[str, str | None]
    seed: int
    rule: Rule
    execute: Execute
    medians: Medians
    watcher: Watcher
    pauses_s: Sequence[float] = PAUSES_S
    measured: dict[tuple[str, int], Mapping[int, float]] = field(default_factory=dict)
    """(case, pair) -> medians of its valid trial."""
    given_up: set[str] = field(default_factory=set)
    number: int = 0

    def resume(self) -> None:
        """Take up the closed trials of the run folder; trials that were cut off are removed."""
        self.run.discard_unclosed()
        for record in self.run.records():
            self.number = max(self.number, record.number)
            if record.status == "valid":
                folder = self.run.trial(record.number, record.case)
                self.measured[record.case, record.pair] = self.medians(folder)

    def go(self) -> None:
        """Run every trial that is still needed."""
        groups = make_groups(self.baselines)
        for pair, group, cases in blocks(groups, self.seed, self.rule.max_pairs):
            for case in cases:
                if (case, pair) not in self.measured and case not in self.given_up:
                    self._measure(case, pair, self._remaining(groups))
            self._mark_finished(group, pair)

    def _measure(self, case: str, pair: int, remaining: int) -> None:
        for pause_s in (0.0, *self.pauses_s):
            time.sleep(pause_s)
            self.number += 1
            folder = self.run.trial(self.number, case)
            self.watcher.began(case, pair, self.number)
            begun = time.monotonic()
            try:
                record = self.execute(case, pair, self.number, folder)
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
            self.watcher.ended(record, time.monotonic() - begun, remaining)
            if record.status == "valid":
                self.measured[case, pair] = self.medians(folder)
                return
        self.given_up.add(case)

    def _mark_finished(self, group: Group, pair: int) -> None:
        group.finished |= self.given_up & set(group.variants)
        if group.baseline in self.given_up:
            group.finished |= set(group.variants) or {group.baseline}
        elif pair + 1 >= self.rule.min_pairs:
            group.finished |= {case for case in group.variants if self._resolved(group.baseline, case)}
            if not group.variants:
                group.finished.add(group.baseline)

    def _resolved(self, baseline: str, case: str) -> bool:
        pairs = sorted(pair for name, pair in self.measured if name == case and (baseline, pair) in self.measured)
        streams = set.intersection(*({*self.measured[case, pair]} for pair in pairs)) if pairs else set()
        return bool(streams) and all(
            self.rule.enough(
                [(self.measured[baseline, pair][stream], self.measured[case, pair][stream]) for pair in pairs]
            )
            for stream in streams
        )

    def _remaining(self, groups: Sequence[Group]) -> int:
        """Trials to come if every unresolved comparison stops at the fewest pairs it may."""
        per_case = {
            case: sum(name == case for name, _ in self.measured)
            for group in groups
            if not group.done
            for case in group.block()
        }
        return max(1, sum(max(0, self.rule.min_pairs - done) for done in per_case.values()))
