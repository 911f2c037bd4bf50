"""From a run folder to its summary and its charts' data."""

import json
import math
from pathlib import Path

import pytest
from simulate import Arm, Run, write_run

from comseclab.analysis.build import analyse, trial_medians
from comseclab.analysis.reading import read_campaign
from comseclab.analysis.summary import Summary, schema
from comseclab.errors import LabError
from comseclab.laboratory import exit_code
from comseclab.results.store import RunFolder

pytestmark = pytest.mark.filterwarnings("error")
PLAIN = Arm("plain", "none")


def rows(folder, *arms, **options):
    return {row.case: row for row in analyse(write_run(folder / "run", Run(list(arms), **options))).summary.cases}


def test_a_simulated_run_is_recovered(tmp_path):
    secured = Arm(
        "secured", "sros2-default", "plain", median_ns=600_000, loss=0.05, duplicates=0.02, refused=0.01, cpu_s=1.0,
        wire_bytes=9_672, invalid_pairs=frozenset([3]),
    )  # fmt: skip
    found = analyse(write_run(tmp_path / "run", Run([PLAIN, secured], pairs=12, deadline={"limit_ns": 10_000_000})))
    row = found.summary.cases[1]
    assert (row.trials, row.invalid, row.sent) == (12, 1, 12 * 360)
    assert [trial.pair for trial in found.summary.invalid_trials] == [3]
    assert row.ratio_to_baseline is not None
    assert row.ratio_to_baseline.low <= 2 <= row.ratio_to_baseline.high
    assert row.ratio_to_baseline.verdict == "more"
    assert row.loss_difference is not None
    assert row.loss_difference.low <= 0.0595 <= row.loss_difference.high
    assert row.cpu_ratio is not None
    assert row.cpu_ratio.estimate == pytest.approx(2)
    assert row.cpu_core_share == {"robot": pytest.approx(0.2)}
    assert row.handshake_ns == 50_000_000
    assert (row.wire_bytes_per_message, row.wire_frames_per_message) == (9672, 7)
    assert row.breakdown is not None
    assert row.difference_ns is not None
    parts = row.breakdown
    assert parts.codec_ns + parts.cipher_floor_ns + parts.extra_bytes_ns + parts.rest_ns == pytest.approx(
        parts.total_ns
    )
    assert parts.total_ns == row.difference_ns.estimate
    assert row.deadline is not None
    assert row.deadline.verdict == "missed"
    assert row.deadline.missed >= row.lost
    assert found.summary.valid
    text = found.summary.model_dump_json()
    assert Summary.model_validate_json(text) == found.summary
    assert "Infinity" not in text
    assert "NaN" not in text


def test_documents_of_the_users_own_pass_the_cipher_as_often_as_their_base(tmp_path):
    folder = write_run(tmp_path / "run", Run([PLAIN, Arm("mine", "mine", "plain", median_ns=600_000)], pairs=5))
    described = json.loads((folder / "campaign.json").read_text())
    passes = []
    for base in ("all-encrypt", "an own transport's"):
        described["cases"][1]["protection_base"] = base
        (folder / "campaign.json").write_text(json.dumps(described))
        passes.append(analyse(folder).summary.cases[1].breakdown.passes)
    assert passes == [3, None]


@pytest.mark.parametrize(("verdict", "code"), [("met", 0), ("missed", 1), ("not resolved", 3)])
def test_the_verdict_on_a_deadline_decides_the_exit_code(tmp_path, verdict, code):
    run = Run([PLAIN], pairs=2, deadline={"limit_ns": 10_000_000})
    (row,) = analyse(write_run(tmp_path / "run", run)).summary.cases
    assert (
        exit_code([row.model_copy(update={"deadline": row.deadline.model_copy(update={"verdict": verdict})})]) == code
    )


