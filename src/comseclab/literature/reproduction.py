"""The reproduction of a study in a run folder: `reproduction.html`, `reproduction.json`, its tables and charts."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from comseclab.literature import cells as finding
from comseclab.literature import page, tables
from comseclab.literature.study import Study
from comseclab.report import run as runs
from comseclab.results.store import write_atomically


@dataclass(frozen=True)
class Built:
    """Where the page is, and lines for the one who waits for it."""

    page: Path
    said: Sequence[str]


def build(study: Study, run: Path) -> Built:
    """Write everything; raises LabError when the run is none, is damaged, or holds no cell of the study."""
    data = runs.read(run)
    cells = finding.find(study, data)
    shown = tables.build(cells)
    folder = data.path / "tables"
    folder.mkdir(exist_ok=True)
    write_atomically(folder / "reproduction.csv", tables.csv_rows(cells))
    for table in shown:
        write_atomically(folder / f"{table.name}.md", tables.markdown(table))
    path = data.path / "reproduction.html"
    write_atomically(path, page.page(cells, data, shown))
    return Built(path, [])
