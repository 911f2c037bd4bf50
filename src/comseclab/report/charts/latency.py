"""Charts of latency: boxes, distributions, and the course over time."""

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import altair as alt

from comseclab.report import palette, units
from comseclab.report.arms import Arm, Panel, every_arm
from comseclab.report.charts.base import (
    RATES_HZ, WIDE, Chart, Frame, arm_colour, describe_arms, log_time, names_axis, order, stack, time_axis, time_domain, values,
)  # fmt: skip

LIMITS = [{"ns": 1e9 / hz, "name": f"{hz:g} Hz"} for hz in RATES_HZ]
BINS_IN_ALL = 12_000


def boxes(groups: Sequence[Panel], frame: Frame) -> alt.VConcatChart | None:
    """Tukey's boxes on a log axis, one row an arm."""
    shown = [panel for panel in groups if any(arm.charts.box for arm in panel.arms)]
    if not shown:
        return None
    ends = [end for arm in every_arm(shown) for end in _reach(arm)]
    domain = time_domain([*ends, *(limit["ns"] for limit in LIMITS if isinstance(limit["ns"], float))])
    return stack([_box_panel(panel, frame, domain) for panel in shown])


def _reach(arm: Arm) -> list[float]:
    box = arm.charts.box
    return [box.whisker_low, box.whisker_high, *arm.charts.outliers.drawn_ns] if box else []


def _box_panel(panel: Panel, frame: Frame, domain: tuple[float, float]) -> alt.LayerChart:
    x = alt.X("low:Q", scale=log_time(domain), axis=time_axis(domain, frame, None))
    y = alt.Y("arm:N", sort=order(panel), axis=names_axis(frame))
    boxed = alt.Chart(values(_box_rows(panel)))
    colour = arm_colour(panel.arms)
    quartiles = boxed.encode(alt.X("q1:Q"), alt.X2("q3:Q"), y, color=colour, description=alt.Description("tip:N"))
    layers = [
        *_limit_layers(frame, domain),
        boxed.mark_rule(strokeWidth=1.5).encode(x, alt.X2("high:Q"), y, color=colour),
        alt.Chart(values(_outlier_rows(panel, domain))).mark_point(size=9, filled=True, opacity=0.45).encode(
            alt.X("ns:Q"), alt.Y("arm:N", sort=order(panel)), color=colour
        ),
        quartiles.mark_bar(height=17, cornerRadius=1),
        boxed.mark_tick(thickness=2.5, height=17, color=palette.GROUND.light).encode(alt.X("median:Q"), y),
    ]
    return alt.layer(*layers).properties(width=frame.width, height=alt.Step(30), title=panel.title)


def _limit_layers(frame: Frame, domain: tuple[float, float]) -> list[alt.Chart]:
    base = alt.Chart(values(LIMITS)).encode(alt.X("ns:Q", scale=log_time(domain)))
    colour = palette.LIMIT.light
    rule = base.mark_rule(color=colour, strokeDash=[4, 3], strokeWidth=1.2)
    near = frame is not WIDE
    names = base.mark_text(color=colour, y=-4, align=alt.ExprRef("datum.ns > 5e7 ? 'left' : 'right'") if near else "center",
                           fontSize=11, baseline="bottom").encode(text="name:N")  # fmt: skip
    return [rule, names]


def _box_rows(panel: Panel) -> Iterator[dict[str, Any]]:
    for arm in panel.arms:
        box = arm.charts.box
        if box is None:
            yield {"arm": arm.label}
            continue
        tip = (
            f"{arm.label}\nmedian {units.duration(box.median)}\nmiddle half {units.duration(box.q1)} – {units.duration(box.q3)}\n"
            f"whiskers {units.duration(box.whisker_low)} – {units.duration(box.whisker_high)}\n{_outlier_count(arm)}"
        )
        yield {"arm": arm.label, "q1": box.q1, "median": box.median, "q3": box.q3, "low": box.whisker_low,
               "high": box.whisker_high, "tip": tip}  # fmt: skip


def _outlier_count(arm: Arm) -> str:
    box = arm.charts.box
    severe = box.severe_low + box.severe_high if box else 0
    return f"{units.count(arm.charts.outliers.total)} outliers, {units.count(severe)} of them severe"


def _outlier_rows(panel: Panel, domain: tuple[float, float]) -> Iterator[dict[str, Any]]:
    """Outliers that would fall on the same half pixel are drawn once."""
    step = math.log(domain[1] / domain[0]) / (2 * WIDE.width)
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
        f"{units.count(drawn)} of {units.count(total)} drawn, none left out of any number. Dashed: one period at 10 Hz (100 ms) and at "
        "33 Hz (1/33 s, about 30.3 ms); Martin et al. (2018) drew these rates, the second at 33 ms. Only messages that arrived."
    )


def distributions(groups: Sequence[Panel], frame: Frame) -> alt.VConcatChart | None:
    """The share of all messages sent that has arrived within a time; a curve that ends below 1 lost the rest."""
    shown = [panel for panel in groups if any(arm.charts.ecdf.share for arm in panel.arms)]
    if not shown:
        return None
    domain = time_domain(end for arm in every_arm(shown) for end in arm.charts.ecdf.latency_ns)
    arms = every_arm(shown)
    return stack([_ecdf_panel(panel, arms, frame, domain) for panel in shown], ["color", "strokeDash"])


