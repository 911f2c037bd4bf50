"""From a run to tables, verdicts and differences: made-up runs whose answer is known."""

import csv
import json
from pathlib import Path

import pytest
from made_up import Behaviour, write_study

from comseclab.errors import LabError
from comseclab.literature import differences, selection, tables
from comseclab.literature.cells import FACTORS, Cells
from comseclab.literature.page import Findings
from comseclab.literature.reproduction import findings, said
from comseclab.literature.study import Key, Study
from comseclab.report import run as runs


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
    assert selection.expected_seconds(chosen.plan, chosen.cases) < 45 * 60


def test_what_can_be_added(study: Study) -> None:
    chosen = selection.select(study, quick=False, today=True, mtu_1500=True, filters=())
    assert len(chosen.cases) == (9 + 8) * (3 + 2) * 3
    assert {case.factors.link for case in chosen.cases} >= {"ethernet", "wifi"}
    assert {"cyclonedds", "zenoh"} <= {case.factors.middleware for case in chosen.cases}
    assert "--today --mtu-1500" in chosen.text
