"""Charts of what differs: ratios with their intervals, and the spread from trial to trial."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt

from comseclab.report import palette, units
from comseclab.report.arms import Arm, Panel, every_arm
from comseclab.report.charts.base import (
    EXTENT,
    Canvas,
    Chart,
    Plot,
    Spec,
    arm_colour,
    describe_arms,
    log_time,
    names_axis,
    time_axis,
)
from comseclab.report.sentences import WORDS, interval

STEPS = (0.05, 0.1, 0.2, 0.5, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 3, 5, 10, 20, 50, 100)


def _compared(groups: Sequence[Panel]) -> list[Panel]:
    kept = [Panel(panel.title, tuple(arm for arm in panel.arms if _ratio(arm))) for panel in groups]
    return [panel for panel in kept if panel.arms]


def _ratio(arm: Arm) -> bool:
    return arm.row.ratio_to_baseline is not None and arm.row.ratio_to_baseline.median is not None


def ratios(groups: Sequence[Panel], canvas: Canvas) -> Spec | None:
    """Each ratio of medians with its interval, beside the band within which it counts as equivalent."""
    shown = _compared(groups)
    found = [ratio for arm in every_arm(shown) if (ratio := arm.row.ratio_to_baseline)]
    if not found:
        return None
    tolerance = found[0].tolerance
    ends = [end for ratio in found for end in (ratio.low, ratio.median, ratio.high) if end]
    low, high = min(1 / (1 + tolerance), *ends), max(1 + tolerance, *ends)
    margin = (high / low) ** 0.16 * 1.02
    return canvas.finish([_ratio_plot(shown, canvas, tolerance, (low / 1.05, high * margin))])


def _ratio_plot(shown: Sequence[Panel], canvas: Canvas, tolerance: float, domain: tuple[float, float]) -> Plot:
    rows = list(_ratio_rows(shown, domain[1]))
    names = [row["name"] for row in rows]
    room = canvas.room_for(names)
    width = canvas.width - room - 30
    steps = STEPS if domain[1] / domain[0] < 30 else [0.001, 0.01, 0.1, 1, 10, 100, 1000, 10000]
    axis = alt.Axis(
        values=[step for step in steps if domain[0] <= step <= domain[1]],
        labelExpr="datum.value + '×'",
        title=None,
        labelOverlap="greedy",
        labelSeparation=8,
    )
    x = alt.X("low:Q", scale=alt.Scale(type="log", domain=list(domain), nice=False), axis=axis)
    y = alt.Y("name:N", sort=names, axis=names_axis(room))
    band = alt.Chart(canvas.data([{"low": 1 / (1 + tolerance), "high": 1 + tolerance}])).mark_rect(
        color=palette.LINE.light
    )
    one = alt.Chart(canvas.data([{"one": 1}])).mark_rule(color=palette.QUIET.light)
    base = alt.Chart(canvas.data(rows))
    colour, tip = arm_colour(every_arm(shown)), alt.Description("tip:N")
    return alt.layer(
        band.encode(x, alt.X2("high:Q")),
        one.encode(alt.X("one:Q")),
        base.mark_rule(strokeWidth=3).encode(x, alt.X2("high:Q"), y, color=colour, description=tip),
        base.mark_point(filled=True, size=90, opacity=1).encode(alt.X("ratio:Q"), y, color=colour, description=tip),
        base.mark_text(dx=8, align="left", fontSize=12, color=palette.INK.light).encode(
            alt.X("high:Q"), y, text="label:N"
        ),
    ).properties(width=width, height=alt.Step(30))


def _ratio_rows(shown: Sequence[Panel], most: float) -> Iterator[dict[str, Any]]:
    alone = len({arm.label for arm in every_arm(shown)}) == 1
    for panel in shown:
        for arm in panel.arms:
            ratio = arm.row.ratio_to_baseline
            assert ratio is not None
            name = panel.title if alone else f"{arm.label}, {panel.title}"
            label = f"{units.ratio(ratio.median)}×"
            tip = (
                f"{panel.title}\n{arm.label}: {WORDS[ratio.verdict]}\n{label} {interval(ratio)}\n{ratio.pairs} "
                "pairs of trials"
            )
            ends = {"low": ratio.low, "high": ratio.high or most}
            yield {"name": name, "arm": arm.label, "ratio": ratio.median, "label": label, "tip": tip} | ends


def _tell_ratio(arm: Arm) -> str:
    ratio = arm.row.ratio_to_baseline
    return f"{WORDS[ratio.verdict]}, {units.ratio(ratio.median)} times {interval(ratio)}" if ratio else ""


def _caption_ratios(groups: Sequence[Panel]) -> str:
    ratio = next(ratio for arm in every_arm(_compared(groups)) if (ratio := arm.row.ratio_to_baseline))
    return (
        f"Right of 1×: slower than the baseline. Grey band: within {100 * ratio.tolerance:g} %, equivalent. Bar: 95 "
        "% interval over "
        "pairs of trials; where it leaves the band on one side without touching 1×, or stays within the band, the "
        "verdict is resolved."
    )


def trials(groups: Sequence[Panel], canvas: Canvas) -> Spec | None:
    """Each trial's median by pair: the spread that the interval rests on, and any drift."""
    shown = [panel for panel in groups if any(point.median_ns for arm in panel.arms for point in arm.charts.trials)]
    if not shown or max(len(arm.charts.trials) for arm in every_arm(shown)) < 2:
        return None
    columns = min(canvas.columns, len(shown))
    return canvas.finish(
        [_trial_panel(panel, every_arm(shown), canvas, columns) for panel in shown], columns, ["color"]
    )


