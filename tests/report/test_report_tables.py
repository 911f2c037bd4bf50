import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest


def summary(run: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((run / "summary.json").read_text())
    return loaded


def looked_up(row: dict[str, Any], name: str) -> Any:
    """The value behind a dotted column name."""
    value: Any = row
    for part in name.split("."):
        if not isinstance(value, dict):
            return None
        value = value.get(part)
    return value


def test_csv_reads_back_equal_to_the_summary(demo: Path) -> None:
    rows = summary(demo)["cases"]
    with (demo / "tables" / "results.csv").open(newline="") as file:
        read = list(csv.DictReader(file))
    assert len(read) == len(rows) == 10
    for written, row in zip(read, rows, strict=True):
        assert {
            "case",
            "latency_ns.p50",
            "ratio_to_baseline.low",
            "cpu_core_share.robot",
            "link.rate_bps",
        } <= written.keys()
        for name, text in written.items():
            value = looked_up(row, name)
            if value is None:
                assert text == ""
            elif isinstance(value, int | float) and not isinstance(value, bool):
                assert float(text) == value
            else:
                assert text == str(value)


def markdown_rows(path: Path) -> list[dict[str, str]]:
    lines = [line.strip("| ") for line in path.read_text().splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)] for line in lines]
    return [dict(zip(["panel", *cells[0][-len(row) + 1 :]], row, strict=True)) for row in cells[2:]]


def number(text: str) -> float:
    return float(text.replace("\u202f", "").replace("−", "-"))


def test_markdown_says_the_same_in_three_digits(demo: Path) -> None:
    rows = summary(demo)["cases"]
    read = markdown_rows(demo / "tables" / "results.md")
    assert len(read) == len(rows)
    for written, row in zip(read, rows, strict=True):
        assert number(written["Sent"]) == row["sent"]
        assert number(written["Trials"]) == row["trials"]
        assert number(written["Lost (%)"]) == pytest.approx(100 * row["loss"], rel=5e-3)
        assert number(written["p50 (ms)"]) == pytest.approx(row["loss_aware_ns"]["p50"] / 1e6, rel=5e-3)
        assert number(written["Largest (ms)"]) == pytest.approx(row["latency_ns"]["max"] / 1e6, rel=5e-3)
        ratio = row["ratio_to_baseline"]
        if ratio:
            assert f"{ratio['median']:.2f}×" in written["Versus baseline"]
            assert f"\\[{ratio['low']:.2f}, {ratio['high']:.2f}\\]" in written["Versus baseline"]
        else:
            assert written["Versus baseline"] == "baseline"


def test_a_lost_quantile_is_said_to_be_lost(demo: Path) -> None:
    wifi = [row for row in markdown_rows(demo / "tables" / "results.md") if "wifi" in row["panel"]]
    assert [row["p99 (ms)"] for row in wifi] == ["lost", "lost"]
