"""The study's tables with our figures beside its own: for the page, as Markdown, and as CSV with every digit."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from comseclab.analysis import compare
from comseclab.analysis.summary import LossAwareNs
from comseclab.literature.cells import Cells, unable
from comseclab.literature.differences import near, times_published
from comseclab.literature.study import Key, Published
from comseclab.report import units
from comseclab.report.arms import Arm

NOT_AVAILABLE = "N/A"
NOT_MEASURED = "not measured"
NO_VALID_TRIAL = "no valid trial"


@dataclass(frozen=True)
class Cell:
    """One cell in the study's form, then what we add; empty strings where there is nothing to say."""

    published: str
    ours: str
    median: str = ""
    tail: str = ""
    note: str = ""

    @property
    def measured(self) -> bool:
        return self.ours not in (NOT_MEASURED, NO_VALID_TRIAL)


@dataclass(frozen=True)
class Line:
    label: str
    token: str
    cells: Sequence[Cell]


@dataclass(frozen=True)
class Table:
    """A table of the study: `columns` are groups of one heading and the headings below it."""

    name: str
    title: str
    note: str
    columns: Sequence[tuple[str, Sequence[str]]]
    lines: Sequence[Line]

    @property
    def headings(self) -> list[str]:
        """One a column."""
        several = len(self.columns) > 1
        return [f"{group}, {name}" if several else name for group, names in self.columns for name in names]


def build(cells: Cells) -> list[Table]:
    """Tables 1 to 4."""
    return [*(_latency(cells, sensor.id) for sensor in cells.study.sensors), _loss(cells)]


def _latency(cells: Cells, sensor: str) -> Table:
    shown = cells.study.sensor(sensor)
    names = [network.name for network in cells.networks]
    return Table(
        f"table-{shown.table}",
        f"Table {shown.table}: latency, {shown.name.lower()}",
        "Mean ± standard deviation of the messages that arrived, µs: as published, then ours. "
        "Below: our median over all messages sent with its 95 % interval, p99, and the slowest that arrived.",
        [(shown.name, names)],
        [
            Line(one.name, token(one.protection), [
                _latency_cell(cells, (one.id, network.id, sensor)) for network in cells.networks
            ])
            for one in cells.configurations
        ],
    )  # fmt: skip


def token(protection: str) -> str:
    """The palette's colour that stands for a protection: none, authenticated, encrypted."""
    return {"none": "c1", "auth": "c5"}.get(protection, "c2")


def _latency_cell(cells: Cells, key: Key) -> Cell:
    published = cells.study.published.get(key)
    arm = cells.measured(key)
    if arm is None:
        return Cell(_published(published), missing(cells, key))
    row = arm.row
    found = row.latency_ns
    lost = f"{units.percent(row.loss)} % lost" if row.loss else ""
    told = ", ".join(filter(None, [_apart(cells, key), unable(arm), lost]))
    if found is None:
        return Cell(_published(published), NOT_AVAILABLE, note=told)
    return Cell(
        _published(published), _mean(found.mean, found.sd), _median(arm), _tail(row.loss_aware_ns.p99, found.max), told
    )


def missing(cells: Cells, key: Key) -> str:
    """Why a cell has no figure of ours."""
    arm = cells.arms.get(key)
    return NO_VALID_TRIAL if arm and arm.row.invalid else NOT_MEASURED


def _published(cell: Published | None) -> str:
    if cell is None:
        return ""
    return NOT_AVAILABLE if cell.mean_ns is None else _mean(cell.mean_ns, cell.sd_ns)


def _apart(cells: Cells, key: Key) -> str:
    """`0.2× the published mean`, where that is worth a look."""
    times = times_published(cells, key)
    if times is None or near(times):
        return ""
    return f"{units.digits(times, 2)}× the published mean"


def _mean(mean_ns: float, sd_ns: float | None) -> str:
    spread = units.NOTHING if sd_ns is None else units.count(sd_ns / 1e3)
    return f"{units.count(mean_ns / 1e3)} ± {spread}"


