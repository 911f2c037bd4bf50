"""From a run to tables, verdicts and differences: made-up runs whose answer is known."""

import csv
import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from made_up import Behaviour, write_study

from comseclab.errors import LabError
from comseclab.literature import checks, conclusions, differences, figures, selection, tables
from comseclab.literature.cells import FACTORS, Cells, unable
from comseclab.literature.evidence import OVERLOADED, UNKNOWN, FromTrials, Range
from comseclab.literature.page import Findings, sentences
from comseclab.literature.reproduction import build, findings, said
from comseclab.literature.study import Key, Study
from comseclab.plan import expected_seconds
from comseclab.report import run as runs
from comseclab.report.arms import Arm
from comseclab.report.charts.base import Canvas


def of(study: Study, run: Path) -> Findings:
    return findings(study, runs.read(run))


def verdicts(found: Findings) -> dict[str, str]:
    return {one.conclusion.id: one.ours.said for one in found.judged}


def test_a_run_that_behaves_as_published_says_so(page: Path) -> None:
    told = json.loads((page.parent / "reproduction.json").read_text())
    found = {one["id"]: one for one in told["conclusions"]}
    assert len(told["cells"]) == 81
    assert all(one["verdict"] == one["published_verdict"] for one in found.values())
    assert found["ice-loses-clouds"]["verdict"] == "confirmed"
    assert found["security-is-acceptable"]["verdict"] == "changed"


def test_every_published_figure_stands_in_the_table(study: Study, page: Path) -> None:
    with (page.parent / "tables" / "reproduction.csv").open() as file:
        rows = {(row["configuration"], row["network"], row["sensor"]): row for row in csv.DictReader(file)}
    assert list(rows) == tables.every_key(Cells(study, {}))
    for key, published in study.published.items():
        row = rows[key]
        assert float(row["published_loss"]) == published.loss
        assert (float(row["published_mean_ns"]) if row["published_mean_ns"] else None) == published.mean_ns
        if published.mean_ns and published.loss < 0.5:
            assert float(row["median_ns"]) == pytest.approx(published.mean_ns, rel=0.2)
            assert float(row["median_low_ns"]) < float(row["median_ns"]) < float(row["median_high_ns"])
        assert float(row["loss"]) == pytest.approx(published.loss, abs=0.1)


def test_tables_in_markdown_have_both_figures(page: Path) -> None:
    text = (page.parent / "tables" / "table-1.md").read_text()
    assert "| ROS | 41 609 ± 13 231 → " in text.replace("\u202f", " ")
    assert (page.parent / "tables" / "table-4.md").read_text().count("100.00 → 100.00") == 17


def quicker(key: Key, behaviour: Behaviour) -> Behaviour:
    """ROS a thousand times as fast, and best effort with encryption no longer loses."""
    if key[0] == "ros":
        return Behaviour(behaviour.median_ns / 1000, behaviour.loss)
    return Behaviour(behaviour.median_ns, 0.0) if key[0] == "be-crypto" else behaviour


def test_other_behaviour_changes_verdicts_and_is_explained(study: Study, tmp_path: Path) -> None:
    found = of(study, write_study(tmp_path / "run", quicker))
    told = verdicts(found)
    assert told["ros-is-slower-locally"] == told["encrypted-best-effort-loses"] == "refuted"
    assert told["tls-is-cheap"] == "confirmed"
    apart = {one.key: (one.quantity, one.direction) for one in found.deviations}
    assert apart["ros", "localhost", "scan"] == ("latency", "less")
    assert apart["be-crypto", "ethernet", "image"] == ("loss", "less")
    assert ("tls", "localhost", "scan") not in apart
    explained = {one.key for reason in differences.reasons(found.cells, found.deviations)
                 for one in reason.deviations if "Nagle" in reason.text}  # fmt: skip
    assert explained == {key for key in apart if key[0] == "ros" and apart[key][0] == "latency"}


def varied(found: Findings, key: Key, losses: list[float], mean_ns: float | None) -> Findings:
    """The same findings, but for one cell: its trials' losses and its mean latency; None: nothing arrived."""
    arm = found.cells.arms[key]
    like = arm.charts.trials[0]
    points = [like.model_copy(update={"pair": pair, "loss": loss} | ({} if mean_ns else {"median_ns": None}))
              for pair, loss in enumerate(losses)]  # fmt: skip
    latency = arm.row.latency_ns.model_copy(update={"mean": mean_ns}) if arm.row.latency_ns and mean_ns else None
    changed = {"loss": sum(losses) / len(losses), "trials": len(losses), "latency_ns": latency}
    charts = arm.charts.model_copy(update={"trials": points} | ({} if mean_ns else {"box": None}))
    arms = dict(found.cells.arms) | {key: replace(arm, row=arm.row.model_copy(update=changed), charts=charts)}
    cells = Cells(found.cells.study, arms)
    return Findings(cells, found.judged, differences.deviations(cells))


