"""Charts of latency: boxes, distributions, and the course over time."""

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, Literal

import altair as alt

from comseclab.report import palette, units
from comseclab.report.arms import Arm, Panel, every_arm
from comseclab.report.charts.base import (
    EXTENT,
    RATES_HZ,
    Canvas,
    Chart,
    Plot,
    Spec,
    arm_colour,
    describe_arms,
    log_time,
    names_axis,
    order,
    time_axis,
    time_domain,
)  # fmt: skip

DOTS_PER_LINE = 1200
BINS_IN_ALL = 12_000


def boxes(groups: Sequence[Panel], canvas: Canvas) -> Spec | None:
    """Tukey's boxes on one log axis, one row an arm."""
    shown = [panel for panel in groups if any(arm.charts.box for arm in panel.arms)]
    if not shown:
        return None
    ends = [end for arm in every_arm(shown) for end in _reach(arm)]
    domain = time_domain([*ends, *(1e9 / hz for hz in RATES_HZ)])
    return canvas.finish([_box_panel(panel, canvas, domain, shown) for panel in shown], spacing=14)


def _reach(arm: Arm) -> list[float]:
    box = arm.charts.box
    return [box.whisker_low, box.whisker_high, *arm.charts.outliers.drawn_ns] if box else []


def _box_panel(panel: Panel, canvas: Canvas, domain: tuple[float, float], shown: Sequence[Panel]) -> Plot:
    room = canvas.room_for(arm.label for arm in every_arm(shown))
    width = canvas.width - room - 30
    x = alt.X("low:Q", scale=log_time(domain), axis=time_axis(domain, width // 58, labels=panel is shown[-1]))
    y = alt.Y("arm:N", sort=order(panel), axis=names_axis(room))
    boxed = alt.Chart(canvas.data(_box_rows(panel)))
    outliers = alt.Chart(canvas.data(_outlier_rows(panel, domain))).mark_point(size=9, filled=True, opacity=0.45)
    colour, tip = arm_colour(panel.arms), alt.Description("tip:N")
    layers = [
        *_limits(canvas, domain, named=panel is shown[0]),
        boxed.mark_rule(strokeWidth=1.5).encode(x, alt.X2("high:Q"), y, color=colour),
        outliers.encode(alt.X("ns:Q"), y, color=colour),
        boxed.mark_bar(height=17, cornerRadius=1).encode(
            alt.X("q1:Q"), alt.X2("q3:Q"), y, color=colour, description=tip
        ),
        boxed.mark_tick(thickness=2.5, height=17, color=palette.GROUND.light).encode(alt.X("median:Q"), y),
    ]
    return alt.layer(*layers).properties(width=width, height=alt.Step(28), title=panel.title)


def _limits(canvas: Canvas, domain: tuple[float, float], named: bool) -> Iterator[alt.Chart]:
    sides: tuple[Literal["left", "right"], ...] = ("left", "right")
    for hz, align in zip(RATES_HZ, sides, strict=True):
        base = alt.Chart(canvas.data([{"ns": 1e9 / hz, "name": f"{hz:g} Hz"}])).encode(
            alt.X("ns:Q", scale=log_time(domain))
        )
        yield base.mark_rule(color=palette.LIMIT.light, strokeDash=[4, 3], strokeWidth=1.2)
        if named:
            name = base.mark_text(color=palette.LIMIT.light, y=-4, fontSize=11, baseline="bottom", align=align)
            yield name.encode(text="name:N")


def _box_rows(panel: Panel) -> Iterator[dict[str, Any]]:
    for arm in panel.arms:
        box = arm.charts.box
        if box is None:
            yield {"arm": arm.label}
            continue
        tip = (
            f"{arm.label}\nmedian {units.duration(box.median)}\nmiddle half {units.duration(box.q1)} – "
            f"{units.duration(box.q3)}\n"
            f"whiskers {units.duration(box.whisker_low)} – {units.duration(box.whisker_high)}\n{_outlier_count(arm)}"
        )
        yield {"arm": arm.label, "q1": box.q1, "median": box.median, "q3": box.q3, "low": box.whisker_low,
               "high": box.whisker_high, "tip": tip}  # fmt: skip


def _outlier_count(arm: Arm) -> str:
    box = arm.charts.box
    severe = box.severe_low + box.severe_high if box else 0
    return f"{units.count(arm.charts.outliers.total)} outliers, {units.count(severe)} of them severe"


def _outlier_rows(panel: Panel, domain: tuple[float, float]) -> Iterator[dict[str, Any]]:
    """Outliers that would fall on the same dot are drawn once."""
    step = math.log(domain[1] / domain[0]) / DOTS_PER_LINE
    for arm in panel.arms:
        places = {round(math.log(value) / step): value for value in arm.charts.outliers.drawn_ns if value > 0}
        yield from ({"arm": arm.label, "ns": value} for value in places.values())


def _tell_box(arm: Arm) -> str:
    box = arm.charts.box
    if box is None:
        return "nothing arrived"
    return f"median {units.duration(box.median)}, middle half {units.duration(box.q1)} to {units.duration(box.q3)}"


def _caption_boxes(groups: Sequence[Panel]) -> str:
    total = sum(arm.charts.outliers.total for arm in every_arm(groups))
    drawn = sum(len(arm.charts.outliers.drawn_ns) for arm in every_arm(groups))
    return (
        "Box: the middle half with its median; whiskers end within 1.5 times the box's width; beyond them outliers, "
        f"{units.count(drawn)} of {units.count(total)} drawn, none left out of any number. Dashed: one period at 10 "
        "Hz (100 ms) and at "
        "33 Hz (1/33 s, about 30.3 ms); Martin et al. (2018) drew these rates, the second at 33 ms. Only messages "
        "that arrived."
    )


def distributions(groups: Sequence[Panel], canvas: Canvas) -> Spec | None:
    """The share of all messages sent that has arrived within a time; a curve that ends below 1 lost the rest."""
    shown = [panel for panel in groups if any(arm.charts.ecdf.share for arm in panel.arms)]
    if not shown:
        return None
    arms = every_arm(shown)
    columns = min(canvas.columns, len(shown))
    return canvas.finish(
        [_ecdf_panel(panel, arms, canvas, columns) for panel in shown], columns, ["color", "strokeDash"]
    )


def _ecdf_panel(panel: Panel, arms: Sequence[Arm], canvas: Canvas, columns: int) -> Plot:
    domain = time_domain(end for arm in panel.arms for end in arm.charts.ecdf.latency_ns)
    width = canvas.width // columns - 80
    looks = {arm.label: arm.dash for arm in sorted(arms, key=lambda arm: arm.style)}
    legend = canvas.legend(symbolSize=400, symbolType="stroke")
    dash = alt.StrokeDash("arm:N", scale=alt.Scale(domain=list(looks), range=list(looks.values())), legend=legend)
    x = alt.X("ns:Q", scale=log_time(domain), axis=time_axis(domain, width // 58))
    y_axis = alt.Axis(format="%", title=None, tickCount=4, minExtent=EXTENT, maxExtent=EXTENT)
    y = alt.Y("share:Q", scale=alt.Scale(domain=[0, 1]), axis=y_axis)
    curves = alt.Chart(canvas.data(_ecdf_rows(panel))).mark_line(interpolate="step-after", strokeWidth=2, clip=True)
    dots = alt.Chart(canvas.data(_quantile_rows(panel))).mark_point(size=42, filled=True, opacity=1)
    colour = arm_colour(arms, legend)
    return alt.layer(
        curves.encode(x, y, color=colour, strokeDash=dash, order="share:Q"),
        dots.encode(alt.X("ns:Q"), alt.Y("share:Q"), color=colour, description=alt.Description("tip:N")),
    ).properties(width=width, height=150, title=panel.title)


def _ecdf_rows(panel: Panel) -> Iterator[dict[str, Any]]:
    for arm in panel.arms:
        points = [
            (ns, share) for ns, share in zip(arm.charts.ecdf.latency_ns, arm.charts.ecdf.share, strict=True) if ns > 0
        ]
        yield from ({"arm": arm.label, "ns": ns, "share": share} for ns, share in points)


def _quantile_rows(panel: Panel) -> Iterator[dict[str, Any]]:
    for arm in panel.arms:
        aware = arm.row.loss_aware_ns
        for name, share, value in (("p50", 0.5, aware.p50), ("p90", 0.9, aware.p90), ("p99", 0.99, aware.p99)):
            if isinstance(value, int | float):
                yield {
                    "arm": arm.label,
                    "ns": value,
                    "share": share,
                    "tip": f"{arm.label}\n{name}: {units.duration(value)}",
                }


def _tell_ecdf(arm: Arm) -> str:
    aware = arm.row.loss_aware_ns
    told = [
        f"{name} {'never, lost' if value == 'lost' else units.duration(value)}"
        for name, value in (("half within", aware.p50), ("99 % within", aware.p99))
        if value == "lost" or isinstance(value, int | float)
    ]
    return ", ".join(told) or "too few messages to tell"


def over_time(groups: Sequence[Panel], canvas: Canvas) -> Spec | None:
    """The band from fastest to slowest message in each stretch of time, trials one after the other, one plot an arm."""
    arms = [arm for arm in every_arm(groups) if any(arm.charts.over_time.high_ns)]
    if not arms:
        return None
    domains = {panel.title: time_domain(_extremes(panel.arms)) for panel in groups}
    beside = 3 if max(len(panel.arms) for panel in groups) == 3 else 2
    columns = min(beside, len(arms)) if canvas.columns > 1 else 1
    bins = min(canvas.width // columns, max(40, BINS_IN_ALL // len(arms)))
    return canvas.finish(
        [
            _time_panel(arm, canvas, columns, domains[panel.title], bins)
            for panel in groups
            for arm in panel.arms
            if arm in arms
        ],
        columns,
    )


def _extremes(arms: Sequence[Arm]) -> list[float]:
    data = [arm.charts.over_time for arm in arms]
    return [end for course in data for series in (course.low_ns, course.high_ns) for end in series if end]


def _time_panel(arm: Arm, canvas: Canvas, columns: int, domain: tuple[float, float], bins: int) -> Plot:
    width = canvas.width // columns - 80
    rows = _merged(list(_time_rows(arm)), bins)
    x_axis = alt.Axis(title=None, labelExpr="datum.label + ' s'", tickCount=width // 90, grid=False, tickMinStep=1)
    x = alt.X("s:Q", axis=x_axis, scale=alt.Scale(nice=False))
    y = alt.Y("low:Q", scale=log_time(domain), axis=time_axis(domain, 5, minExtent=EXTENT, maxExtent=EXTENT))
    colour = arm.colour.light
    band = alt.Chart(canvas.data(rows)).mark_area(color=colour, opacity=0.85, stroke=colour, strokeWidth=0.7)
    lost = alt.Chart(canvas.data(row for row in rows if row["lost"])).mark_tick(
        color=palette.LIMIT.light, thickness=1.5, height=5
    )
    return alt.layer(
        band.encode(x, y, alt.Y2("high:Q"), detail="trial:N"),
        lost.encode(alt.X("s:Q"), y=alt.value(81)),
    ).properties(width=width, height=84, title=f"{arm.place}, {arm.label}")


def _time_rows(arm: Arm) -> Iterator[dict[str, Any]]:
    """Trials end to end, in the order they ran."""
    data = arm.charts.over_time
    columns = sorted(
        zip(data.trial, data.time_s, data.low_ns, data.high_ns, data.lost, strict=True), key=lambda row: row[:2]
    )
    offset = 0.0
    for trial, part in groupby(columns, key=lambda row: row[0]):
        last = 0.0
        for _, seconds, low, high, lost in part:
            last = seconds
            yield {"trial": trial, "s": offset + seconds, "low": low, "high": high, "lost": lost}
        offset += last * 1.02


def _merged(rows: list[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """Neighbouring stretches joined until at most about `most` are left: smallest low, largest high, losses added."""
    step = math.ceil(len(rows) / most)
    merged = []
    for _, trial in groupby(rows, key=lambda row: row["trial"]):
        part = list(trial)
        for begin in range(0, len(part), max(step, 1)):
            some = part[begin : begin + max(step, 1)]
            low = min((row["low"] for row in some if row["low"]), default=None)
            high = max((row["high"] for row in some if row["high"]), default=None)
            merged.append(
                some[0]
                | {"low": low, "high": high, "lost": sum(row["lost"] for row in some), "s": round(some[0]["s"], 3)}
            )
    return merged


def _tell_course(arm: Arm) -> str:
    found = [value for value in arm.charts.over_time.high_ns if value]
    return f"slowest message {units.duration(max(found))}" if found else "nothing arrived"


CHARTS = (
    Chart("latency-boxes", "Latency", "Latency of the messages that arrived", _caption_boxes,
          lambda groups: describe_arms(groups, _tell_box), boxes),
    Chart("latency-distribution", "Latency", "Share of the messages sent that arrived within a time",
          lambda _: "Of all messages sent, the share that had arrived within the time. A curve that ends below 100 % "
                    "lost the rest. "
                    "Dots: p50, p90 and p99.",
          lambda groups: describe_arms(groups, _tell_ecdf), distributions),
    Chart("latency-over-time", "Latency", "Latency over time",
          lambda _: "Each band reaches from the fastest to the slowest message of a stretch of time; trials stand "
                    "end to end in the "
                    "order they ran. Ticks under a band: messages lost there.",
          lambda groups: describe_arms(groups, _tell_course), over_time),
)  # fmt: skip
