"""Charts of what else a protection costs: messages, CPU, and where the added time goes."""

from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt

from comseclab.analysis.summary import Breakdown
from comseclab.report import palette, units
from comseclab.report.arms import Arm, Panel, every_arm
from comseclab.report.charts.base import Canvas, Chart, Plot, Spec, arm_colour, describe_arms, names_axis, order

PARTS = (
    ("codec_ns", "codec", "c3"),
    ("cipher_floor_ns", "bare cipher", "c1"),
    ("extra_bytes_ns", "extra bytes on the link", "c5"),
    ("rest_ns", "the rest of the middleware", "c0"),
)
COLOURS = {colour.token: colour.light for colour in palette.CATEGORIES}


def loss(groups: Sequence[Panel], canvas: Canvas) -> Spec | None:
    """The share lost, with a dot a trial; panels that lost nothing are left out where others did."""
    shown = _with_loss(groups) or [panel for panel in groups if any(arm.row.sent for arm in panel.arms)]
    if not shown:
        return None
    most = max([0.01, *(point.loss for arm in every_arm(shown) for point in arm.charts.trials)])
    return canvas.finish([_loss_panel(panel, canvas, min(1.0, most * 1.12), shown) for panel in shown], spacing=14)


def _with_loss(groups: Sequence[Panel]) -> list[Panel]:
    return [panel for panel in groups if any(arm.row.lost for arm in panel.arms)]


