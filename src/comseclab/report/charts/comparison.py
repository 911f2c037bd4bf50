"""Charts of what differs: ratios with their intervals, and the spread from trial to trial."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt

from comseclab.report import palette, units
from comseclab.report.arms import Arm, Panel, every_arm
from comseclab.report.charts.base import (
    Chart, Frame, arm_colour, describe_arms, log_time, names_axis, order, stack, time_axis, time_domain, values,
)  # fmt: skip
from comseclab.report.sentences import WORDS, interval


def _compared(groups: Sequence[Panel]) -> list[Panel]:
    kept = [Panel(panel.title, tuple(arm for arm in panel.arms if _ratio(arm))) for panel in groups]
    return [panel for panel in kept if panel.arms]


def _ratio(arm: Arm) -> bool:
    return arm.row.ratio_to_baseline is not None and arm.row.ratio_to_baseline.median is not None


def ratios(groups: Sequence[Panel], frame: Frame) -> alt.VConcatChart | None:
    """Each ratio of medians with its interval, beside the band within which it counts as equivalent."""
    shown = _compared(groups)
    found = [ratio for arm in every_arm(shown) if (ratio := arm.row.ratio_to_baseline)]
    if not found:
        return None
    ends = [end for ratio in found for end in (ratio.low, ratio.median, ratio.high) if end]
    reach = max(1.5, 1.08 * max(max(end, 1 / end) for end in ends))
    domain = (max(1 / reach, 0.92 * min(1 / (1 + found[0].tolerance) / 1.1, *ends)), reach)
    return stack([_ratio_panel(panel, frame, domain) for panel in shown])


def _ratio_panel(panel: Panel, frame: Frame, domain: tuple[float, float]) -> alt.LayerChart:
    ratio = panel.arms[0].row.ratio_to_baseline
    assert ratio is not None
    band = values([{"low": 1 / (1 + ratio.tolerance), "high": 1 + ratio.tolerance}])
    steps = [0.1, 0.2, 0.5, 0.8, 1, 1.25, 1.5, 2, 3, 5, 10, 20, 50, 100, 1000]
    steps = steps if domain[1] / domain[0] < 12 else [0.01, 0.1, 1, 10, 100, 1000]
    axis = alt.Axis(values=[step for step in steps if domain[0] <= step <= domain[1]], labelExpr="datum.value + '×'", title=None)
    scale = alt.Scale(type="log", domain=list(domain), nice=False)
    y = alt.Y("arm:N", sort=order(panel), axis=names_axis(frame))
    base = alt.Chart(values(_ratio_rows(panel, domain[1])))
    colour = arm_colour(panel.arms)
    tip = alt.Description("tip:N")
    return alt.layer(
        alt.Chart(band).mark_rect(color=palette.LINE.light).encode(alt.X("low:Q", scale=scale, axis=axis), alt.X2("high:Q")),
        alt.Chart(values([{"one": 1}])).mark_rule(color=palette.QUIET.light).encode(alt.X("one:Q")),
        base.mark_rule(strokeWidth=3).encode(alt.X("low:Q"), alt.X2("high:Q"), y, color=colour, description=tip),
        base.mark_point(filled=True, size=90, opacity=1).encode(alt.X("ratio:Q"), y, color=colour, description=tip),
        base.mark_text(dy=-13, fontSize=11, color=palette.INK.light).encode(alt.X("ratio:Q"), y, text="label:N"),
    ).properties(width=frame.width, height=alt.Step(38), title=panel.title)


def _ratio_rows(panel: Panel, most: float) -> Iterator[dict[str, Any]]:
    for arm in panel.arms:
        ratio = arm.row.ratio_to_baseline
        assert ratio is not None
        label = f"{units.ratio(ratio.median)}×"
        tip = f"{arm.label}: {WORDS[ratio.verdict]}\n{label} {interval(ratio)}\n{ratio.pairs} pairs of trials"
        yield {"arm": arm.label, "ratio": ratio.median, "low": ratio.low, "high": ratio.high or most, "label": label, "tip": tip}


def _tell_ratio(arm: Arm) -> str:
    ratio = arm.row.ratio_to_baseline
    return f"{WORDS[ratio.verdict]}, {units.ratio(ratio.median)} times {interval(ratio)}" if ratio else ""


def _caption_ratios(groups: Sequence[Panel]) -> str:
    ratio = next(ratio for arm in every_arm(_compared(groups)) if (ratio := arm.row.ratio_to_baseline))
    return (
        f"Right of 1×: slower than the baseline. Grey band: within {units.percent(ratio.tolerance)} %, equivalent. Bar: 95 % interval over "
        "pairs of trials; where it leaves the band on one side without touching 1×, or stays within the band, the verdict is resolved."
    )


def trials(groups: Sequence[Panel], frame: Frame) -> alt.VConcatChart | None:
    """Each trial's median by pair: the spread that the interval rests on, and any drift."""
    shown = [panel for panel in groups if any(point.median_ns for arm in panel.arms for point in arm.charts.trials)]
    if not shown or max(len(arm.charts.trials) for arm in every_arm(shown)) < 2:
        return None
    arms = every_arm(shown)
    return stack([_trial_panel(panel, arms, frame) for panel in shown], ["color"])