def _median(arm: Arm) -> str:
    found = median(arm)
    p50 = arm.row.loss_aware_ns.p50
    if p50 == "lost":
        return "median: lost"
    if found is None:
        return f"median {units.duration(p50)}" if isinstance(p50, int | float) else ""
    estimate, low, high = found
    unit = next((unit for unit in reversed(units.UNITS) if estimate >= unit.ns), units.UNITS[0])
    ends = "" if low is None or high is None else f" [{unit.number(low)}, {unit.number(high)}]"
    return f"median {unit.number(estimate)}{ends} {unit.name}"


def median(arm: Arm) -> tuple[float, float | None, float | None] | None:
    """Median latency over all messages sent, over trials: geometric mean and 95 % interval, ns; None where lost."""
    trials = [trial.median_ns for trial in arm.charts.trials]
    if not trials or None in trials:
        return None
    found = compare.ratio_interval(np.array(trials, float), compare.FIXED)
    return (found.estimate, found.low, found.high) if found else None


def _tail(p99: LossAwareNs, largest: float) -> str:
    early = "p99 lost, " if p99 == "lost" else f"p99 {units.duration(p99)}, " if isinstance(p99, int | float) else ""
    return f"{early}slowest {units.duration(largest)}"


def _loss(cells: Cells) -> Table:
    sensors = cells.study.sensors
    return Table(
        "table-4",
        "Table 4: loss",
        "Share of the messages sent that had not arrived when the trial ended, per cent: as published, then ours.",
        [(sensor.name, [network.name for network in cells.networks]) for sensor in sensors],
        [
            Line(one.name, token(one.protection), [
                _loss_cell(cells, (one.id, network.id, sensor.id)) for sensor in sensors for network in cells.networks
            ])
            for one in cells.configurations
        ],
    )  # fmt: skip


def _loss_cell(cells: Cells, key: Key) -> Cell:
    published, arm = cells.study.published.get(key), cells.measured(key)
    printed = f"{100 * published.loss:.2f}" if published else ""
    if arm is None or arm.row.loss is None:
        return Cell(printed, missing(cells, key))
    return Cell(printed, f"{100 * arm.row.loss:.2f}", note=unable(arm))


def markdown(table: Table) -> str:
    """The table for a paper's notes; in each cell the published figure, an arrow, and ours."""
    heads = ["", *table.headings]
    lines = [heads, ["---"] * len(heads), *([line.label, *map(_plain, line.cells)] for line in table.lines)]
    body = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"## {table.title}\n\n{table.note}\n\n{body}\n"


def _plain(cell: Cell) -> str:
    ours = "; ".join(filter(None, [cell.ours, cell.median, cell.tail, cell.note]))
    return f"{cell.published} → {ours}" if cell.published else ours


def csv_rows(cells: Cells) -> str:
    """Every cell in a row, times in nanoseconds, empty where there is no figure."""
    text = io.StringIO()
    rows = [figures(cells, key) for key in every_key(cells)]
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def every_key(cells: Cells) -> list[Key]:
    """All cells, in the order of the tables."""
    return [
        (one.id, network.id, sensor.id)
        for sensor in cells.study.sensors
        for one in cells.configurations
        for network in cells.networks
    ]


def figures(cells: Cells, key: Key) -> dict[str, Any]:
    """One cell's figures, published and ours, as plain values (ns, shares); None where there is none."""
    published, arm = cells.study.published.get(key), cells.measured(key)
    row = arm.row if arm else None
    found, middle = (row.latency_ns if row else None), (median(arm) if arm else None)
    return {
        "configuration": key[0], "network": key[1], "sensor": key[2],
        "published_mean_ns": published and published.mean_ns,
        "published_sd_ns": published and published.sd_ns,
        "published_loss": published and published.loss,
        "case": row and row.case,
        "trials": row.trials if row else 0,
        "sent": row and row.sent,
        "mean_ns": found and found.mean,
        "sd_ns": found and found.sd,
        "loss": row and row.loss,
        "median_ns": middle and middle[0],
        "median_low_ns": middle and middle[1],
        "median_high_ns": middle and middle[2],
        "p99_ns": row and row.loss_aware_ns.p99,
        "max_ns": found and found.max,
        "unable": unable(arm) if arm else None,
    }  # fmt: skip
