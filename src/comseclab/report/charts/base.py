"""What all charts share: looks, axes, and panels one above the other."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import altair as alt

from comseclab.report import palette
from comseclab.report.arms import Arm, Panel

FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
NANOSECONDS = (
    "datum.value >= 1e9 ? datum.value / 1e9 + ' s' : datum.value >= 1e6 ? datum.value / 1e6 + ' ms' : "
    "datum.value >= 1e3 ? datum.value / 1e3 + ' µs' : datum.value + ' ns'"
)
EXTENT = 50
"""Pixels for the labels of a vertical scale."""
RATES_HZ = (10.0, 33.0)
"""A message older than one period is overtaken by the next one of a sensor of this rate (Martin et al. 2018)."""


Spec = dict[str, Any]
Plot = alt.LayerChart | alt.FacetChart
LOOKS: Spec = {
    "font": FONT,
    "background": palette.GROUND.light,
    "padding": 4,
    "view": {"stroke": None},
    "axis": {
        "labelColor": palette.QUIET.light,
        "gridColor": palette.LINE.light,
        "domainColor": palette.LINE.light,
        "tickColor": palette.LINE.light,
        "labelFontSize": 12,
        "labelPadding": 5,
        "tickSize": 4,
    },
    "title": {
        "color": palette.INK.light,
        "fontSize": 13,
        "fontWeight": "bold",
        "anchor": "start",
        "frame": "bounds",
        "offset": 8,
    },
    "legend": {
        "labelColor": palette.INK.light,
        "labelFontSize": 12,
        "orient": "top",
        "title": None,
        "symbolOpacity": 1,
        "symbolStrokeWidth": 2.5,
        "columnPadding": 18,
    },
}


@dataclass
class Canvas:
    """What a chart is drawn on: a width in pixels, how many plots stand side by side, and the chart's data by name."""

    width: int
    columns: int
    most_for_names: int
    datasets: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    @classmethod
    def wide(cls) -> "Canvas":
        """For a screen, for paper and for the chart's files."""
        return cls(width=880, columns=2, most_for_names=250)

    @classmethod
    def narrow(cls) -> "Canvas":
        """For a phone."""
        return cls(width=340, columns=1, most_for_names=136)

    def data(self, rows: Iterable[dict[str, Any]]) -> alt.NamedData:
        """Rows as a plot's data. They travel beside the chart, since Altair copies a chart at every step."""
        name = f"data{len(self.datasets)}"
        self.datasets[name] = list(rows)
        return alt.NamedData(name)

    def room_for(self, names: Iterable[str]) -> int:
        """Pixels for the longest of the names beside a plot."""
        return min(self.most_for_names, 16 + 7 * max((len(name) for name in names), default=0))

    def finish(self, plots: Sequence[Plot], columns: int = 1, shared: Sequence[str] = (), spacing: int = 22) -> Spec:
        """The specification of all plots in the report's looks; `shared` names channels with one legend for all."""
        parts = [plot.to_dict(validate=False) for plot in plots]
        schema = parts[0]["$schema"]
        for part in parts:
            del part["$schema"], part["config"]
            for layer in part["layer"]:
                layer["mark"]["aria"] = "description" in layer["encoding"]
        spec: Spec = {"$schema": schema, "config": LOOKS, "columns": columns, "spacing": spacing, "concat": parts}
        if shared:
            spec["resolve"] = {"scale": dict.fromkeys(shared, "shared")}
        return spec | {"datasets": self.datasets}

    def legend(self, **looks: Any) -> alt.Legend:
        """A legend above all plots, in one column where there is little room."""
        return alt.Legend(columns=4 if self.columns > 1 else 1, labelLimit=0 if self.columns > 1 else 290, **looks)


Draw = Callable[[Sequence[Panel], Canvas], Spec | None]


@dataclass(frozen=True)
class Chart:
    """One kind of chart; `draw` returns its Vega-Lite specification, or None where the run has nothing for it."""

    name: str
    section: str
    title: str
    caption: Callable[[Sequence[Panel]], str]
    describe: Callable[[Sequence[Panel]], str]
    draw: Draw


def time_domain(times_ns: Iterable[float]) -> tuple[float, float]:
    """The powers of ten, or a third of one, around all times."""
    positive = [value for value in times_ns if value > 0 and math.isfinite(value)]
    if not positive:
        return 1e5, 1e9
    return _down(min(positive)), _up(max(positive))


def _down(value: float) -> float:
    decade = 10 ** math.floor(math.log10(value))
    return float(decade * 3 if value >= decade * 3 else decade)


def _up(value: float) -> float:
    decade = 10 ** math.floor(math.log10(value))
    return float(decade * 3 if value <= decade * 3 else decade * 10)


STEPS = ((1.0, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8), (1.0, 1.5, 2, 3, 5), (1.0, 2, 5), (1.0, 3), (1.0,))


def time_axis(domain: tuple[float, float], room: int, **looks: Any) -> alt.Axis:
    """A time axis with as many round labels as there is `room` for."""
    return alt.Axis(
        values=time_ticks(domain, room), labelExpr=NANOSECONDS, title=None, labelFlush=False, labelOverlap=True, **looks
    )


def time_ticks(domain: tuple[float, float], room: int) -> list[float]:
    """Round times within the domain, at most `room` of them where powers of ten allow it."""
    decades = range(math.floor(math.log10(domain[0])), math.ceil(math.log10(domain[1])) + 1)
    ticks: list[float] = []
    for steps in STEPS:
        ticks = [tick for power in decades for step in steps if domain[0] <= (tick := step * 10.0**power) <= domain[1]]
        if len(ticks) <= room:
            break
    return ticks


def log_time(domain: tuple[float, float]) -> alt.Scale:
    return alt.Scale(type="log", domain=list(domain), nice=False)


def names_axis(room: int) -> alt.Axis:
    """Names beside the plot, always in the same room so that panels align."""
    return alt.Axis(
        title=None,
        labelLimit=room - 8,
        minExtent=room,
        maxExtent=room,
        ticks=False,
        domain=False,
        labelColor=palette.INK.light,
    )


def arm_colour(arms: Iterable[Arm], legend: alt.Legend | None = None) -> alt.Color:
    """Each arm in its own colour, in all charts the same."""
    looks = {arm.label: arm.colour.light for arm in sorted(arms, key=lambda arm: arm.style)}
    return alt.Color("arm:N", scale=alt.Scale(domain=list(looks), range=list(looks.values())), legend=legend)


def order(panel: Panel) -> list[str]:
    """The arms' names from top to bottom."""
    return list(dict.fromkeys(arm.label for arm in panel.arms))


def describe_arms(groups: Sequence[Panel], tell: Callable[[Arm], str]) -> str:
    """One clause an arm, for those who hear the chart."""
    return " ".join(f"{panel.title}, {arm.label}: {tell(arm)}." for panel in groups for arm in panel.arms)