@pytest.mark.parametrize(
    ("losses", "times", "said_of_it"),
    [([0.0, 0.1], 1.9, "agrees"), ([0.0, 0.11], 1.0, "not resolved"), ([0.0], 1.0, "not resolved"),
     ([0.0, 0.0], None, "not resolved"), ([0.11, 0.2], 1.0, "loss"), ([0.0, 0.0], 2.1, "latency"),
     ([0.0, 0.5], 0.4, "latency")],
)  # fmt: skip
def test_a_cell_agrees_only_where_all_its_trials_do(
    study: Study, page: Path, losses: list[float], times: float | None, said_of_it: str
) -> None:
    key = ("re", "wifi", "scan")
    published = study.published[key]
    assert published.loss == 0.0
    assert published.mean_ns
    found = varied(of(study, page.parent), key, losses, times and times * published.mean_ns)
    deviating = {one.key: one.quantity for one in found.deviations}
    agreeing = key in differences.agreeing(found.cells)
    assert deviating.get(key, "agrees" if agreeing else "not resolved") == said_of_it
    assert not (agreeing and key in deviating)


def counted(found: Findings, run: Path) -> str:
    """The sentence that counts agreement."""
    told = next(one for one in sentences(found, runs.read(run)) if one["mark"] == "≈")
    return told["before"] + told["key"] + told["after"]


def test_what_is_in_between_is_counted_apart(study: Study, tmp_path: Path) -> None:
    run = write_study(tmp_path / "run", lambda key, seen: seen if key[1:] == ("localhost", "scan") else None)
    found = of(study, run)
    assert counted(found, run) == "Of 9 cells measured, 9 agree with the published figures."
    apart = varied(found, ("be", "localhost", "scan"), [0.0, 1.0], study.published["be", "localhost", "scan"].mean_ns)
    apart = varied(apart, ("ros", "localhost", "scan"), [1.0, 1.0], None)
    assert counted(apart, run) == (
        "Of 9 cells measured, 7 agree with the published figures; 1 differ in loss, 1 is not resolved."
    )


def test_what_was_lost_entirely_agrees_with_what_was(study: Study, page: Path) -> None:
    found = of(study, page.parent)
    key = ("ice", "localhost", "points")
    assert study.published[key].mean_ns is None
    assert key in differences.agreeing(found.cells)


def test_nothing_arrived_is_a_loss_not_a_gap(study: Study, page: Path) -> None:
    key = ("re", "wifi", "scan")
    found = varied(of(study, page.parent), key, [1.0, 1.0], None)
    cells = found.cells
    line = [one.id for one in cells.configurations].index("re")
    table = {one.name: one.lines[line].cells[2] for one in tables.build(cells)}
    latency, loss = table["table-1"], table["table-4"]
    assert (latency.ours, latency.note) == (tables.NOT_AVAILABLE, "100 % lost")
    assert loss.ours == "100.00"
    drawing = next(one for one in figures.drawings(cells) if one.name == "figure-5")
    assert f"{cells.name(key)}: 100 % lost." in figures.describe(cells, drawing)
    drawn = json.dumps(figures.draw(cells, drawing, Canvas.wide()), ensure_ascii=False)
    assert f"{cells.name(key)}\\n100 % lost" in drawn
    assert next(one.figures for one in found.deviations if one.key == key) == "0 % → 100 % lost"


@pytest.mark.parametrize(
    ("outcome", "word"), [("no connection in 15 s", "no connection"), ("back-pressure: 27 were refused", "refused")]
)
def test_a_cell_that_took_nothing_says_why(study: Study, page: Path, outcome: str, word: str) -> None:
    arm = of(study, page.parent).cells.arms["re", "wifi", "scan"]
    untaken = arm.row.model_copy(update={"not_taken": arm.row.sent, "outcomes": {outcome: arm.row.trials}})
    assert unable(replace(arm, row=untaken)) == word


def test_a_pair_that_is_not_there_leaves_the_ratio_open(study: Study, page: Path) -> None:
    cells = of(study, page.parent).cells
    base, cell = ("re", "wifi", "scan"), ("ros", "wifi", "scan")
    for kept in ({0}, set()):
        arms = {base: only_pairs(cells.arms[base], {0, 1}), cell: only_pairs(cells.arms[cell], kept | {2})}
        assert FromTrials(arms).ratio(base, cell) == UNKNOWN
    assert FromTrials({base: cells.arms[base]}).ratio(base, cell) is None


def only_pairs(arm: Arm, pairs: set[int]) -> Arm:
    trials = [trial for trial in arm.charts.trials if trial.pair in pairs]
    return replace(arm, charts=arm.charts.model_copy(update={"trials": trials}))


def test_cells_that_are_not_in_the_run_are_not_measured(study: Study, tmp_path: Path) -> None:
    run = write_study(tmp_path / "run", lambda key, seen: seen if key[0] == "be" and key[2] == "scan" else None)
    found = of(study, run)
    assert set(verdicts(found).values()) == {"not resolved"}
    first = tables.build(found.cells)[0]
    shown = {line.label: [cell.ours for cell in line.cells] for line in first.lines}
    assert shown["ROS"] == [tables.NOT_MEASURED] * 3
    assert tables.NOT_MEASURED not in shown["Fast DDS best effort"]


