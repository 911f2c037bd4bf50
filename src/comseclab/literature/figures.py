"""Charts in the form of the study's figures: loss (3 to 5) and Tukey's boxes of latency (6 to 10)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from comseclab.literature.cells import Cells
from comseclab.literature.study import Configuration, Key
from comseclab.report import palette, units
from comseclab.report.charts.base import EXTENT, RATES_HZ, Canvas, Plot, Spec, log_time, time_axis, time_domain

LIMIT_ROOM = 34
"""Pixels for the names of the rates, right of the last plot."""
HEADROOM = 1.5
"""Above the highest time, so that no label of an axis pushes the titles apart."""
HEIGHTS = {"loss": 150, "latency": 230}
KINDS = {"no security": "c1", "authenticated": "c5", "encrypted": "c2"}
COLOURS = {colour.token: colour.light for colour in palette.CATEGORIES}
PUBLISHED = "published"
LOSS_BEFORE_BOXES = 3
"""Figures 3 to 5 show the loss on the networks whose latency figures 6 to 8 show."""


@dataclass(frozen=True)
class Panel:
    """One plot of a figure: the cells of all configurations, for one network and sensor."""

    title: str
    keys: Sequence[Key]


@dataclass(frozen=True)
class Drawing:
    """One figure: what is drawn in which order, and its words."""

    name: str
    title: str
    of: str
    panels: Sequence[Panel]


def drawings(cells: Cells) -> list[Drawing]:
    """Figures 3 to 10 of the study, in its order; then the same for networks it did not have."""
    study = cells.study
    loss, boxes, beside = [], [], []
    for network in cells.networks:
        panels = _by_sensor(cells, network.id)
        if network.figure is None:
            beside += [Drawing(f"{of}-{network.id}", f"{network.name}: {of}", of, panels) for of in ("loss", "latency")]
            continue
        number = network.figure - LOSS_BEFORE_BOXES
        loss.append(Drawing(f"figure-{number}", f"Figure {number}: loss, {network.name}", "loss", panels))
        name = f"figure-{network.figure}"
        boxes.append(Drawing(name, f"Figure {network.figure}: latency, {network.name}", "latency", panels))
    for sensor in (one for one in study.sensors if one.figure):
        title = f"Figure {sensor.figure}: latency of {sensor.name.lower()}s on every network"
        boxes.append(Drawing(f"figure-{sensor.figure}", title, "latency", _by_network(cells, sensor.id)))
    return [*loss, *boxes, *beside]


def _by_sensor(cells: Cells, network: str) -> list[Panel]:
    return [
        Panel(sensor.name, [(one.id, network, sensor.id) for one in cells.configurations])
        for sensor in cells.study.sensors
    ]


def _by_network(cells: Cells, sensor: str) -> list[Panel]:
    return [
        Panel(network.name, [(one.id, network.id, sensor) for one in cells.configurations])
        for network in cells.study.networks
    ]


def measured(cells: Cells, drawing: Drawing) -> bool:
    """Whether the run has a cell for it."""
    return any(cells.measured(key) for panel in drawing.panels for key in panel.keys)


def draw(cells: Cells, drawing: Drawing, canvas: Canvas) -> Spec:
    """The figure's Vega-Lite specification: one plot a panel, side by side where there is room."""
    columns = 3 if canvas.columns > 1 else 1
    shown = [panel for panel in drawing.panels if any(cells.measured(key) for key in panel.keys)]
    if drawing.of == "loss":
        plots = [_loss_panel(cells, panel, canvas, first=panel is shown[0]) for panel in shown]
    else:
        low, high = time_domain([*_reach(cells, shown), *(1e9 / hz for hz in RATES_HZ)])
        domain = low, high * HEADROOM
        plots = [_box_panel(cells, panel, canvas, domain, (panel is shown[0], panel is shown[-1])) for panel in shown]
    return canvas.finish(plots, columns, ["color"], spacing=10 if canvas.columns > 1 else 22)


def _reach(cells: Cells, panels: Sequence[Panel]) -> Iterator[float]:
    for key in (key for panel in panels for key in panel.keys):
        published, arm = cells.study.published.get(key), cells.measured(key)
        if published and published.mean_ns:
            yield published.mean_ns
        if arm and arm.charts.box:
            yield from (arm.charts.box.whisker_low, arm.charts.box.whisker_high, *arm.charts.outliers.drawn_ns)


def _width(canvas: Canvas) -> int:
    room = canvas.width - EXTENT - LIMIT_ROOM - 12
    return room // 3 - 8 if canvas.columns > 1 else room


