"""The tables: on the page and as Markdown with readable digits, as CSV with every digit in base units."""

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from comseclab.analysis.summary import LossAwareNs, Quantiles, Row, Summary
from comseclab.report import units
from comseclab.report.arms import Arm, Panel, cpu_share, every_arm
from comseclab.report.sentences import MARKS, WORDS, interval


@dataclass(frozen=True)
class Column:
    title: str
    unit: str = ""
    text: bool = False


@dataclass(frozen=True)
class Cell:
    text: str
    mark: str = ""
    interval: str = ""
    hint: str = ""
    words: bool = False


@dataclass(frozen=True)
class Line:
    """A row: its label, the colour of its arm and its cells."""

    label: str
    token: str
    kind: str
    cells: list[Cell]


@dataclass(frozen=True)
class Group:
    title: str
    rows: list[Line]


@dataclass(frozen=True)
class Table:
    name: str
    title: str
    note: str
    columns: list[Column]
    groups: list[Group] = field(default_factory=list)


def build(groups: Sequence[Panel]) -> list[Table]:
    """The page's tables: the comparison, then what arrived in detail."""
    return [_results(groups), _arrived(groups)]


def _results(groups: Sequence[Panel]) -> Table:
    every = [value for arm in every_arm(groups) for value in _tail(arm.row)]
    unit = units.unit_for(value for value in every if isinstance(value, int | float))
    columns = [
        Column("Case", text=True),
        Column("Versus baseline", text=True),
        Column("Trials"),
        Column("Sent"),
        Column("Lost", "%"),
        Column("p50", unit.name),
        Column("p99", unit.name),
        Column("p99.9", unit.name),
        Column("Largest", unit.name),
        Column("CPU", "% of a core"),
        Column("On the wire", "B/message"),
        Column("Handshake", "ms"),
    ]
    note = (
        "Quantiles are over all messages sent, a lost one counting as infinitely late; the largest is of those that "
        "arrived. "
        "The ratio is of medians over pairs of trials, with its 95 % interval"
    )
    return Table(
        "results", "What it costs", note + ".", columns, _grouped(groups, lambda arm: _result_cells(arm, unit))
    )


def _grouped(groups: Sequence[Panel], cells: Callable[[Arm], list[Cell]]) -> list[Group]:
    return [Group(panel.title, [_line(arm, cells(arm)) for arm in panel.arms]) for panel in groups]


def _line(arm: Arm, cells: list[Cell]) -> Line:
    ratio = arm.row.ratio_to_baseline
    return Line(arm.label, arm.colour.token, ratio.verdict.replace(" ", "-") if ratio else "", cells)


def _tail(row: Row) -> list[LossAwareNs]:
    aware, arrived = row.loss_aware_ns, _described(row)
    return [aware.p50, aware.p99, aware.p999, arrived.max if arrived else None]


def _described(row: Row) -> Quantiles | None:
    return row.latency_ns or row.half_round_trip_ns


def _result_cells(arm: Arm, unit: units.Unit) -> list[Cell]:
    row = arm.row
    by_host = ", ".join(f"{host} {units.percent(share)} %" for host, share in row.cpu_core_share.items())
    handshake = None if row.handshake_ns is None else row.handshake_ns / 1e6
    return [
        _versus(arm),
        Cell(str(row.trials), hint=f"{row.invalid} invalid" if row.invalid else ""),
        Cell(units.count(row.sent)),
        Cell(units.percent(row.loss), hint=f"{units.count(row.lost)} of {units.count(row.sent)}"),
        *(_quantile(value, row, unit) for value in _tail(row)),
        Cell(units.percent(cpu_share(row)), hint=by_host),
        Cell(units.count(row.wire_bytes_per_message)),
        Cell(units.NOTHING if handshake is None else units.digits(handshake)),
    ]


def _quantile(value: LossAwareNs, row: Row, unit: units.Unit) -> Cell:
    if value == "lost":
        return Cell("lost", hint="so many messages were lost that this quantile never arrives")
    if value is None:
        return Cell(units.NOTHING, hint=f"too extreme for n = {row.loss_aware_ns.n}")
    assert not isinstance(value, str)
    return Cell(unit.number(value), hint=units.duration(value))