def _ecdf_panel(panel: Panel, arms: Sequence[Arm], frame: Frame, domain: tuple[float, float]) -> alt.LayerChart:
    looks = {arm.label: arm.dash for arm in sorted(arms, key=lambda arm: arm.style)}
    legend = alt.Legend(columns=frame.columns, labelLimit=frame.names + 40, symbolSize=400, symbolType="stroke")
    dash = alt.StrokeDash("arm:N", scale=alt.Scale(domain=list(looks), range=list(looks.values())), legend=legend)
    x = alt.X("ns:Q", scale=log_time(domain), axis=time_axis(domain, frame, None))
    y = alt.Y("share:Q", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%", title=None, tickCount=4, minExtent=40, maxExtent=40))
    curves = alt.Chart(values(_ecdf_rows(panel)))
    colour = arm_colour(arms, legend)
    marks = alt.Chart(values(_quantile_rows(panel))).mark_point(size=42, filled=True, opacity=1)
    return alt.layer(
        curves.mark_line(interpolate="step-after", strokeWidth=2, clip=True).encode(x, y, color=colour, strokeDash=dash, order="share:Q"),
        marks.encode(alt.X("ns:Q"), alt.Y("share:Q"), color=colour, description=alt.Description("tip:N")),
    ).properties(width=frame.width + frame.names - 44, height=150, title=panel.title)


def _ecdf_rows(panel: Panel) -> Iterator[dict[str, Any]]:
    for arm in panel.arms:
        points = [(ns, share) for ns, share in zip(arm.charts.ecdf.latency_ns, arm.charts.ecdf.share, strict=True) if ns > 0]
        yield from ({"arm": arm.label, "ns": ns, "share": share} for ns, share in points)


def _quantile_rows(panel: Panel) -> Iterator[dict[str, Any]]:
    for arm in panel.arms:
        aware = arm.row.loss_aware_ns
        for name, share, value in (("p50", 0.5, aware.p50), ("p90", 0.9, aware.p90), ("p99", 0.99, aware.p99)):
            if isinstance(value, int | float):
                yield {"arm": arm.label, "ns": value, "share": share, "tip": f"{arm.label}\n{name}: {units.duration(value)}"}


def _tell_ecdf(arm: Arm) -> str:
    aware = arm.row.loss_aware_ns
    told = [
        f"{name} {'never, lost' if value == 'lost' else units.duration(value)}"
        for name, value in (("half within", aware.p50), ("99 % within", aware.p99))
        if value == "lost" or isinstance(value, int | float)
    ]
    return ", ".join(told) or "too few messages to tell"


def over_time(groups: Sequence[Panel], frame: Frame) -> alt.VConcatChart | None:
    """The band from fastest to slowest message in each stretch of time, trials one after the other, one plot an arm."""
    arms = [arm for arm in every_arm(groups) if any(arm.charts.over_time.high_ns)]
    if not arms:
        return None
    ends = [end for arm in arms for series in (arm.charts.over_time.low_ns, arm.charts.over_time.high_ns) for end in series if end]
    domain = time_domain(ends)
    bins = min(frame.width, max(40, BINS_IN_ALL // len(arms)))
    return stack([_time_panel(arm, frame, domain, bins) for arm in arms])


def _time_panel(arm: Arm, frame: Frame, domain: tuple[float, float], bins: int) -> alt.LayerChart:
    rows = _merged(list(_time_rows(arm)), bins)
    base = alt.Chart(values(rows)).encode(
        alt.X("s:Q", axis=alt.Axis(title=None, labelExpr="datum.label + ' s'", tickCount=frame.width // 90, grid=False),
              scale=alt.Scale(nice=False)), detail="trial:N",
    )  # fmt: skip
    y = alt.Y("low:Q", scale=log_time(domain), axis=time_axis(domain, Frame(150, 0, 1), None))
    y.axis.minExtent = y.axis.maxExtent = 48  # type: ignore[union-attr]
    lost = alt.Chart(values(row for row in rows if row["lost"])).mark_tick(color=palette.LIMIT.light, thickness=1.5, height=5)
    return alt.layer(
        base.mark_area(color=arm.colour.light, opacity=0.85, line=False, stroke=arm.colour.light, strokeWidth=0.7)
        .encode(y, alt.Y2("high:Q")),
        lost.encode(alt.X("s:Q"), y=alt.value(88)),
    ).properties(width=frame.width + frame.names - 52, height=84, title=f"{arm.place}, {arm.label}")  # fmt: skip


def _time_rows(arm: Arm) -> Iterator[dict[str, Any]]:
    """Trials end to end, in the order they ran."""
    data = arm.charts.over_time
    columns = sorted(zip(data.trial, data.time_s, data.low_ns, data.high_ns, data.lost, strict=True), key=lambda row: row[:2])
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
            merged.append(some[0] | {"low": low, "high": high, "lost": sum(row["lost"] for row in some), "s": round(some[0]["s"], 3)})
    return merged


def _tell_course(arm: Arm) -> str:
    found = [value for value in arm.charts.over_time.high_ns if value]
    return f"slowest message {units.duration(max(found))}" if found else "nothing arrived"


CHARTS = (
    Chart("latency-boxes", "Latency", "Latency of the messages that arrived", _caption_boxes,
          lambda groups: describe_arms(groups, _tell_box), boxes),
    Chart("latency-distribution", "Latency", "Share of the messages sent that arrived within a time",
          lambda _: "Of all messages sent, the share that had arrived within the time. A curve that ends below 100 % lost the rest. "
                    "Dots: p50, p90 and p99.",
          lambda groups: describe_arms(groups, _tell_ecdf), distributions),
    Chart("latency-over-time", "Latency", "Latency over time",
          lambda _: "Each band reaches from the fastest to the slowest message of a stretch of time; trials stand end to end in the "
                    "order they ran. Ticks under a band: messages lost there.",
          lambda groups: describe_arms(groups, _tell_course), over_time),
)  # fmt: skip