def _bar(canvas: Canvas, panel: Panel) -> float:
    return min(12.0, 0.62 * _width(canvas) / len(panel.keys))


def _x(cells: Cells, panel: Panel) -> alt.X:
    names = [_short(cells, key) for key in panel.keys]
    room = 14 + 6 * max(len(name) for name in names)
    axis = alt.Axis(
        title=None, labelAngle=-90, labelLimit=room, minExtent=room, maxExtent=room, ticks=False,
        labelColor=palette.INK.light, labelFontSize=11,
    )  # fmt: skip
    return alt.X("cell:N", scale=alt.Scale(domain=names), sort=names, axis=axis)


def _title(panel: Panel) -> alt.TitleParams:
    return alt.TitleParams(panel.title, frame="group")


def _short(cells: Cells, key: Key) -> str:
    return next(one.short for one in cells.configurations if one.id == key[0])


def _kind(configuration: Configuration) -> str:
    return {"none": "no security", "auth": "authenticated"}.get(configuration.protection, "encrypted")


def _colour(canvas: Canvas) -> alt.Color:
    legend = alt.Legend(columns=3 if canvas.columns > 1 else 2, labelLimit=0, symbolType="square", symbolSize=110)
    return alt.Color(
        "kind:N",
        scale=alt.Scale(domain=list(KINDS), range=[COLOURS[token] for token in KINDS.values()]),
        legend=legend,
    )


def _box_panel(
    cells: Cells, panel: Panel, canvas: Canvas, domain: tuple[float, float], outermost: tuple[bool, bool]
) -> Plot:
    """Of plots side by side the leftmost has the axis's labels, and the rightmost names the rates."""
    labels, named = (end or canvas.columns == 1 for end in outermost)
    axis = time_axis(domain, 8, labels=labels, minExtent=EXTENT if labels else 0, maxExtent=EXTENT if labels else 0)
    x, y = _x(cells, panel), alt.Y("low:Q", scale=log_time(domain), axis=axis)
    rows = list(_box_rows(cells, panel))
    boxed = alt.Chart(canvas.data(row for row in rows if "q1" in row))
    outliers = alt.Chart(canvas.data(_outliers(cells, panel))).mark_point(size=7, filled=True, opacity=0.4)
    lost = alt.Chart(canvas.data(row for row in rows if row.get("lost")))
    then = alt.Chart(canvas.data(_then(cells, panel)))
    colour, tip, bar = _colour(canvas), alt.Description("tip:N"), _bar(canvas, panel)
    return alt.layer(
        *_limits(canvas, domain, named=named),
        boxed.mark_rule(strokeWidth=1.3).encode(x, y, alt.Y2("high:Q"), color=colour),
        outliers.encode(x, alt.Y("ns:Q"), color=colour),
        boxed.mark_bar(width=bar, cornerRadius=1).encode(
            x, alt.Y("q1:Q"), alt.Y2("q3:Q"), color=colour, description=tip
        ),
        boxed.mark_tick(thickness=2, width=bar, color=palette.GROUND.light).encode(x, alt.Y("median:Q")),
        boxed.mark_point(filled=True, size=14, opacity=1, color=palette.INK.light).encode(x, alt.Y("mean:Q")),
        lost.mark_text(text="✕", fontSize=11, color=palette.QUIET.light).encode(x, y=alt.value(8), description=tip),
        then.mark_point(shape="diamond", size=70, strokeWidth=1.6, color=palette.INK.light, filled=False).encode(
            x, alt.Y("mean:Q"), description=tip
        ),
    ).properties(width=_width(canvas), height=HEIGHTS["latency"], title=_title(panel))


def _limits(canvas: Canvas, domain: tuple[float, float], *, named: bool) -> Iterator[alt.Chart]:
    for hz in RATES_HZ:
        base = alt.Chart(canvas.data([{"ns": 1e9 / hz, "name": f"{hz:g} Hz"}])).encode(
            alt.Y("ns:Q", scale=log_time(domain))
        )
        yield base.mark_rule(color=palette.LIMIT.light, strokeDash=[4, 3], strokeWidth=1.1)
        if named:
            yield base.mark_text(
                color=palette.LIMIT.light, x=_width(canvas) + 4, fontSize=11, align="left", baseline="middle"
            ).encode(text="name:N")


