"""The verdict sentences, from summaries with known content."""

from pathlib import Path
from typing import Any

import pytest

from comseclab.analysis.build import Analysis, analyse
from comseclab.analysis.summary import Deadline, Difference, Estimate, Ratio, Row
from comseclab.report.arms import panels
from comseclab.report.caveats import Caveat, find
from comseclab.report.sentences import verdicts
from comseclab.results.record import TrialRecord
from comseclab.results.store import RunFolder
from comseclab.trial.spec import TrialSpec


@pytest.fixture(scope="module")
def analysis(demo: Path) -> Analysis:
    return analyse(demo)


def said(analysis: Analysis, case: str = "scan-ethernet-secured", **changes: Any) -> list[str]:
    """All sentences after changing one row."""
    rows = [row.model_copy(update=changes) if row.case == case else row for row in analysis.summary.cases]
    summary = analysis.summary.model_copy(update={"cases": rows})
    return [sentence.text for sentence in verdicts(summary, panels(summary, analysis.charts.cases))]


def about(texts: list[str], place: str = "ethernet", what: str = "scan") -> str:
    (found,) = [text for text in texts if place in text.split(",")[0] and what in text]
    return found


def ratio(median: float | None, low: float | None, high: float | None, verdict: str) -> Ratio:
    method = "t" if median else "none"
    return Ratio.model_validate({
        "median": median, "low": low, "high": high, "verdict": verdict, "pairs": 10, "lost_pairs": 7, "tolerance": 0.1,
        "method": method,
    })  # fmt: skip


def test_slower(analysis: Analysis) -> None:
    cpu = Estimate(estimate=1.5, low=1.4, high=1.6, pairs=10)
    changed = ratio(1.42, 1.36, 1.49, "more")
    text = about(said(analysis, ratio_to_baseline=changed, cpu_ratio=cpu, lost=0, loss=0.0))
    assert text.startswith("On ethernet, sros2-default makes scan 1.42× slower [1.36, 1.49] (median 0.")
    assert "loses nothing" in text
    assert "% of a core more" in text
    assert "190 B more per message on the wire" in text


def test_equivalence_and_no_verdict_are_told_apart(analysis: Analysis) -> None:
    same = about(said(analysis, ratio_to_baseline=ratio(1.01, 0.97, 1.05, "equivalent")))
    assert "changes the latency of scan by less than 10 %" in same
    unknown = about(said(analysis, ratio_to_baseline=ratio(1.05, 0.9, 1.3, "not resolved")))
    assert "no verdict for scan yet" in unknown
    assert "neither shows nor rules out" in unknown


def test_no_ratio_where_most_was_lost(analysis: Analysis) -> None:
    text = about(said(analysis, ratio_to_baseline=ratio(None, None, None, "lost")))
    assert "cannot be compared" in text
    assert "7 of 10 pairs" in text


def test_an_unbounded_interval_is_shown_as_such(analysis: Analysis) -> None:
    assert "3.00× slower [2.00, ∞)" in about(said(analysis, ratio_to_baseline=ratio(3, 2, None, "more")))


def test_loss_and_cpu_are_claimed_only_where_their_intervals_say_so(analysis: Analysis) -> None:
    more = Difference(estimate=0.02, low=0.01, high=0.03, pairs=10)
    unclear = Difference(estimate=0.02, low=-0.01, high=0.05, pairs=10)
    flat = Estimate(estimate=1.1, low=0.9, high=1.3, pairs=10)
    assert "loses more (0 → 2.00 %)" in about(said(analysis, loss=0.02, lost=9, loss_difference=more))
    assert "no clear change in loss" in about(said(analysis, loss=0.02, lost=9, loss_difference=unclear))
    assert "no clear change in CPU" in about(said(analysis, cpu_ratio=flat))
    clear = Estimate(estimate=1.5, low=1.4, high=1.6, pairs=10)
    shares = {"robot": 0.1, "station": 0.5, "switch": 3.0}
    busy = about(said(analysis, cpu_ratio=clear, cpu_core_share=shares))
    assert "costs 53 % of a core more" in busy, "the laboratory's own switch is no cost of the protection"


def test_a_case_without_a_valid_trial_says_so_with_its_reason(analysis: Analysis) -> None:
    texts = said(analysis, "scan-wifi-secured", trials=0, ratio_to_baseline=None)
    assert any("no valid trial: the switch was late" in text for text in texts)


def test_a_missed_deadline(analysis: Analysis) -> None:
    limit = Deadline(
        limit_ns=100_000_000, allowed_share=0.001, n=4800, missed=30, share=0.00625, lower_bound=0.004,
        upper_bound=0.009, effective_n=4000, trials=10, trials_with_miss=4, trials_upper_bound=0.7, verdict="missed",
    )  # fmt: skip
    assert any(
        "misses its deadline: 30 of 4\u202f800 messages later than 100 ms" in text
        for text in said(analysis, deadline=limit)
    )


def test_many_comparisons_begin_with_an_overview(analysis: Analysis) -> None:
    rows: list[Row] = []
    for number in range(3):
        name = f"-{number}"
        for row in analysis.summary.cases:
            baseline = row.baseline and row.baseline + name
            factors = row.factors | {"workload": row.factors["workload"] + name}
            rows.append(row.model_copy(update={"case": row.case + name, "baseline": baseline, "factors": factors}))
    summary = analysis.summary.model_copy(update={"cases": rows})
    texts = [sentence.text for sentence in verdicts(summary, panels(summary, analysis.charts.cases * 3))]
    assert texts[0].startswith("Of 15 comparisons with the baseline,")
    assert len(texts) == 6


def kinds(analysis: Analysis, demo: Path, records: list[TrialRecord], **changes: Any) -> set[Caveat]:
    rows = [row.model_copy(update=changes) for row in analysis.summary.cases]
    summary = analysis.summary.model_copy(update={"cases": rows})
    specs = [TrialSpec.model_validate_json(path.read_text()) for path in demo.glob("trials/*/spec.json")]
    return {warning.kind for warning in find(summary, panels(summary, analysis.charts.cases), records, specs)}


def test_caveats_appear_when_and_only_when_they_hold(analysis: Analysis, demo: Path) -> None:
    records = RunFolder.open(demo).records()
    plain = kinds(analysis, demo, records)
    assert Caveat.SHORT_TAIL in plain
    assert not plain & {
        Caveat.NO_REALTIME,
        Caveat.MEMORY_NOT_LOCKED,
        Caveat.STEAL,
        Caveat.NO_VALID_TRIAL,
        Caveat.FEW_PAIRS,
        Caveat.MOSTLY_LOST,
    }
    few = ratio(1.0, 0.9, 1.1, "not resolved").model_copy(update={"pairs": 3})
    assert {Caveat.FEW_PAIRS, Caveat.NOT_RESOLVED, Caveat.MOSTLY_LOST} <= kinds(
        analysis, demo, records, ratio_to_baseline=few, loss=0.6
    )
    nodes = {"nodes": {"robot-publisher": {"closed": {"memory_locked": False}}, "killed": {"closed": None}}}
    refusal = {"switch": {"realtime": False}, "transport": nodes, "steal_s": 3.0}
    refused = [record.model_copy(update=refusal) for record in records]
    assert {Caveat.NO_REALTIME, Caveat.MEMORY_NOT_LOCKED, Caveat.STEAL} <= kinds(analysis, demo, refused)
