"""The reproduction of a study in a run folder: `reproduction.html`, `reproduction.json`, its tables and charts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from comseclab.errors import LabError
from comseclab.literature import cells as finding
from comseclab.literature import conclusions, costs, differences, figures, tables
from comseclab.literature.checks import Check
from comseclab.literature.evidence import FromStudy
from comseclab.literature.page import Findings, Judged, counts, name, page
from comseclab.literature.study import Study
from comseclab.report import figures as files
from comseclab.report import run as runs
from comseclab.report.charts.base import Canvas
from comseclab.report.run import RunData
from comseclab.results.store import RunFolder, write_atomically


@dataclass(frozen=True)
class Built:
    """Where the page is, and lines for the one who waits for it."""

    page: Path
    said: Sequence[str]


def build(study: Study, run: Path) -> Built:
    """Write everything; raises LabError when the run is none, is damaged, or holds no cell of the study."""
    data = runs.read(run)
    found = findings(study, data)
    cells = found.cells
    shown = [*tables.build(cells), costs.build(cells)]
    folder = data.path / "tables"
    folder.mkdir(exist_ok=True)
    write_atomically(folder / "reproduction.csv", tables.csv_rows(cells))
    for table in shown:
        write_atomically(folder / f"{table.name}.md", tables.markdown(table))
    RunFolder(data.path).write_json("reproduction.json", as_plain(found, data))
    path = data.path / "reproduction.html"
    write_atomically(path, page(found, data, shown, _figures(cells, data)))
    return Built(path, list(said(found, data)))


def findings(study: Study, data: RunData) -> Findings:
    """What a run says of the study. Raises LabError when it holds no cell of it."""
    cells = finding.find(study, data)
    if not cells.arms:
        raise LabError(f"{data.path} holds no cell of {study.id}", f"make a run: `comseclab reproduce {study.id}`")
    return Findings(cells, list(_judge(study, cells)), differences.deviations(cells))


def _judge(study: Study, cells: finding.Cells) -> Iterator[Judged]:
    published = dict(conclusions.judge(study, FromStudy(study.published)))
    ours = dict(conclusions.judge(study, cells.evidence))
    for conclusion in study.conclusions:
        yield Judged(conclusion, published[conclusion.id], ours[conclusion.id])


def _figures(cells: finding.Cells, data: RunData) -> list[files.Figure]:
    drawn = []
    for drawing in figures.drawings(cells):
        if figures.measured(cells, drawing):
            both = figures.draw(cells, drawing, Canvas.wide()), figures.draw(cells, drawing, Canvas.narrow())
            words = figures.CAPTIONS[drawing.of], figures.describe(cells, drawing)
            drawn.append(files.write(data.path, drawing.name, "Figures", drawing.title, *words, both))
    return drawn


def said(found: Findings, data: RunData) -> Iterator[str]:
    """The outcome as lines: each conclusion, then what could not be resolved, then trials that failed."""
    for one in found.judged:
        yield f"{one.ours.said:13} {one.conclusion.says} ({counts(one.ours, found.cells)})"
    pending = found.open_checks
    if pending:
        yield f"not resolved, {len(pending)} comparisons:"
    for check in pending:
        yield f"  {name(found.cells, check)}: {check.asks}? {check.figures}"
    ratios = costs.unresolved(found.cells)
    if ratios:
        yield f"not resolved, the cost of security in {len(ratios)} cells:"
    for cell, figure in ratios:
        yield f"  {cell}: {figure}"
    invalid = len(data.summary.invalid_trials)
    if invalid:
        yield f"{invalid} of {len(data.records)} trials were invalid and repeated"
    for key, arm in found.cells.arms.items():
        if not arm.row.trials:
            yield f"{tables.missing(found.cells, key)}: {found.cells.name(key)}"


def as_plain(found: Findings, data: RunData) -> dict[str, Any]:
    """What `reproduction.json` holds."""
    return {
        "version": 1,
        "study": found.cells.study.id,
        "source": found.cells.study.source.model_dump(),
        "plan": data.summary.plan,
        "cells": [tables.figures(found.cells, key) for key in tables.every_key(found.cells)],
        "conclusions": [
            {
                "id": one.conclusion.id,
                "says": one.conclusion.says,
                "criterion": one.conclusion.criterion,
                "verdict": one.ours.said,
                "checks": [_plain(check) for check in one.ours.checks],
                "published_verdict": one.published.said,
                "published_checks": [_plain(check) for check in one.published.checks],
            }
            for one in found.judged
        ],
        "agreeing": differences.agreeing(found.cells),
        "differences": [
            {
                "text": reason.text,
                "cells": [
                    {"cell": one.key, "quantity": one.quantity, "direction": one.direction, "figures": one.figures}
                    for one in reason.deviations
                ],
            }
            for reason in differences.reasons(found.cells, found.deviations)
        ],
        "not_resolved": [_plain(check) for check in found.open_checks],
        "costs_not_resolved": [{"cell": cell, "ratio": ratio} for cell, ratio in costs.unresolved(found.cells)],
    }


def _plain(check: Check) -> dict[str, Any]:
    return {"cells": check.cells, "asks": check.asks, "holds": check.holds, "figures": check.figures}
