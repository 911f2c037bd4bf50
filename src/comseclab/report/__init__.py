"""The report of a run: tables, charts, and one HTML page that opens without a network."""

from pathlib import Path

from comseclab.report import figures, tables
from comseclab.report.charts import CHARTS, Canvas, Chart
from comseclab.report.page import page
from comseclab.report.run import RunData, read
from comseclab.results.store import write_atomically


def build(run: Path) -> Path:
    """Write `summary.json`, `tables/`, `charts/` and `report.html` of a run folder from its samples; return the page.

    Raises LabError when the folder is not a run, is damaged, or holds no valid trial.
    """
    data = read(run)
    write_atomically(data.path / "summary.json", data.summary.model_dump_json(indent=1) + "\n")
    shown = tables.build(data.panels)
    table_files = _write_tables(data, shown)
    drawn = [figure for chart in CHARTS if (figure := _draw(data, chart))]
    write_atomically(data.path / "report.html", page(data, drawn, shown, table_files))
    return data.path / "report.html"


def _write_tables(data: RunData, shown: list[tables.Table]) -> list[str]:
    folder = data.path / "tables"
    folder.mkdir(exist_ok=True)
    files = {"results.csv": tables.csv_rows(data.summary)} | {
        f"{table.name}.md": tables.markdown(table) for table in shown
    }
    for name, text in files.items():
        write_atomically(folder / name, text)
    return list(files)


def _draw(data: RunData, chart: Chart) -> figures.Figure | None:
    """Write a chart's files and return it for the page, or None where the run has nothing for it."""
    wide, narrow = chart.draw(data.panels, Canvas.wide()), chart.draw(data.panels, Canvas.narrow())
    if wide is None or narrow is None:
        for outdated in (data.path / "charts").glob(f"{chart.name}.*"):
            outdated.unlink()
        return None
    caption, described = chart.caption(data.panels), chart.describe(data.panels)
    return figures.write(data.path, chart.name, chart.section, chart.title, caption, described, (wide, narrow))
