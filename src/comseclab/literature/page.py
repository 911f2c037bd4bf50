"""The page of a reproduction."""

from collections.abc import Sequence

from comseclab.literature import tables
from comseclab.literature.cells import Cells
from comseclab.report.frame import render
from comseclab.report.run import RunData


def page(cells: Cells, data: RunData, shown: Sequence[tables.Table]) -> str:
    """The HTML of the whole reproduction."""
    source = cells.study.source
    return render(
        "reproduction.html.j2",
        data,
        "comseclab.literature",
        title=f"{cells.study.id} – comseclab reproduction",
        heading=source.title,
        subtitle=f"{source.authors}, {source.year}",
        tables=shown,
        sections=[],
    )
