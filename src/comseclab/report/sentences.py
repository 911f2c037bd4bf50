"""The verdict in plain English: one sentence a comparison, saying no more than the data show."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from comseclab.analysis.summary import Ratio, Row, Summary, Verdict
from comseclab.report import units
from comseclab.report.arms import Arm, Panel, cpu_share, every_arm

MARKS = {"more": "▲", "less": "▼", "equivalent": "≈", "not resolved": "?", "lost": "✕", "met": "✓", "missed": "✕"}
WORDS = {"more": "slower", "less": "faster", "equivalent": "equivalent", "not resolved": "not resolved", "lost": "lost"}
AT_MOST = 6


@dataclass(frozen=True)
class Sentence:
    """A statement with its key words in the middle; its kind decides the colour, its mark reads without one."""

    kind: str
    mark: str
    before: str
    key: str = ""
    after: str = ""

    @property
    def text(self) -> str:
        return self.before + self.key + self.after


def verdicts(summary: Summary, groups: Sequence[Panel]) -> list[Sentence]:
    """What an engineer with two minutes reads first."""
    arms = every_arm(groups)
    compared = [arm for arm in arms if arm.row.ratio_to_baseline is not None]
    statements = [_comparison(arm) for arm in compared]
    if len(statements) > AT_MOST:
        statements = [_overview(compared), *(_comparison(arm) for arm in _most_telling(compared))]
    statements += [_without_verdict(arm, summary) for arm in arms if _lacks_verdict(arm)]
    statements += [_deadline(arm) for arm in arms if arm.row.deadline is not None]
    if not compared:
        statements += [_alone(arm) for arm in arms if arm.row.trials][:AT_MOST]
    return statements


def interval(ratio: Ratio) -> str:
    """`[1.36, 1.49]`, or `[1.36, ∞)` where some pairs have no finite ratio."""
    if ratio.low is None:
        return ""
    return f"[{units.ratio(ratio.low)}, {'∞)' if ratio.high is None else units.ratio(ratio.high) + ']'}"


def _comparison(arm: Arm) -> Sentence:
    ratio = arm.row.ratio_to_baseline
    assert ratio is not None
    before, key, after = _latency(arm, ratio)
    rest = [part for part in (_loss(arm), _cpu(arm), _wire(arm)) if part]
    tail = f"; it {_listed(rest)}" if rest else ""
    _, over, link = arm.place.rpartition(" over ")
    where = f"On {link}, " if over else ""
    return Sentence(ratio.verdict.replace(" ", "-"), MARKS[ratio.verdict], where + before, key, f"{after}{tail}.")


def _what(arm: Arm) -> str:
    what, over, link = arm.place.rpartition(" over ")
    name = what if over else link
    return f"{name} (half a round trip)" if arm.charts.quantity == "half round trip" else name


def _latency(arm: Arm, ratio: Ratio) -> tuple[str, str, str]:
    name, what, tolerance = arm.label, _what(arm), f"{100 * ratio.tolerance:g} %"
    if ratio.verdict == "lost" or ratio.median is None:
        lost = (
            f" in latency: in {ratio.lost_pairs} of {ratio.pairs} pairs of trials one arm lost more than half of "
            "its messages"
        )
        return f"{name} and its baseline ", f"cannot be compared for {what}", lost
    times, values = f"{units.ratio(ratio.median)}×", f" {interval(ratio)}{_medians(arm)}"
    if ratio.verdict == "more":
        return f"{name} makes {what} ", f"{times} slower", values
    if ratio.verdict == "less":
        return f"{name} makes {what} faster, ", f"{times} the latency", values
    if ratio.verdict == "equivalent":
        return f"{name} ", f"changes the latency of {what} by less than {tolerance}", f": {times}{values}"
    open_question = f": {times}{values} neither shows nor rules out a difference of {tolerance}"
    return f"{name} has ", f"no verdict for {what} yet", open_question


def _medians(arm: Arm) -> str:
    before = arm.baseline.loss_aware_ns.p50 if arm.baseline else None
    after = arm.row.loss_aware_ns.p50
    if before is None or after is None or before == "lost" or after == "lost":
        return ""
    unit = units.unit_for([before, after])
    return f" (median {unit.number(before)} → {unit.number(after)} {unit.name})"


def _loss(arm: Arm) -> str:
    row, before, change = arm.row, arm.baseline, arm.row.loss_difference
    if row.loss is None or before is None or before.loss is None:
        return ""
    if row.lost == 0 and before.lost == 0:
        return "loses nothing"
    moved = f"({units.percent(before.loss)} → {units.percent(row.loss)} %)"
    if change is not None and change.low > 0:
        return f"loses more {moved}"
    if change is not None and change.high < 0:
        return f"loses less {moved}"
    return f"shows no clear change in loss {moved}"


def _cpu(arm: Arm) -> str:
    before, after = cpu_share(arm.baseline) if arm.baseline else None, cpu_share(arm.row)
    if before is None or after is None:
        return ""
    if arm.row.cpu_ratio is None or arm.row.cpu_ratio.low <= 1 <= arm.row.cpu_ratio.high:
        return "shows no clear change in CPU"
    change = 100 * (after - before)
    return f"costs {units.digits(abs(change), 2)} % of a core {'more' if change > 0 else 'less'}"


def _wire(arm: Arm) -> str:
    before, after = arm.baseline.wire_bytes_per_message if arm.baseline else None, arm.row.wire_bytes_per_message
    if before is None or after is None or round(after) == round(before):
        return ""
    return f"puts {units.size(abs(after - before))} {'more' if after > before else 'less'} per message on the wire"


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _overview(compared: Sequence[Arm]) -> Sentence:
    found = Counter(arm.row.ratio_to_baseline.verdict for arm in compared if arm.row.ratio_to_baseline)
    names: tuple[tuple[Verdict, str], ...] = (
        ("more", "slower"),
        ("less", "faster"),
        ("equivalent", "equivalent"),
        ("not resolved", "not resolved"),
        ("lost", "lost too much to compare"),
    )
    counted = [f"{found[key]} {name}" for key, name in names if found[key]]
    return Sentence("", "Σ", f"Of {len(compared)} comparisons with the baseline, {_listed(counted)}. The most telling:")


def _most_telling(compared: Sequence[Arm]) -> list[Arm]:
    """The comparisons furthest from the baseline, resolved ones first."""

    def weight(arm: Arm) -> tuple[bool, float]:
        ratio = arm.row.ratio_to_baseline
        assert ratio is not None
        far = max(ratio.median, 1 / ratio.median) if ratio.median else float("inf")
        return ratio.verdict in ("more", "less", "lost"), far

    return sorted(compared, key=weight, reverse=True)[: AT_MOST - 1]


def _lacks_verdict(arm: Arm) -> bool:
    return arm.row.trials == 0 or (arm.baseline is not None and arm.row.ratio_to_baseline is None)


def _without_verdict(arm: Arm, summary: Summary) -> Sentence:
    if arm.row.trials == 0:
        why = list(_reasons(arm.row, summary))
        told = f": {why[0]}" if why else ""
        return Sentence("lost", "!", f"{arm.place}, {arm.label} has no valid trial{told}. Nothing can be said of it.")
    return Sentence(
        "not resolved",
        "?",
        f"{arm.place}, {arm.label} could not be compared: there is no valid pair with its baseline.",
    )


def _reasons(row: Row, summary: Summary) -> Iterator[str]:
    yield from (reason for trial in summary.invalid_trials if trial.case == row.case for reason in trial.reasons)


def _deadline(arm: Arm) -> Sentence:
    limit = arm.row.deadline
    assert limit is not None
    said = (
        f"{units.count(limit.missed)} of {units.count(limit.n)} messages later than {units.duration(limit.limit_ns)} "
        "or lost "
        f"({units.percent(limit.share)} %, at most {units.percent(limit.upper_bound)} %; "
        f"{units.percent(limit.allowed_share)} % allowed)"
    )
    words = {
        "met": "meets its deadline",
        "missed": "misses its deadline",
        "not resolved": "has no verdict on its deadline",
    }
    kind = {"met": "met", "missed": "broken"}.get(limit.verdict, "not resolved")
    return Sentence(kind, MARKS[limit.verdict], f"{arm.place}, {arm.label} {words[limit.verdict]}: {said}.")


def _alone(arm: Arm) -> Sentence:
    row = arm.row
    quantiles = row.loss_aware_ns
    told = [
        "more than half of the messages were lost"
        if value == "lost"
        else f"{name} of the messages arrive within {units.duration(value)}"
        for name, value in (("half", quantiles.p50), ("99 %", quantiles.p99))
        if value is not None and (value != "lost" or name == "half")
    ]
    loss = f"{units.percent(row.loss)} % are lost" if row.loss is not None else "nothing was sent"
    return Sentence(
        "", "·", f"{arm.place}, {arm.label}: {_listed([*told, loss])}. There is nothing to compare it with."
    )
