"""Charts of what else a protection costs: messages, CPU, and where the added time goes."""

from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt

from comseclab.analysis.summary import Breakdown
from comseclab.report import palette, units
from comseclab.report.arms import Arm, Panel, every_arm
from comseclab.report.charts.base import Chart, Frame, arm_colour, describe_arms, names_axis, order, stack, values

PARTS = (
    ("codec_ns", "codec", "c3"),
    ("cipher_floor_ns", "bare cipher", "c1"),
    ("extra_bytes_ns", "extra bytes on the link", "c5"),
    ("rest_ns", "the rest of the middleware", "c0"),
)
COLOURS = {colour.token: colour.light for colour in palette.CATEGORIES}


def loss(groups: Sequence[Panel], frame: Frame) -> alt.VConcatChart | None:
    """The share lost, with a dot a trial."""
    shown = [panel for panel in groups if any(arm.row.loss is not None for arm in panel.arms)]
    if not shown:
        return None
    most = max([0.01, *(point.loss for arm in every_arm(shown) for point in arm.charts.trials)])
    return stack([_loss_panel(panel, frame, min(1.0, most * 1.12)) for panel in shown])


def _loss_panel(panel: Panel, frame: Frame, most: float) -> alt.LayerChart:
    axis = alt.Axis(format="~%" if most < 0.05 else ".0%", title=None, tickCount=frame.width // 90)
    x = alt.X("loss:Q", scale=alt.Scale(domain=[0, most], nice=False), axis=axis)
    y = alt.Y("arm:N", sort=order(panel), axis=names_axis(frame))
    colour = arm_colour(panel.arms)
    pooled = alt.Chart(values(_loss_rows(panel)))
    dots = alt.Chart(values(
        {"arm": arm.label, "loss": point.loss, "tip": f"{arm.label}, trial {point.number}\nlost {units.percent(point.loss)} %"}
        for arm in panel.arms for point in arm.charts.trials
    ))  # fmt: skip
    return alt.layer(
        pooled.mark_bar(height=13, cornerRadiusEnd=2).encode(x, y, color=colour, description=alt.Description("tip:N")),
        dots.mark_point(filled=False, size=34, strokeWidth=1.2, color=palette.INK.light, opacity=0.8)
        .encode(alt.X("loss:Q"), alt.Y("arm:N", sort=order(panel)), description=alt.Description("tip:N")),
    ).properties(width=frame.width, height=alt.Step(24), title=panel.title)  # fmt: skip


def _loss_rows(panel: Panel) -> Iterator[dict[str, Any]]:
    for arm in panel.arms:
        if arm.row.loss is not None:
            tip = f"{arm.label}\nlost {units.percent(arm.row.loss)} %: {units.count(arm.row.lost)} of {units.count(arm.row.sent)}"
            yield {"arm": arm.label, "loss": arm.row.loss, "tip": tip}


def _tell_loss(arm: Arm) -> str:
    return f"{units.percent(arm.row.loss)} % lost" if arm.row.loss is not None else "nothing sent"


def _caption_loss(groups: Sequence[Panel]) -> str:
    if all(arm.row.lost == 0 for arm in every_arm(groups)):
        return "Nothing was lost in any case: every message sent had arrived by the end of the drain time."
    return "Bar: share of all messages sent that had not arrived by the end of the drain time. Circles: the single trials."


def cpu(groups: Sequence[Panel], frame: Frame) -> alt.VConcatChart | None:
    """CPU time of every process while messages flowed, as share of one core, stacked and coloured by host."""
    shown = [panel for panel in groups if any(arm.row.cpu_core_share_by_process for arm in panel.arms)]
    if not shown:
        return None
    hosts = list(dict.fromkeys(name.split("/")[0] for arm in every_arm(shown) for name in arm.row.cpu_core_share_by_process))
    most = max(sum(arm.row.cpu_core_share_by_process.values()) for arm in every_arm(shown))
    return stack([_cpu_panel(panel, hosts, frame, max(most * 1.05, 0.01)) for panel in shown], ["color"])


def _cpu_panel(panel: Panel, hosts: Sequence[str], frame: Frame, most: float) -> alt.LayerChart:
    looks = [palette.CATEGORIES[(1 + place) % len(palette.CATEGORIES)].light for place in range(len(hosts))]
    legend = alt.Legend(columns=frame.columns, symbolType="square", symbolSize=110)
    bars = alt.Chart(values(_cpu_rows(panel))).mark_bar(height=15, stroke=palette.GROUND.light, strokeWidth=1)
    axis = alt.Axis(format=".0%" if most > 0.05 else "~%", title=None, tickCount=frame.width // 90)
    return alt.layer(bars.encode(
        alt.X("share:Q", stack="zero", scale=alt.Scale(domain=[0, most], nice=False), axis=axis),
        alt.Y("arm:N", sort=order(panel), axis=names_axis(frame)),
        alt.Color("host:N", scale=alt.Scale(domain=list(hosts), range=looks), legend=legend),
        order=alt.Order("place:Q"), description=alt.Description("tip:N"),
    )).properties(width=frame.width, height=alt.Step(26), title=panel.title)  # fmt: skip


def _cpu_rows(panel: Panel) -> Iterator[dict[str, Any]]:
    for arm in panel.arms:
        for place, (name, share) in enumerate(sorted(arm.row.cpu_core_share_by_process.items())):
            tip = f"{arm.label}\n{name}: {units.percent(share)} % of a core"
            yield {"arm": arm.label, "host": name.split("/")[0], "share": share, "place": place, "tip": tip}


def _tell_cpu(arm: Arm) -> str:
    shares = arm.row.cpu_core_share_by_process
    return ", ".join(f"{name} {units.percent(share)} % of a core" for name, share in shares.items()) or "not measured"


def breakdown(groups: Sequence[Panel], frame: Frame) -> alt.VConcatChart | None:
    """Where the added median latency goes; parts below zero stand left of it."""
    kept = [Panel(panel.title, tuple(arm for arm in panel.arms if arm.row.breakdown)) for panel in groups]
    shown = [panel for panel in kept if panel.arms]
    return stack([_breakdown_panel(panel, frame) for panel in shown], ["color"]) if shown else None


def _breakdown_panel(panel: Panel, frame: Frame) -> alt.LayerChart:
    rows = list(_breakdown_rows(panel))
    unit = units.unit_for(abs(row["ns"]) for row in rows if abs(row["ns"]) >= 1000)
    legend = alt.Legend(columns=min(2, frame.columns) if frame.columns < 4 else 4, symbolType="square", symbolSize=110, labelLimit=190)
    scale = alt.Scale(domain=[name for _, name, _ in PARTS], range=[COLOURS[token] for _, _, token in PARTS])
    bars = alt.Chart(values(row | {"value": row["ns"] / unit.ns} for row in rows))
    axis = alt.Axis(title=None, labelExpr=f"datum.label + ' {unit.name}'", tickCount=frame.width // 90)
    return alt.layer(
        bars.mark_bar(height=17, stroke=palette.GROUND.light, strokeWidth=1).encode(
            alt.X("value:Q", stack="zero", axis=axis), alt.Y("arm:N", sort=order(panel), axis=names_axis(frame)),
            alt.Color("part:N", scale=scale, legend=legend), order=alt.Order("place:Q"), description=alt.Description("tip:N"),
        ),
        alt.Chart(values([{"zero": 0}])).mark_rule(color=palette.QUIET.light).encode(alt.X("zero:Q")),
    ).properties(width=frame.width, height=alt.Step(30), title=panel.title)  # fmt: skip


def _breakdown_rows(panel: Panel) -> Iterator[dict[str, Any]]:
    for arm in panel.arms:
        found = arm.row.breakdown
        assert found is not None
        for place, (key, name, _) in enumerate(PARTS):
            value = getattr(found, key)
            if value:
                yield {"arm": arm.label, "part": name, "place": place, "ns": value, "tip": f"{arm.label}\n{name}: {units.duration(value)}"}


def _tell_breakdown(arm: Arm) -> str:
    found: Breakdown | None = arm.row.breakdown
    if found is None:
        return "is the baseline or has no breakdown"
    return ", ".join(f"{name} {units.duration(getattr(found, key))}" for key, name, _ in PARTS)


CHARTS = (
    Chart("loss", "Loss", "Messages that never arrived", _caption_loss, lambda groups: describe_arms(groups, _tell_loss), loss),
    Chart("cost-breakdown", "Cost", "Where the added time goes",
          lambda _: "The difference of median latency to the baseline in parts: serialising and deserialising; the bare cipher at this size, "
                    "times its passes; the added bytes at the link's rate; the rest, which is the middleware's own. Left of zero: saved.",
          lambda groups: describe_arms(groups, _tell_breakdown), breakdown),
    Chart("cpu", "Cost", "CPU while messages flowed",
          lambda _: "User and system time of each process as share of one core, mean of trials; one block a process.",
          lambda groups: describe_arms(groups, _tell_cpu), cpu),
)  # fmt: skip
