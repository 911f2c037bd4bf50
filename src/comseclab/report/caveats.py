"""What a reader must know before relying on a report: each caveat is one kind with its remedy."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from comseclab.analysis.summary import Row, Summary
from comseclab.report import units
from comseclab.report.arms import Panel, every_arm
from comseclab.results.record import TrialRecord
from comseclab.trial.spec import TrialSpec

FEW_PAIRS = 5
HIGH_SPREAD = 2.0
INVALID_SHARE = 0.1


class Caveat(Enum):
    """Each kind carries its remedy."""

    NO_VALID_TRIAL = "See “Trials” for the reasons; run again with --resume once they are removed."
    FEW_PAIRS = "Raise the plan's smallest number of pairs; fewer than five give intervals too wide to trust."
    NOT_RESOLVED = "Let the campaign run more pairs, or state a wider tolerance in the plan."
    HIGH_SPREAD = "Close other programs, pin the nodes to CPUs of their own, and run again."
    INVALID_SHARE = "See “Trials” for the reasons; a quiet machine usually removes them."
    MOSTLY_LOST = "Read the loss first: latency quantiles describe only what arrived."
    SHORT_TAIL = "Run longer or more trials; 99.9 % needs some thousands of messages."
    NO_REALTIME = "Run as root, or give the user a real-time limit (ulimit -r), so that the switch is never late."
    MEMORY_NOT_LOCKED = (
        "Raise the locked-memory limit (ulimit -l unlimited), so that no page fault falls into a measurement."
    )
    STEAL = "The hypervisor took CPU time away: use a dedicated machine for figures you publish."


@dataclass(frozen=True)
class Warning:
    """A caveat as found in a run."""

    kind: Caveat
    text: str

    @property
    def remedy(self) -> str:
        return self.kind.value


def find(
    summary: Summary, groups: Sequence[Panel], records: Sequence[TrialRecord], specs: Sequence[TrialSpec]
) -> list[Warning]:
    """All caveats of a run, gravest first, each at most once."""
    return [*_of_cases(summary, groups), *_of_machine(records, specs)]


def _of_cases(summary: Summary, groups: Sequence[Panel]) -> Iterator[Warning]:
    rows = summary.cases
    missing = {row.case for row in rows if row.trials == 0}
    if missing:
        yield Warning(Caveat.NO_VALID_TRIAL, f"{_cases(len(missing))} without a valid trial.")
    ratios = [row.ratio_to_baseline for row in rows if row.ratio_to_baseline]
    few = [ratio.pairs for ratio in ratios if ratio.pairs < FEW_PAIRS]
    if few:
        rest = "rests" if len(few) == 1 else "rest"
        yield Warning(
            Caveat.FEW_PAIRS,
            f"{_cases(len(few))} {rest} on fewer than {FEW_PAIRS} pairs of trials (least: {min(few)}).",
        )
    unresolved = sum(ratio.verdict == "not resolved" for ratio in ratios)
    if unresolved:
        yield Warning(Caveat.NOT_RESOLVED, f"{_cases(unresolved)} without a resolved verdict.")
    spread = [(_spread(arm.charts.trials), arm) for panel in groups for arm in panel.arms]
    widest, arm = max(spread, key=lambda item: item[0], default=(0.0, None))
    if arm is not None and widest > HIGH_SPREAD:
        text = f"Medians differ between trials by up to {units.ratio(widest)} times ({arm.place}, {arm.label})."
        yield Warning(Caveat.HIGH_SPREAD, text)
    invalid, valid = len(summary.invalid_trials), _trials(rows)
    if invalid and invalid > INVALID_SHARE * (invalid + valid):
        yield Warning(Caveat.INVALID_SHARE, f"{invalid} of {invalid + valid} trials were invalid.")
    lost = sum(1 for row in rows if row.loss is not None and row.loss > 0.5)
    if lost:
        yield Warning(Caveat.MOSTLY_LOST, f"{_cases(lost)} lost more than half of the messages.")
    short = [arm for arm in every_arm(groups) if arm.row.trials and arm.row.loss_aware_ns.p999 is None]
    if short:
        least = min(arm.row.loss_aware_ns.n for arm in short)
        yield Warning(
            Caveat.SHORT_TAIL, f"{_cases(len(short))} with too few messages for p99.9 (least: {units.count(least)})."
        )


def _of_machine(records: Sequence[TrialRecord], specs: Sequence[TrialSpec]) -> Iterator[Warning]:
    switched = [record.switch["realtime"] for record in records if "realtime" in record.switch]
    if switched and not all(switched):
        yield Warning(Caveat.NO_REALTIME, f"SCHED_FIFO was refused to the switch in {switched.count(False)} trials.")
    asked = {spec.number for spec in specs if spec.scheduling.lock_memory}
    unlocked = sum(1 for record in records if record.number in asked and _unlocked(record))
    if unlocked:
        yield Warning(Caveat.MEMORY_NOT_LOCKED, f"Memory could not be locked in {unlocked} trials.")
    stolen = [record.steal_s / record.window_s for record in records if record.window_s > 0]
    if stolen and max(stolen) > 0.02:
        yield Warning(Caveat.STEAL, f"Up to {units.percent(max(stolen))} % of a CPU was stolen during a trial.")


def _unlocked(record: TrialRecord) -> bool:
    """Whether a node asked for locked memory in vain, as it said on closing."""
    closed = [node.get("closed") or {} for node in record.transport.get("nodes", {}).values()]
    return any(node.get("memory_locked") is False for node in closed)


def _spread(trials: Sequence[object]) -> float:
    medians = [median for trial in trials if (median := getattr(trial, "median_ns", None))]
    return max(medians) / min(medians) if medians else 1.0


def _trials(rows: Sequence[Row]) -> int:
    return sum({row.case: row.trials for row in rows}.values())


def _cases(number: int) -> str:
    return "1 row" if number == 1 else f"{number} rows"