def _trial_panel(panel: Panel, arms: Sequence[Arm], canvas: Canvas, columns: int) -> Plot:
    rows = list(_trial_rows(panel))
    width = canvas.width // columns - 80
    times = [row["ns"] for row in rows]
    domain = (min(times) / 1.25, max(times) * 1.25)
    pairs = max(row["pair"] for row in rows)
    x_axis = alt.Axis(title=None, tickMinStep=1, format="d", grid=False, tickCount=min(pairs, width // 40))
    x = alt.X("pair:Q", scale=alt.Scale(domain=[0.5, pairs + 0.5], nice=False), axis=x_axis)
    y = alt.Y("ns:Q", scale=log_time(domain), axis=time_axis(domain, 5, minExtent=EXTENT, maxExtent=EXTENT))
    colour = arm_colour(arms, canvas.legend(symbolType="circle", symbolSize=90))
    base = alt.Chart(canvas.data(rows)).encode(x, y, color=colour)
    return alt.layer(
        base.mark_line(strokeWidth=1, opacity=0.45),
        base.mark_point(filled=True, size=60, opacity=1).encode(description=alt.Description("tip:N")),
    ).properties(width=width, height=120, title=panel.title)


def _trial_rows(panel: Panel) -> Iterator[dict[str, Any]]:
    for arm in panel.arms:
        for point in arm.charts.trials:
            if point.median_ns and math.isfinite(point.median_ns):
                tip = (
                    f"{arm.label}, pair {point.pair + 1}, trial {point.number}\nmedian "
                    f"{units.duration(point.median_ns)}"
                )
                tip += f"\nlost {units.percent(point.loss)} %"
                yield {"arm": arm.label, "pair": point.pair + 1, "ns": point.median_ns, "tip": tip}


def _tell_trials(arm: Arm) -> str:
    medians = [point.median_ns for point in arm.charts.trials if point.median_ns]
    if not medians:
        return "no trial with a median"
    return f"{len(medians)} trials, medians from {units.duration(min(medians))} to {units.duration(max(medians))}"


CHARTS = (
    Chart(
        "ratio-to-baseline",
        "Against the baseline",
        "Median latency as a multiple of the baseline's",
        _caption_ratios,
        lambda groups: describe_arms(_compared(groups), _tell_ratio),
        ratios,
    ),
    Chart(
        "trial-medians",
        "Latency",
        "Median of each trial, by pair",
        lambda _: (
            "One dot a trial: its median over all messages sent. The dots of a pair ran right after each "
            "other; a common drift "
            "moves both and cancels in their ratio. Trials that lost more than half have no dot."
        ),
        lambda groups: describe_arms(groups, _tell_trials),
        trials,
    ),
)