def _loss_panel(panel: Panel, canvas: Canvas, most: float, shown: Sequence[Panel]) -> Plot:
    room = canvas.room_for(arm.label for arm in every_arm(shown))
    width = canvas.width - room - 30
    axis = alt.Axis(format="~%", title=None, tickCount=width // 90, labels=panel is shown[-1])
    x = alt.X("loss:Q", scale=alt.Scale(domain=[0, most], nice=False), axis=axis)
    y = alt.Y("arm:N", sort=order(panel), axis=names_axis(room))
    pooled = alt.Chart(canvas.data(_loss_rows(panel))).mark_bar(height=13, cornerRadiusEnd=2)
    dots = alt.Chart(canvas.data(_loss_dots(panel))).mark_point(
        filled=False, size=34, strokeWidth=1.2, color=palette.INK.light
    )
    tip = alt.Description("tip:N")
    return alt.layer(
        pooled.encode(x, y, color=arm_colour(panel.arms), description=tip), dots.encode(x, y, description=tip)
    ).properties(width=width, height=alt.Step(24), title=panel.title)


def _loss_dots(panel: Panel) -> Iterator[dict[str, Any]]:
    for arm in panel.arms:
        for point in arm.charts.trials:
            if point.loss:
                tip = f"{arm.label}, trial {point.number}\nlost {units.percent(point.loss)} %"
                yield {"arm": arm.label, "loss": point.loss, "tip": tip}


def _loss_rows(panel: Panel) -> Iterator[dict[str, Any]]:
    for arm in panel.arms:
        if arm.row.loss is not None:
            tip = (
                f"{arm.label}\nlost {units.percent(arm.row.loss)} %: {units.count(arm.row.lost)} of "
                f"{units.count(arm.row.sent)}"
            )
            yield {"arm": arm.label, "loss": arm.row.loss, "tip": tip}


def _tell_loss(arm: Arm) -> str:
    return f"{units.percent(arm.row.loss)} % lost" if arm.row.loss is not None else "nothing sent"


def _caption_loss(groups: Sequence[Panel]) -> str:
    losing = _with_loss(groups)
    if not losing:
        return "Nothing was lost in any case: every message sent had arrived by the end of the drain time."
    spared = ", ".join(panel.title for panel in groups if panel not in losing)
    rest = f" Nothing was lost by {spared}." if spared else ""
    return (
        f"Bar: share of all messages sent that had not arrived by the end of the drain time. Circles: the single "
        f"trials.{rest}"
    )


def cpu(groups: Sequence[Panel], canvas: Canvas) -> Spec | None:
    """CPU time of every process while messages flowed, as share of one core, stacked and coloured by host."""
    shown = [panel for panel in groups if any(arm.row.cpu_core_share_by_process for arm in panel.arms)]
    if not shown:
        return None
    return canvas.finish([_cpu_panel(panel, canvas, shown) for panel in shown], shared=["color"], spacing=14)


def _cpu_panel(panel: Panel, canvas: Canvas, shown: Sequence[Panel]) -> Plot:
    arms = every_arm(shown)
    hosts = list(dict.fromkeys(name.split("/")[0] for arm in arms for name in arm.row.cpu_core_share_by_process))
    most = max(sum(arm.row.cpu_core_share_by_process.values()) for arm in arms)
    room = canvas.room_for(arm.label for arm in arms)
    width = canvas.width - room - 30
    looks = [palette.CATEGORIES[(1 + place) % len(palette.CATEGORIES)].light for place in range(len(hosts))]
    bars = alt.Chart(canvas.data(_cpu_rows(panel))).mark_bar(height=15, stroke=palette.GROUND.light, strokeWidth=1)
    axis = alt.Axis(format="~%", title=None, tickCount=width // 90, labels=panel is shown[-1])
    x = alt.X("share:Q", stack="zero", scale=alt.Scale(domain=[0, max(most * 1.05, 0.01)], nice=False), axis=axis)
    y = alt.Y("arm:N", sort=order(panel), axis=names_axis(room))
    legend = canvas.legend(symbolType="square", symbolSize=110)
    colour = alt.Color("host:N", scale=alt.Scale(domain=hosts, range=looks), legend=legend)
    stacked = bars.encode(x, y, colour, order=alt.Order("place:Q"), description=alt.Description("tip:N"))
    return alt.layer(stacked).properties(width=width, height=alt.Step(24), title=panel.title)


def _cpu_rows(panel: Panel) -> Iterator[dict[str, Any]]:
    for arm in panel.arms:
        for place, (name, share) in enumerate(sorted(arm.row.cpu_core_share_by_process.items())):
            tip = f"{arm.label}\n{name}: {units.percent(share)} % of a core"
            yield {"arm": arm.label, "host": name.split("/")[0], "share": share, "place": place, "tip": tip}


def _tell_cpu(arm: Arm) -> str:
    shares = arm.row.cpu_core_share_by_process
    return ", ".join(f"{name} {units.percent(share)} % of a core" for name, share in shares.items()) or "not measured"


def breakdown(groups: Sequence[Panel], canvas: Canvas) -> Spec | None:
    """Where the added median latency goes; parts below zero stand left of it."""
    kept = [Panel(panel.title, tuple(arm for arm in panel.arms if _is_clear(arm))) for panel in groups]
    shown = [panel for panel in kept if panel.arms]
    room = canvas.room_for(arm.label for arm in every_arm(shown))
    return (
        canvas.finish([_breakdown_panel(panel, canvas, room) for panel in shown], shared=["color"]) if shown else None
    )


def _is_clear(arm: Arm) -> bool:
    """Whether there is a difference to break down: its interval does not reach zero."""
    change = arm.row.difference_ns
    return arm.row.breakdown is not None and change is not None and not change.low <= 0 <= change.high


def _caption_breakdown(groups: Sequence[Panel]) -> str:
    unclear = [arm for arm in every_arm(groups) if arm.row.breakdown and not _is_clear(arm)]
    left_out = ", ".join(f"{arm.place} ({arm.label})" for arm in unclear)
    return (
        "The difference of median latency to the baseline in parts: serialising and deserialising; the bare cipher at "
        "this size, times its passes; the added bytes at the link's rate; the rest, which is the middleware's own. "
        "Left of zero: saved."
        + (f" Left out, their difference not being clear of zero: {left_out}." if unclear else "")
    )


def _breakdown_panel(panel: Panel, canvas: Canvas, room: int) -> Plot:
    rows = list(_breakdown_rows(panel))
    width = canvas.width - room - 30
    longest = max((abs(row["ns"]) for row in rows), default=1.0)
    unit = next((unit for unit in reversed(units.UNITS) if longest >= unit.ns), units.UNITS[0])
    scale = alt.Scale(domain=[name for _, name, _ in PARTS], range=[COLOURS[token] for _, _, token in PARTS])
    colour = alt.Color("part:N", scale=scale, legend=canvas.legend(symbolType="square", symbolSize=110))
    bars = alt.Chart(canvas.data(row | {"value": row["ns"] / unit.ns} for row in rows))
    zero = alt.Chart(canvas.data([{"zero": 0}])).mark_rule(color=palette.QUIET.light)
    x = alt.X(
        "value:Q",
        stack="zero",
        axis=alt.Axis(title=None, labelExpr=f"datum.label + ' {unit.name}'", tickCount=max(3, width // 110)),
    )
    y = alt.Y("arm:N", sort=order(panel), axis=names_axis(room))
    tip = alt.Description("tip:N")
    stacked = bars.mark_bar(height=17, stroke=palette.GROUND.light, strokeWidth=1)
    return alt.layer(
        stacked.encode(x, y, colour, order=alt.Order("place:Q"), description=tip), zero.encode(alt.X("zero:Q"))
    ).properties(width=width, height=alt.Step(28), title=panel.title)


def _breakdown_rows(panel: Panel) -> Iterator[dict[str, Any]]:
    for arm in panel.arms:
        found = arm.row.breakdown
        assert found is not None
        for place, (key, name, _) in enumerate(PARTS):
            value = getattr(found, key)
            if value:
                yield {
                    "arm": arm.label,
                    "part": name,
                    "place": place,
                    "ns": value,
                    "tip": f"{arm.label}\n{name}: {units.duration(value)}",
                }


def _tell_breakdown(arm: Arm) -> str:
    found: Breakdown | None = arm.row.breakdown
    if found is None or not _is_clear(arm):
        return "no clear difference to break down"
    return ", ".join(f"{name} {units.duration(getattr(found, key))}" for key, name, _ in PARTS)


CHARTS = (
    Chart(
        "loss",
        "Loss",
        "Messages that never arrived",
        _caption_loss,
        lambda groups: describe_arms(groups, _tell_loss),
        loss,
    ),
    Chart(
        "cost-breakdown",
        "Cost",
        "Where the added time goes",
        _caption_breakdown,
        lambda groups: describe_arms(groups, _tell_breakdown),
        breakdown,
    ),
    Chart(
        "cpu",
        "Cost",
        "CPU while messages flowed",
        lambda _: (
            "User and system time of each process as share of one core, mean of trials; one block a process. "
            "The switch is the laboratory's own and no part of the cost."
        ),
        lambda groups: describe_arms(groups, _tell_cpu),
        cpu,
    ),
)
