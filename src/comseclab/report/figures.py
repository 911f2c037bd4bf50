"""A chart's files in a run folder, and the chart as a page shows it."""

from dataclasses import dataclass
from pathlib import Path

from comseclab.report import render
from comseclab.report.charts.base import Spec
from comseclab.report.run import as_json
from comseclab.results.store import write_atomically


@dataclass(frozen=True)
class Figure:
    """A chart as the page shows it; both widths are SVG, already escaped."""

    name: str
    section: str
    title: str
    caption: str
    wide: str
    narrow: str


def write(run: Path, name: str, section: str, title: str, caption: str, described: str,
          drawn: tuple[Spec, Spec]) -> Figure:  # fmt: skip
    """Write `charts/NAME.*` from a chart drawn for a wide and a narrow page; `described` is what is read aloud."""
    folder = run / "charts"
    folder.mkdir(exist_ok=True)
    wide, narrow = drawn
    wide_svg = render.svg(wide)
    write_atomically(folder / f"{name}.vl.json", as_json(wide))
    write_atomically(folder / f"{name}.svg", wide_svg)
    (folder / f"{name}.png").write_bytes(render.png(wide))
    return Figure(
        name, section, title, caption,
        render.inline(wide_svg, f"{name}-w", title, described),
        render.inline(render.svg(narrow), f"{name}-n", title, described),
    )  # fmt: skip
