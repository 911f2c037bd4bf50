"""What all charts share: looks, axes, and panels one above the other."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from comseclab.report import palette
from comseclab.report.arms import Arm, Panel

FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
NANOSECONDS = (
    "datum.value >= 1e9 ? datum.value / 1e9 + ' s' : datum.value >= 1e6 ? datum.value / 1e6 + ' ms' : "
    "datum.value >= 1e3 ? datum.value / 1e3 + ' µs' : datum.value + ' ns'"
)
RATES_HZ = (10.0, 33.0)
"""A latency above one period means that a sensor of this rate is overtaken by its own next message (Martin et al. 2018)."""


@dataclass(frozen=True)
class Frame:
    """Where a chart is drawn: the width of its plots, the room for names beside them, columns of a legend."""

    width: int
    names: int
    columns: int


WIDE = Frame(width=640, names=190, columns=4)
NARROW = Frame(width=225, names=92, columns=2)

Draw = Callable[[Sequence[Panel], Frame], alt.VConcatChart | None]


@dataclass(frozen=True)
class Chart:
    """One kind of chart; `draw` returns None where the run has nothing for it."""

    name: str
    section: str
    title: str
    caption: Callable[[Sequence[Panel]], str]
    describe: Callable[[Sequence[Panel]], str]
    draw: Draw


def values(rows: Iterable[dict[str, Any]]) -> alt.InlineData:
    """Rows as a chart's data, within its specification."""
    return alt.InlineData(values=list(rows))


def stack(plots: Sequence[alt.LayerChart], shared: Sequence[str] = ()) -> alt.VConcatChart:
    """Plots one above the other, in the report's looks; `shared` names channels with one legend for all."""
    chart = alt.vconcat(*plots, spacing=22)
    if shared:
        chart = chart.resolve_scale(**dict.fromkeys(shared, "shared"))
    quiet, ink, line = palette.QUIET.light, palette.INK.light, palette.LINE.light
    return (
        chart.configure(font=FONT, background=palette.GROUND.light, padding=4)
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=quiet, titleColor=quiet, gridColor=line, domainColor=line, tickColor=line, labelFontSize=12,
            titleFontSize=12, titleFontWeight="normal", labelPadding=5, tickSize=4,
        )
        .configure_title(color=ink, fontSize=13, fontWeight="bold", anchor="start", frame="group", offset=8)
        .configure_legend(labelColor=ink, labelFontSize=12, titleColor=quiet, orient="top", title=None, symbolStrokeWidth=2.5)
    )  # fmt: skip


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


def time_axis(domain: tuple[float, float], frame: Frame, title: str | None) -> alt.Axis:
    """Labels at powers of ten, with thirds between them where there is room."""
    decades = range(math.floor(math.log10(domain[0])), math.ceil(math.log10(domain[1])) + 1)
    steps = (1, 3) if len(decades) * 2 * 42 < frame.width else (1,)
    ticks = [step * 10.0**power for power in decades for step in steps]
    ticks = [tick for tick in ticks if domain[0] <= tick <= domain[1]]
    return alt.Axis(values=ticks, labelExpr=NANOSECONDS, title=title, labelFlush=False, labelOverlap=True)


def log_time(domain: tuple[float, float]) -> alt.Scale:
    return alt.Scale(type="log", domain=list(domain), nice=False)


def names_axis(frame: Frame) -> alt.Axis:
    """The arms' names beside the plot, always in the same room so that panels align."""
    return alt.Axis(
        title=None, labelLimit=frame.names - 8, minExtent=frame.names, maxExtent=frame.names, ticks=False, domain=False,
        labelColor=palette.INK.light,
    )  # fmt: skip


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