def _versus(arm: Arm) -> Cell:
    ratio = arm.row.ratio_to_baseline
    if ratio is None:
        missing = arm.baseline is not None or arm.row.trials == 0
        return Cell(
            "no valid pair" if missing else "baseline" if arm.row.baseline is None else units.NOTHING, words=True
        )
    if ratio.median is None:
        return Cell(
            WORDS[ratio.verdict], MARKS[ratio.verdict], hint=f"{ratio.lost_pairs} of {ratio.pairs} pairs", words=True
        )
    word = WORDS[ratio.verdict]
    return Cell(
        f"{word} {units.ratio(ratio.median)}×",
        MARKS[ratio.verdict],
        interval(ratio),
        f"{ratio.pairs} pairs",
        words=True,
    )


def _arrived(groups: Sequence[Panel]) -> Table:
    found = [quantiles for arm in every_arm(groups) if (quantiles := _described(arm.row))]
    unit = units.unit_for(value for quantiles in found for value in (quantiles.min, quantiles.p50, quantiles.max))
    named = ("Mean", "SD", "Min", "p50", "p90", "p99", "p99.9", "Max")
    columns = [Column("Case", text=True), Column("Arrived"), *(Column(name, unit.name) for name in named)]
    columns += [
        Column("Duplicated"),
        Column("Reordered"),
        Column("Late"),
        Column("Offered", "Hz"),
        Column("Achieved", "Hz"),
    ]
    note = "Describes, and is never compared: where messages are lost, the slowest are missing from it."
    return Table(
        "arrived", "The messages that arrived", note, columns, _grouped(groups, lambda arm: _arrived_cells(arm, unit))
    )


def _arrived_cells(arm: Arm, unit: units.Unit) -> list[Cell]:
    row, found = arm.row, _described(arm.row)
    values = [getattr(found, name, None) for name in ("mean", "sd", "min", "p50", "p90", "p99", "p999", "max")]
    rates = [units.NOTHING if hz is None else units.digits(hz) for hz in (row.offered_hz, row.achieved_hz)]
    return [
        Cell(units.count(found.n if found else 0)),
        *(Cell(unit.number(value)) for value in values),
        *(Cell(units.count(value)) for value in (row.duplicated, row.reordered, row.late)),
        *(Cell(text) for text in rates),
    ]


def markdown(table: Table) -> str:
    """The table for a pull request or a paper's notes, one line a row, groups in a column of their own."""
    titles = ["", *(f"{column.title} ({column.unit})" if column.unit else column.title for column in table.columns)]
    lines = [
        [_plain(title) for title in titles],
        ["---", *("---" if column.text else "---:" for column in table.columns)],
    ]
    for group in table.groups:
        for row in group.rows:
            cells = [" ".join(part for part in (cell.mark, cell.text, cell.interval) if part) for cell in row.cells]
            lines.append([_plain(text) for text in (group.title, row.label, *cells)])
    body = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"## {table.title}\n\n{table.note}\n\n{body}\n"


def _plain(text: str) -> str:
    """Markdown's own characters escaped, so that a topic's name stays a name."""
    for character in "\\|*_`<>[]":
        text = text.replace(character, f"\\{character}")
    return text.replace("\n", " ")


def csv_rows(summary: Summary) -> str:
    """Every row of the summary flattened: nested names joined by dots, base units, empty where null."""
    flat = [dict(_flatten("", row.model_dump(mode="json"))) for row in summary.cases]
    names = dict.fromkeys(name for row in flat for name in row)
    parents = {name.rsplit(".", depth)[0] for name in names for depth in range(1, name.count(".") + 1)}
    return _csv([name for name in names if name not in parents], flat)


def _flatten(prefix: str, value: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        for name, part in value.items():
            yield from _flatten(f"{prefix}.{name}" if prefix else str(name), part)
    else:
        yield prefix, None if value == {} else value


def _csv(names: list[str], rows: Iterable[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, names, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
