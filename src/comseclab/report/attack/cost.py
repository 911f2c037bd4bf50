"""Cost against proven protection: the ratio of median latency to the baseline, beside the number of attacks stopped."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import altair as alt

from comseclab.analysis.summary import Summary
from comseclab.attack.costs import summary_of
from comseclab.attack.verdict import Verdict
from comseclab.errors import LabError
from comseclab.report import figures, palette, units
from comseclab.report.attack.run import AttackRun, Configuration
from comseclab.report.charts.base import Canvas, Spec

NAME = "cost-protection"
BAND, LINE = 34, 23
"""Pixels for the number of a band, and for a line."""
TICKS = (1.0, 1.1, 1.2, 1.3, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0)
COLOURS = {colour.token: colour.light for colour in palette.CATEGORIES}
STOPS, NONE_SHOWN = "attacks shown stopped", "none shown stopped"
USELESS = "costs, none shown stopped"
KINDS = {
    STOPS: ("c1", "circle"),
    USELESS: ("c2", "cross"),
    NONE_SHOWN: ("c0", "diamond"),
}


@dataclass(frozen=True)
class Point:
    """A configuration that was measured and attacked."""

    configuration: Configuration
    ratio: float
    """Of medians, geometric mean over workloads, links and streams."""
    rows: int
    stopped: int
    tried: int

    def kind(self, tolerance: float) -> str:
        if self.stopped:
            return STOPS
        return USELESS if self.ratio > 1 + tolerance else NONE_SHOWN


def find(run: AttackRun, given: Path | None) -> tuple[Path, Summary] | None:
    """The run of costs: the one given, or the newest beside the attack run that measured the same plan.

    Raises LabError when the one given has no summary, a damaged one, or one that compares no protections with none.
    """
    if given is not None:
        return given.resolve(), summary_of(given)
    for path in sorted(run.path.parent.glob("*/summary.json"), reverse=True):
        if path.parent.is_symlink():
            continue
        try:
            summary = summary_of(path.parent)
        except LabError:
            continue
        if summary.plan == run.matrix.plan:
            return path.parent, summary
    return None


def points(run: AttackRun, summary: Summary) -> list[Point]:
    """The configurations that both runs have, those that stop most first, cheap before dear."""
    ratios: dict[Configuration, list[float]] = {}
    for one in run.configurations:
        alike = [row for row in summary.cases if _is(one, row.factors)]
        found = [
            row.ratio_to_baseline.median for row in alike if row.ratio_to_baseline and row.ratio_to_baseline.median
        ]
        if found:
            ratios[one] = found
        elif alike and not one.protected:
            ratios[one] = [1.0]
    made = [
        Point(
            one,
            geometric_mean(found),
            len(found),
            sum(cell.verdict is Verdict.STOPPED for cell in run.row(one)),
            sum(cell.verdict is not Verdict.NOT_APPLICABLE for cell in run.row(one)),
        )
        for one, found in ratios.items()
    ]
    return sorted(made, key=lambda point: (-point.stopped, point.ratio))


def _is(one: Configuration, factors: Mapping[str, Any]) -> bool:
    names = ("middleware", "protection", "reliability", "codec", "settings")
    return all(factors.get(name, getattr(one, name)) == getattr(one, name) for name in names)


def figure(run: AttackRun, cost: Path, summary: Summary) -> figures.Figure | None:
    """The chart and its files in the run folder, or None where the two runs share no configuration."""
    shown = points(run, summary)
    if not any(point.configuration.protected for point in shown):
        return None
    assert summary.comparison is not None
    tolerance = summary.comparison.tolerance
    caption = (
        "Across: median latency over that without protection, geometric mean over the workloads and links of "
        f"{cost.name}, on a logarithmic scale. Left: how many attacks were shown stopped; within such a band, cheap "
        "above dear. Crosses: more than the tolerance dearer than no protection, and not one attack shown stopped."
    )
    measured = {point.configuration for point in shown}
    if missing := [one.name for one in run.configurations if one.protected and one not in measured]:
        caption += f" Without a ratio there: {', '.join(missing)}."
    told = " ".join(f"{point.configuration.name}: {_tell(point)}." for point in shown)
    drawn = draw(shown, tolerance, Canvas.wide()), draw(shown, tolerance, Canvas.narrow())
    return figures.write(
        run.path, NAME, "Cost", "Attacks shown stopped (left), and what that costs (across)", caption, told, drawn
    )


def _tell(point: Point) -> str:
    return f"{units.ratio(point.ratio)} times the latency, {point.stopped} of {point.tried} attacks shown stopped"


def draw(shown: Sequence[Point], tolerance: float, canvas: Canvas) -> Spec:
    """One line a configuration, in bands of equal numbers of attacks stopped: so no label covers another."""
    names = [point.configuration.name for point in shown]
    least, most = min(point.ratio for point in shown), max(point.ratio for point in shown)
    ends = [min(0.95, least * 0.95), max(1.5, most * 1.1)]
    room = canvas.room_for(names) + BAND
    width = canvas.width - room - 30
    x = alt.X(
        "ratio:Q",
        scale=alt.Scale(type="log", domain=ends, nice=False),
        axis=alt.Axis(values=_ticks(ends, width), labelExpr="datum.value + '×'", title=None),
    )
    lines = alt.Scale(domain=[len(shown) - 0.4, -0.6], nice=False, zero=False)
    y = alt.Y("line:Q", axis=None, scale=lines)
    kinds = [kind for kind in KINDS if any(point.kind(tolerance) == kind for point in shown)]
    colours, shapes = [COLOURS[KINDS[kind][0]] for kind in kinds], [KINDS[kind][1] for kind in kinds]
    legend = canvas.legend(symbolSize=90)
    colour = alt.Color("kind:N", scale=alt.Scale(domain=kinds, range=colours), legend=legend)
    shape = alt.Shape("kind:N", scale=alt.Scale(domain=kinds, range=shapes), legend=legend)
    rows, bands = canvas.data(_rows(shown, tolerance)), canvas.data(_bands(shown))
    name = alt.Chart(rows).mark_text(align="right", fontSize=12, color=palette.INK.light)
    number = alt.Chart(bands).mark_text(align="left", fontSize=15, fontWeight="bold", color=palette.INK.light)
    useless = canvas.data(row for row in _rows(shown, tolerance) if row["kind"] == USELESS)
    shade = alt.Chart(useless).mark_rect(color=COLOURS[KINDS[USELESS][0]], opacity=0.14)
    plot = alt.layer(
        shade.encode(
            alt.Y("top:Q", axis=None, scale=lines), alt.Y2("bottom:Q"), x=alt.value(30 - room), x2=alt.value(width)
        ),
        alt.Chart(canvas.data([{"ratio": 1.0}])).mark_rule(color=palette.QUIET.light, strokeDash=[3, 3]).encode(x),
        alt.Chart(bands)
        .mark_rule(color=palette.LINE.light)
        .encode(alt.Y("edge:Q", axis=None, scale=lines), x=alt.value(-room), x2=alt.value(width)),
        name.encode(y=y, x=alt.value(-10), text="name:N"),
        number.encode(y=y, x=alt.value(-room), text="label:N"),
        alt.Chart(rows)
        .mark_point(filled=True, size=100, opacity=1)
        .encode(x, y, colour, shape, description=alt.Description("tip:N")),
    )
    return canvas.finish([plot.properties(width=width, height=LINE * len(shown) + 10)])


def _ticks(ends: Sequence[float], width: int) -> list[float]:
    """Round ratios that leave room for their labels."""
    across = width / math.log(ends[1] / ends[0])
    kept: list[float] = []
    for tick in TICKS:
        if ends[0] <= tick <= ends[1] and (not kept or across * math.log(tick / kept[-1]) > 44):
            kept.append(tick)
    return kept


def _rows(shown: Sequence[Point], tolerance: float) -> Iterator[dict[str, Any]]:
    for line, point in enumerate(shown):
        name = point.configuration.name
        tip = f"{name}\n{_tell(point)}\nfrom {point.rows} ratio{'s' if point.rows > 1 else ''}"
        yield {"line": line, "top": line - 0.5, "bottom": line + 0.5, "ratio": point.ratio, "name": name,
               "kind": point.kind(tolerance), "tip": tip}  # fmt: skip


def _bands(shown: Sequence[Point]) -> Iterator[dict[str, Any]]:
    """The number of a band stands at its first line, and a rule above it."""
    for line, point in enumerate(shown):
        if line == 0 or shown[line - 1].stopped != point.stopped:
            yield {"line": line, "edge": line - 0.5, "label": str(point.stopped)}
