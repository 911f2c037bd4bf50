"""Building a report: what is written, and one clear error for each kind of damage."""

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

from comseclab.analysis.summary import Summary
from comseclab.errors import LabError
from comseclab.report import build
from comseclab.report.charts import CHARTS
from comseclab.report.details import commands
from comseclab.report.run import read

Written = Callable[..., Path]


def test_everything_promised_is_written(demo: Path) -> None:
    Summary.model_validate_json((demo / "summary.json").read_text())
    for chart in CHARTS:
        assert ET.parse(demo / "charts" / f"{chart.name}.svg").getroot().tag.endswith("svg")
        assert (demo / "charts" / f"{chart.name}.png").read_bytes().startswith(b"\x89PNG")
        assert "vega-lite" in json.loads((demo / "charts" / f"{chart.name}.vl.json").read_text())["$schema"]
    assert {path.name for path in (demo / "tables").iterdir()} == {"results.csv", "results.md", "arrived.md"}
    assert not list(demo.rglob("*.part"))


def test_a_rebuilt_page_is_the_same(demo: Path) -> None:
    before = (demo / "report.html").read_bytes()
    assert build(demo).read_bytes() == before


def test_the_page_stays_small_whatever_the_number_of_samples(demo: Path, written: Written) -> None:
    many = build(written(pairs=5, messages=6_000)).stat().st_size
    assert many < 3_000_000
    assert many < 2 * (demo / "report.html").stat().st_size


def test_a_chart_that_no_longer_holds_is_removed(written: Written) -> None:
    run = written()
    build(run)
    assert (run / "charts" / "trial-medians.svg").exists()
    for path in run.glob("trials/*/record.json"):
        if json.loads(path.read_text())["pair"]:
            path.unlink()
    assert 'id="chart-trial-medians"' not in build(run).read_text()
    assert not (run / "charts" / "trial-medians.svg").exists()


@pytest.mark.parametrize(("here", "typed"), [("", "{name}"), ("elsewhere", "{folder}/{name}")])
def test_the_run_is_repeated_from_where_it_is(
    written: Written, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, here: str, typed: str
) -> None:
    run = written()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / here)
    named = typed.format(folder=tmp_path, name=run.name)
    assert commands(read(run)).splitlines() == [f"comseclab run {named}", f"comseclab report {named}"]


def test_a_folder_that_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="is not a run folder"):
        build(tmp_path)


def test_a_run_without_a_closed_trial(written: Written) -> None:
    run = written()
    for record in run.glob("trials/*/record.json"):
        record.unlink()
    with pytest.raises(LabError, match="holds no closed trial"):
        build(run)


def test_a_run_without_a_valid_trial_tells_why(written: Written) -> None:
    run = written()
    for path in run.glob("trials/*/record.json"):
        record = json.loads(path.read_text())
        path.write_text(json.dumps(record | {"status": "invalid", "reasons": ["the reader ran dry"]}))
    with pytest.raises(LabError, match="none valid: the reader ran dry"):
        build(run)


@pytest.mark.parametrize("name", ["samples.parquet", "record.json", "spec.json"])
def test_a_damaged_file_of_a_trial_is_named(written: Written, name: str) -> None:
    run = written()
    path = sorted(run.glob(f"trials/*/{name}"))[0]
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(LabError, match=name) as caught:
        build(run)
    assert caught.value.remedy
    assert not (run / "report.html").exists()


@pytest.mark.parametrize("name", ["campaign.json", "environment.json"])
def test_a_damaged_file_of_the_run_is_named(written: Written, name: str) -> None:
    run = written()
    (run / name).write_text("{")
    with pytest.raises(LabError, match=name):
        build(run)


def test_a_run_cut_short_still_has_a_page(written: Written) -> None:
    """Only one trial of the first case has ended: no comparison, no second case."""
    run = written()
    for record in sorted(run.glob("trials/*/record.json"))[1:]:
        record.unlink()
    text = build(run).read_text()
    assert "no valid trial" in text
    assert "scan over localhost" in text


def test_a_case_in_which_everything_was_lost(written: Written) -> None:
    text = build(written(lossy="ethernet")).read_text()
    assert "cannot be compared for scan" in text