@pytest.mark.parametrize("pattern", ["stream", "echo"])
@pytest.mark.parametrize("connected", [0, 2])
def test_a_trial_that_never_connected_has_lost_all_it_should_have_sent(tmp_path, connected, pattern):
    arm = Arm("dead", "tls", "plain", pattern=pattern, unconnected_pairs=frozenset(range(connected, 6)))
    run = Run([Arm("plain", "none", pattern=pattern), arm], pairs=6, rounds=2, deadline={"limit_ns": 10_000_000})
    found = analyse(write_run(tmp_path / "run", run))
    (plain, row), dead = found.summary.cases, (6 - connected) * 2 * 360
    assert (row.trials, row.sent, row.not_taken, row.lost) == (6, 6 * 2 * 360, dead, dead)
    assert row.loss == pytest.approx(1 - connected / 6)
    assert (row.deadline.missed, row.deadline.trials, row.deadline.verdict) == (dead, 6, "missed")
    assert plain.deadline.missed == 0
    assert exit_code([row]) == 1
    assert (row.loss_aware_ns.n, row.loss_aware_ns.p50) == (row.sent, "lost")
    assert row.loss_difference.estimate == pytest.approx(row.loss)
    assert (row.ratio_to_baseline.verdict, row.ratio_to_baseline.lost_pairs) == ("lost", 6 - connected)
    assert [point.loss for point in found.charts.cases[1].trials] == [0.0] * connected + [1.0] * (6 - connected)
    assert row.cpu_core_share == ({"robot": pytest.approx(0.1)} if connected else {})
    assert row.cpu_core_share_by_process == ({"robot/publisher": pytest.approx(0.1)} if connected else {})
    assert row.pss_bytes == ({"robot": 10_000_000} if connected else {})


def test_what_a_blocked_sender_never_began_is_lost(tmp_path):
    """Of the second round's 400 messages, the last 200 in each of five trials; of an echo the number is not fixed."""
    blocked = {"blocked_pairs": frozenset(range(5))}
    arms = [Arm("plain", "none"), Arm("slow", "tls", "plain", **blocked), Arm("echo", "tls", pattern="echo", **blocked)]
    run = Run(arms, pairs=5, rounds=2, deadline={"limit_ns": 10_000_000, "allowed_share": 0.01})
    folder = write_run(tmp_path / "run", run)
    found = {row.case: row for row in analyse(folder).summary.cases}
    row, echo = found["slow"], found["echo"]
    assert (row.sent, row.not_taken, row.lost) == (5 * 720, 5 * 200, 5 * 200)
    assert (row.deadline.missed, row.deadline.verdict) == (5 * 200, "missed")
    assert row.loss_difference.estimate == pytest.approx(200 / 720)
    assert row.loss_difference.low > 0
    assert (echo.sent, echo.not_taken, echo.lost) == (5 * 520, 0, 0)


def test_identical_arms_are_not_told_apart(tmp_path):
    twin = Arm("twin", "tls", "plain", trial_spread=0.01)
    found = rows(tmp_path, Arm("plain", "none", trial_spread=0.01), twin, pairs=10)["twin"]
    assert found.ratio_to_baseline.verdict == "equivalent"
    assert found.loss_difference.low <= 0 <= found.loss_difference.high


def test_echo_is_half_the_round_trip(tmp_path):
    found = rows(
        tmp_path, PLAIN, Arm("echo", "none", pattern="echo", trial_spread=0, message_spread=0.0), pair_spread=0
    )
    row = found["echo"]
    assert row.latency_ns is None
    assert row.from_intended_ns is None
    assert row.offered_hz is None
    assert row.half_round_trip_ns.p50 == pytest.approx(150_000, rel=2e-4)
    assert set(row.stages_ns) == {"serialisation", "round_trip", "deserialisation", "publish_call"}


def test_a_deadline_counts_from_the_intended_time(tmp_path):
    exact = Arm("exact", "none", trial_spread=0, message_spread=0)
    found = rows(tmp_path, exact, pair_spread=0, deadline={"limit_ns": 300_500, "allowed_share": 0.01})["exact"]
    assert found.latency_ns.max == 300_000
    assert (found.deadline.missed, found.deadline.verdict) == (found.sent, "missed")


def test_everything_lost(tmp_path):
    found = analyse(write_run(tmp_path / "run", Run([PLAIN, Arm("dead", "tls", "plain", loss=1.0)], pairs=5)))
    row, charts = found.summary.cases[1], found.charts.cases[1]
    assert (row.loss, row.latency_ns, row.box, row.throughput_bps, row.stages_ns) == (1, None, None, None, {})
    assert row.loss_aware_ns.p50 == "lost"
    assert row.ratio_to_baseline.verdict == "lost"
    assert (row.difference_ns, row.breakdown) == (None, None)
    assert (charts.ecdf.share, charts.outliers.total) == ([], 0)
    assert sum(charts.over_time.lost) == row.lost
    assert all(trial.median_ns is None for trial in charts.trials)


@pytest.mark.parametrize("messages", [0, 1])
def test_no_message_counts(tmp_path, messages):
    found = analyse(write_run(tmp_path / "run", Run([PLAIN, Arm("same", "tls", "plain")], pairs=2, messages=messages)))
    row = found.summary.cases[1]
    assert (row.sent, row.loss, row.latency_ns, row.offered_hz) == (0, None, None, None)
    assert row.ratio_to_baseline.verdict == "lost"
    assert row.loss_difference is None