def _trial_panel(panel: Panel, arms: Sequence[Arm], frame: Frame) -> alt.LayerChart:
    rows = list(_trial_rows(panel))
    domain = time_domain(row["ns"] for row in rows)
    if domain[1] / domain[0] > 30:
        domain = (domain[0] / 1.2, domain[1] * 1.2)
    pairs = max((row["pair"] for row in rows), default=1)
    y_axis = time_axis(domain, Frame(400, 0, 1), None)
    y_axis.minExtent = y_axis.maxExtent = 48
    x = alt.X("pair:Q", scale=alt.Scale(domain=[0.5, pairs + 0.5], nice=False),
              axis=alt.Axis(title=None, tickMinStep=1, format="d", grid=False, tickCount=min(pairs, frame.width // 40)))  # fmt: skip
    legend = alt.Legend(columns=frame.columns, labelLimit=frame.names + 40, symbolType="circle", symbolSize=90)
    base = alt.Chart(values(rows)).encode(x, alt.Y("ns:Q", scale=log_time(domain), axis=y_axis), color=arm_colour(arms, legend))
    return alt.layer(
        base.mark_line(strokeWidth=1, opacity=0.45),
        base.mark_point(filled=True, size=60, opacity=1).encode(description=alt.Description("tip:N")),
    ).properties(width=frame.width + frame.names - 52, height=110, title=panel.title)


def _trial_rows(panel: Panel) -> Iterator[dict[str, Any]]:
    for arm in panel.arms:
        for point in arm.charts.trials:
            if point.median_ns and math.isfinite(point.median_ns):
                tip = f"{arm.label}, pair {point.pair + 1}, trial {point.number}\nmedian {units.duration(point.median_ns)}"
                tip += f"\nlost {units.percent(point.loss)} %"
                yield {"arm": arm.label, "pair": point.pair + 1, "ns": point.median_ns, "tip": tip}


def _tell_trials(arm: Arm) -> str:
    medians = [point.median_ns for point in arm.charts.trials if point.median_ns]
    if not medians:
        return "no trial with a median"
    return f"{len(medians)} trials, medians from {units.duration(min(medians))} to {units.duration(max(medians))}"


CHARTS = (
    Chart("ratio-to-baseline", "Against the baseline", "Median latency as a multiple of the baseline's", _caption_ratios,
          lambda groups: describe_arms(_compared(groups), _tell_ratio), ratios),
    Chart("trial-medians", "Latency", "Median of each trial, by pair",
          lambda _: "One dot a trial: its median over all messages sent. The dots of a pair ran right after each other; a common drift "
                    "moves both and cancels in their ratio. Trials that lost more than half have no dot.",
          lambda groups: describe_arms(groups, _tell_trials), trials),
)  # fmt: skip