def _box_rows(cells: Cells, panel: Panel) -> Iterator[dict[str, Any]]:
    for key in panel.keys:
        arm = cells.measured(key)
        if arm is None:
            continue
        configuration = next(one for one in cells.configurations if one.id == key[0])
        row = {"cell": _short(cells, key), "kind": _kind(configuration)}
        box, found = arm.charts.box, arm.row.latency_ns
        if box is None or found is None:
            yield row | {"lost": True, "tip": f"{cells.name(key)}\nnothing arrived"}
            continue
        tip = (
            f"{cells.name(key)}\nmedian {units.duration(box.median)}, mean {units.duration(found.mean)}\n"
            f"middle half {units.duration(box.q1)} – {units.duration(box.q3)}\n{units.percent(arm.row.loss)} % lost"
        )
        yield row | {"q1": box.q1, "median": box.median, "q3": box.q3, "low": box.whisker_low,
                     "high": box.whisker_high, "mean": found.mean, "tip": tip}  # fmt: skip


def _outliers(cells: Cells, panel: Panel) -> Iterator[dict[str, Any]]:
    for key in panel.keys:
        arm = cells.measured(key)
        if arm is None:
            continue
        configuration = next(one for one in cells.configurations if one.id == key[0])
        for value in dict.fromkeys(float(f"{value:.2g}") for value in arm.charts.outliers.drawn_ns if value > 0):
            yield {"cell": _short(cells, key), "kind": _kind(configuration), "ns": value}


def _then(cells: Cells, panel: Panel) -> Iterator[dict[str, Any]]:
    for key in panel.keys:
        published = cells.study.published.get(key)
        if published and published.mean_ns:
            tip = f"{cells.name(key)}\npublished mean {units.duration(published.mean_ns)}"
            yield {"cell": _short(cells, key), "mean": published.mean_ns, "tip": tip}


def _loss_panel(cells: Cells, panel: Panel, canvas: Canvas, *, first: bool) -> Plot:
    labels = first or canvas.columns == 1
    room = EXTENT if labels else 0
    axis = alt.Axis(
        format="%", title=None, values=[0, 0.25, 0.5, 0.75, 1], labels=labels, minExtent=room, maxExtent=room
    )
    y = alt.Y("loss:Q", scale=alt.Scale(domain=[0, 1.06], nice=False), axis=axis)
    rows = list(_loss_rows(cells, panel))
    ours = alt.Chart(canvas.data(row for row in rows if row["kind"] != PUBLISHED))
    then = alt.Chart(canvas.data(row for row in rows if row["kind"] == PUBLISHED))
    x, tip = _x(cells, panel), alt.Description("tip:N")
    return alt.layer(
        ours.mark_bar(width=_bar(canvas, panel)).encode(x, y, color=_colour(canvas), description=tip),
        then.mark_point(shape="diamond", size=70, strokeWidth=1.6, color=palette.INK.light, filled=False).encode(
            x, y, description=tip
        ),
    ).properties(width=_width(canvas), height=HEIGHTS["loss"], title=_title(panel))


def _loss_rows(cells: Cells, panel: Panel) -> Iterator[dict[str, Any]]:
    for key in panel.keys:
        published, arm = cells.study.published.get(key), cells.measured(key)
        configuration = next(one for one in cells.configurations if one.id == key[0])
        if arm and arm.row.loss is not None:
            tip = f"{cells.name(key)}\n{units.percent(arm.row.loss)} % lost"
            yield {"cell": configuration.short, "kind": _kind(configuration), "loss": arm.row.loss, "tip": tip}
        if published:
            tip = f"{cells.name(key)}\npublished: {100 * published.loss:.2f} % lost"
            yield {"cell": configuration.short, "kind": PUBLISHED, "loss": published.loss, "tip": tip}


CAPTIONS = {
    "loss": "Bars: ours. Diamonds: as published.",
    "latency": (
        "Boxes: ours; middle half with its median, a dot for the mean, whiskers within 1.5 times the box's width, "
        "outliers beyond. Diamonds: the published means. ✕: nothing arrived. Dashed: one period at 10 Hz (100 ms) and "
        "at 33 Hz (30.3 ms; the study marks 33 ms). Messages that arrived only: where most are lost, see the loss."
    ),
}


def describe(cells: Cells, drawing: Drawing) -> str:
    """One clause a cell, for those who hear the chart."""
    return " ".join(_tell(cells, key, drawing.of) for panel in drawing.panels for key in panel.keys)


def _tell(cells: Cells, key: Key, of: str) -> str:
    arm = cells.measured(key)
    if arm is None:
        return f"{cells.name(key)}: not measured."
    if of == "loss":
        return f"{cells.name(key)}: {units.percent(arm.row.loss)} % lost."
    box = arm.charts.box
    return f"{cells.name(key)}: {'median ' + units.duration(box.median) if box else 'nothing arrived'}."