def test_no_valid_trial_is_not_a_valid_run(tmp_path):
    folder = write_run(tmp_path / "run", Run([PLAIN], pairs=1))
    for path in folder.glob("trials/*/record.json"):
        path.write_text(path.read_text().replace('"valid"', '"invalid"'))
    found = analyse(folder).summary
    assert (found.valid, found.cases[0].trials, found.cases[0].invalid) == (False, 0, 1)


def test_a_fixed_number_of_pairs_has_a_narrower_interval(tmp_path):
    folder = write_run(tmp_path / "run", Run([PLAIN, Arm("twin", "tls", "plain")], pairs=5))
    stopped = analyse(folder).summary.cases[1].ratio_to_baseline
    campaign = json.loads((folder / "campaign.json").read_text())
    (folder / "campaign.json").write_text(json.dumps(campaign | {"stop": {"min_pairs": 5, "max_pairs": 5}}))
    fixed = analyse(folder).summary.cases[1].ratio_to_baseline
    assert fixed.median == stopped.median
    assert stopped.low < fixed.low < fixed.high < stopped.high


def test_streams_are_told_apart(tmp_path):
    folder = write_run(tmp_path / "run", Run([PLAIN], pairs=2, streams={0: "/scan", 3: "/image"}))
    found = analyse(folder)
    assert [(row.stream, row.stream_id, row.sent) for row in found.summary.cases] == [
        ("/scan", 0, 720),
        ("/image", 3, 720),
    ]
    assert found.summary.cases[0].latency_ns != found.summary.cases[1].latency_ns


def test_the_stopping_rule_sees_what_the_summary_sees(tmp_path):
    folder = write_run(tmp_path / "run", Run([Arm("plain", "none", loss=0.1)], pairs=3))
    case = read_campaign(RunFolder.open(folder)).cases[0]
    trials = sorted(folder.glob("trials/*"))
    seen = [trial_medians(trial, case.streams, case.echo, 0.1)[0] for trial in trials]
    assert seen == [point.median_ns for point in analyse(folder).charts.cases[0].trials]
    assert all(math.isfinite(value) for value in seen)


def test_charts_are_small_and_true(tmp_path):
    folder = write_run(tmp_path / "run", Run([Arm("plain", "none", loss=0.2, message_spread=1.0)], messages=2000))
    found = analyse(folder)
    row, charts = found.summary.cases[0], found.charts.cases[0]
    assert len(charts.ecdf.share) <= 500
    assert charts.ecdf.share == sorted(charts.ecdf.share)
    assert charts.ecdf.latency_ns == sorted(charts.ecdf.latency_ns)
    assert charts.ecdf.share[-1] == pytest.approx(1 - row.loss)
    assert len(charts.outliers.drawn_ns) == 200
    assert max(charts.outliers.drawn_ns) == row.latency_ns.max
    assert charts.outliers.total == sum((row.box.mild_low, row.box.mild_high, row.box.severe_low, row.box.severe_high))
    assert len(charts.over_time.trial) <= 1000
    assert max(value for value in charts.over_time.high_ns if value is not None) == row.latency_ns.max
    assert min(value for value in charts.over_time.low_ns if value is not None) == row.latency_ns.min
    assert sum(charts.over_time.lost) == row.lost


def test_damage_is_one_line(tmp_path):
    with pytest.raises(LabError, match="not a run folder"):
        analyse(tmp_path)
    folder = write_run(tmp_path / "run", Run([PLAIN], pairs=1))
    cut = next(folder.glob("trials/*/samples.parquet"))
    whole = cut.read_bytes()
    cut.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(LabError, match="cannot be read"):
        analyse(folder)
    cut.write_bytes(whole)
    spec = next(folder.glob("trials/*/spec.json"))
    whole = spec.read_text()
    spec.write_text("{}")
    with pytest.raises(LabError, match=r"spec\.json cannot be read"):
        analyse(folder)
    spec.write_text(whole)
    campaign = json.loads((folder / "campaign.json").read_text())
    del campaign["cases"][0]["streams"][0]["rate_hz"]
    (folder / "campaign.json").write_text(json.dumps(campaign))
    with pytest.raises(LabError, match=r"cases\.0\.streams\.0\.rate_hz"):
        analyse(folder)


def test_the_schema_in_the_documents_is_the_models():
    written = Path(__file__).parents[2] / "docs" / "summary.schema.json"
    assert json.loads(written.read_text()) == schema()
