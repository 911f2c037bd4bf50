"""The page: everything of the report in one HTML file that needs nothing else."""

from collections.abc import Sequence

from comseclab.report import tables
from comseclab.report.figures import Figure
from comseclab.report.frame import render, sections
from comseclab.report.run import RunData
from comseclab.report.sentences import verdicts


def page(data: RunData, figures: Sequence[Figure], shown: Sequence[tables.Table], table_files: Sequence[str]) -> str:
    """The HTML of the whole report."""
    return render(
        "page.html.j2",
        data,
        heading=data.summary.plan,
        title=f"{data.summary.plan} – comseclab report",
        subtitle=_subtitle(data),
        sentences=verdicts(data.summary, data.panels),
        tables=shown,
        table_files=table_files,
        sections=sections(figures),
    )


def _subtitle(data: RunData) -> str:
    comparison = data.summary.comparison
    began = min((record.started_at for record in data.records), default="")[:16].replace("T", " ")
    parts = [f"measured {began} UTC" if began else "", f"{len(data.summary.cases)} rows"]
    if comparison:
        parts.append(f"{comparison.factor} compared with {comparison.baseline}")
    return " · ".join(part for part in parts if part)
