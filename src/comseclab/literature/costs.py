"""What security costs, cell by cell: the ratio of latencies with and without it, as published and ours."""

from comseclab.analysis.summary import Ratio
from comseclab.literature.cells import Cells
from comseclab.literature.evidence import FromStudy
from comseclab.literature.study import Configuration, Key
from comseclab.literature.tables import Cell, Line, Table, missing, token
from comseclab.report import units
from comseclab.report.sentences import WORDS, interval


def build(cells: Cells) -> Table:
    """A table in the form of the study's table 4, which has none of this kind."""
    sensors, networks = cells.study.sensors, cells.networks
    return Table(
        "costs",
        "What security costs",
        "Latency as a multiple of the same configuration without security: the ratio of the published means, then our "
        "ratio of medians over pairs of trials with its 95 % interval; equivalent means within 10 %.",
        [(sensor.name, [network.name for network in networks]) for sensor in sensors],
        [
            Line(one.name, token(one.protection), [
                _cell(cells, (one.id, network.id, sensor.id)) for sensor in sensors for network in networks
            ])
            for one in cells.configurations if one.protection != "none"
        ],
    )  # fmt: skip


def twin(cells: Cells, key: Key) -> Key:
    """The cell without security that a secured one is compared with."""
    secured = next(one for one in cells.configurations if one.id == key[0])
    plain = next(one for one in cells.configurations if _plain(one) == _plain(secured) and one.protection == "none")
    return plain.id, *key[1:]


def _plain(one: Configuration) -> tuple[str, str, str]:
    return one.middleware, one.reliability, one.settings


def _cell(cells: Cells, key: Key) -> Cell:
    published = FromStudy(cells.study.published).ratio(twin(cells, key), key)
    printed = f"{units.ratio(published.low)}×" if published and 0 < published.low < float("inf") else ""
    found = ratio(cells, key)
    if found is None:
        return Cell(printed, missing(cells, key))
    ours = WORDS["lost"] if found.median is None else f"{units.ratio(found.median)}×"
    return Cell(printed, ours, interval(found), note="not resolved" if found.verdict == "not resolved" else "")


def ratio(cells: Cells, key: Key) -> Ratio | None:
    """Ours, over pairs of trials that ran side by side."""
    arm = cells.measured(key)
    return arm.row.ratio_to_baseline if arm else None


def unresolved(cells: Cells) -> list[tuple[str, str]]:
    """Cells whose cost is neither shown nor ruled out, each with its interval."""
    found = []
    for key in cells.arms:
        measured = ratio(cells, key)
        if measured and measured.verdict == "not resolved":
            figures = "too few pairs" if measured.median is None else f"{units.ratio(measured.median)}×"
            found.append((cells.name(key), f"{figures} {interval(measured)}".strip()))
    return found