def test_few_trials_leave_ratios_open(study: Study, tmp_path: Path) -> None:
    run = write_study(tmp_path / "run", pairs=1)
    found = of(study, run)
    assert set(verdicts(found).values()) == {"not resolved"}
    lines = "\n".join(said(found, runs.read(run)))
    assert "not resolved, " in lines
    assert "Laser scan, Local, Ice / ROS: at most 0.5×? not resolved" in lines


def test_overload_is_shown_as_a_result(study: Study, page: Path) -> None:
    table = next(one for one in tables.build(of(study, page.parent).cells) if one.name == "table-4")
    ros = next(line for line in table.lines if line.label == "ROS")
    assert [cell.note for cell in ros.cells] == ["", "", "", "", "", "overload", "", "", "overload"]


def test_short_rounds_do_not_tell_how_an_overloaded_cell_stays(study: Study, page: Path) -> None:
    """Eighteen clouds a second need 1.33 Gbit/s: a quarter must be lost over Gigabit Ethernet in the long run."""
    cells = of(study, page.parent).cells
    ros, ice, images = ("ros", "ethernet", "points"), ("ice", "ethernet", "points"), ("ros", "wifi", "image")
    full = {key: larger(cells.arms[key], 9_216_000, 18) for key in (ros, ice)} | {
        images: larger(cells.arms[images], 921_600, 32)
    }
    minute = replace(cells, arms={**cells.arms, **full})
    assert minute.unsettled == {}
    short = replace(minute, round_s=1.5)
    evidence = short.evidence
    assert (short.unsettled[ros], short.unsettled[images]) == pytest.approx((0.246, 0.771), abs=0.001)
    loss = evidence.loss(ros)
    assert loss is not None
    assert (loss.at_most(0.1), loss.at_most(0.4), loss.at_least(0.5)) == (False, None, None)
    assert checks.loss_text(loss) == "at least 24.6 % lost in the long run"
    assert (evidence.median_ns(ros), evidence.ratio(ros, ice)) == (OVERLOADED, OVERLOADED)
    assert evidence.median_ns(images) == Range(math.inf, math.inf)
    assert evidence.ratio(("be", "localhost", "scan"), images) == OVERLOADED
    assert evidence.ratio(images, images) is None
    assert ros not in [one.key for one in differences.deviations(short)]
    assert ros not in differences.agreeing(short)
    assert ros in differences.agreeing(minute)
    said = dict(conclusions.judge(study, evidence))["ros-keeps-clouds-on-ethernet"]
    assert [check.holds for check in said.checks[:2]] == [None, None]


def test_the_page_says_that_its_rounds_are_short(study: Study, tmp_path: Path) -> None:
    text = build(study, write_study(tmp_path / "run", pairs=2, round_s=1.5)).page.read_text()
    assert "cells are overloaded, and rounds of 1.5 s do not show how they stay" in text


def larger(arm: Arm, size: int, rate_hz: float) -> Arm:
    return replace(arm, row=arm.row.model_copy(update={"max_size": size, "offered_hz": rate_hz}))


def test_a_run_without_cells_of_the_study_is_refused(study: Study, tmp_path: Path) -> None:
    run = write_study(tmp_path / "run", lambda key, seen: seen if key == ("be", "wifi", "scan") else None)
    text = (run / "campaign.json").read_text()
    (run / "campaign.json").write_text(text.replace('"codec": "ros1"', '"codec": "cdr"'))
    with pytest.raises(LabError, match="no cell of martin2018"):
        of(study, run)


def test_the_plan_is_the_study(study: Study) -> None:
    chosen = selection.select(study, quick=True, today=False, mtu_1500=False, filters=())
    factors = {tuple(getattr(case.factors, name) for name in FACTORS) for case in chosen.cases}
    wanted = {(one.middleware, one.reliability, one.protection, network.link, sensor.id, one.settings)
              for one in study.configurations for network in study.networks for sensor in study.sensors}  # fmt: skip
    assert factors == wanted
    assert {case.factors.codec for case in chosen.cases} == {"ros1"}
    assert chosen.plan.plan.name == "martin2018-quick"
    assert expected_seconds(chosen.plan, chosen.cases)[0] < 40 * 60


def test_what_can_be_added(study: Study) -> None:
    chosen = selection.select(study, quick=False, today=True, mtu_1500=True, filters=())
    assert len(chosen.cases) == (9 + 8) * (3 + 2) * 3
    assert {case.factors.link for case in chosen.cases} >= {"ethernet", "wifi"}
    assert {"cyclonedds", "zenoh"} <= {case.factors.middleware for case in chosen.cases}
    assert "--today --mtu-1500" in chosen.text
