"""The report of a run: tables, charts, and one HTML page that opens without a network."""

from pathlib import Path

from comseclab.report import render, tables
from comseclab.report.charts import CHARTS, Canvas, Chart
from comseclab.report.page import Figure, page
from comseclab.report.run import RunData, as_json, read
from comseclab.results.store import write_atomically


def build(run: Path) -> Path:
    """Write `summary.json`, `tables/`, `charts/` and `report.html` of a run folder from its samples; return the page.

    Raises LabError when the folder is not a run, is damaged, or holds no valid trial.
    """
    data = read(run)
    write_atomically(data.path / "summary.json", data.summary.model_dump_json(indent=1) + "\n")
    shown = tables.build(data.panels)
    table_files = _write_tables(data, shown)
    figures = [figure for chart in CHARTS if (figure := _draw(data, chart))]
    write_atomically(data.path / "report.html", page(data, figures, shown, table_files))
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


def _draw(data: RunData, chart: Chart) -> Figure | None:
    """Write a chart's files and return it for the page, or None where the run has nothing for it."""
    folder = data.path / "charts"
    folder.mkdir(exist_ok=True)
    wide, narrow = chart.draw(data.panels, Canvas.wide()), chart.draw(data.panels, Canvas.narrow())
    if wide is None or narrow is None:
        for outdated in folder.glob(f"{chart.name}.*"):
            outdated.unlink()
        return None
    described, wide_svg = chart.describe(data.panels), render.svg(wide)
    write_atomically(folder / f"{chart.name}.vl.json", as_json(wide))
    write_atomically(folder / f"{chart.name}.svg", wide_svg)
    (folder / f"{chart.name}.png").write_bytes(render.png(wide))
    return Figure(
        chart.name, chart.section, chart.title, chart.caption(data.panels),
        render.inline(wide_svg, f"{chart.name}-w", chart.title, described),
        render.inline(render.svg(narrow), f"{chart.name}-n", chart.title, described),
    )  # fmt: skip
