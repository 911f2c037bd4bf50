"""Where a run differs from the published figures, and what differs in the set-up."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from comseclab.literature.cells import Cells
from comseclab.literature.study import Difference, Key
from comseclab.report import units
from comseclab.report.run import RunData

LOSS_APART = 0.10
"""Losses differ when every trial is further than this from the published share."""
TIMES_APART = 2.0
"""Latencies differ when one mean is more than this many times the other."""


@dataclass(frozen=True)
class Deviation:
    """A cell whose figure is not the published one."""

    key: Key
    quantity: Literal["latency", "loss"]
    direction: Literal["more", "less"]
    figures: str


@dataclass(frozen=True)
class Reason:
    """Something that differs in the set-up, with the deviating cells it may explain."""

    text: str
    deviations: Sequence[Deviation]


def deviations(cells: Cells) -> list[Deviation]:
    """The cells of the study where loss differs, or where loss agrees and latency differs; in the tables' order."""
    return [found for key in cells.study.published if (found := _loss(cells, key) or _latency(cells, key))]


def agreeing(cells: Cells) -> list[Key]:
    """The cells of the study where every trial's loss and the mean latency are near the published ones.

    What neither deviates nor agrees is not resolved: trials on both sides of the bound, a single trial, a mean latency
    on one side only, or an overloaded cell in rounds too short to tell.
    """
    return [key for key in cells.study.published if _agrees(cells, key)]


def _agrees(cells: Cells, key: Key) -> bool:
    published, ours, arm = cells.study.published[key], cells.evidence.loss(key), cells.measured(key)
    if ours is None or arm is None:
        return False
    times = times_published(cells, key)
    neither = published.mean_ns is None and arm.row.latency_ns is None
    same_loss = published.loss - LOSS_APART <= ours.low and ours.high <= published.loss + LOSS_APART
    return same_loss and (neither if times is None else near(times))


def _loss(cells: Cells, key: Key) -> Deviation | None:
    published, ours = cells.study.published[key].loss, cells.evidence.loss(key)
    if ours is None:
        return None
    row = cells.arms[key].row
    figures = f"{units.percent(published)} % → {units.percent(row.loss)} % lost"
    if ours.low > published + LOSS_APART:
        return Deviation(key, "loss", "more", figures)
    if ours.high < published - LOSS_APART:
        return Deviation(key, "loss", "less", figures)
    return None


def _latency(cells: Cells, key: Key) -> Deviation | None:
    times, published = times_published(cells, key), cells.study.published[key].mean_ns
    if times is None or published is None or near(times) or key in cells.unsettled:
        return None
    figures = f"{units.duration(published)} → {units.duration(published * times)}"
    return Deviation(key, "latency", "more" if times > 1 else "less", figures)


def near(times: float) -> bool:
    """Whether a latency this many times the published one counts as the same."""
    return 1 / TIMES_APART <= times <= TIMES_APART


def times_published(cells: Cells, key: Key) -> float | None:
    """Our mean latency over the published one; None where either has none."""
    published, arm = cells.study.published.get(key), cells.measured(key)
    if published is None or published.mean_ns is None or arm is None or arm.row.latency_ns is None:
        return None
    return arm.row.latency_ns.mean / published.mean_ns


def reasons(cells: Cells, found: Sequence[Deviation]) -> list[Reason]:
    """What may explain them, most cells first; last come those with no reason but what differs everywhere."""
    curated = [
        Reason(difference.text, [one for one in found if explains(difference, one)])
        for difference in cells.study.differences
    ]
    known = {one for reason in curated for one in reason.deviations}
    rest = [one for one in found if one not in known]
    ordered = sorted((reason for reason in curated if reason.deviations), key=lambda reason: -len(reason.deviations))
    if rest:
        ordered.append(Reason("Nothing beyond what differs everywhere: CPU, kernel, versions, data.", rest))
    return ordered


def explains(difference: Difference, one: Deviation) -> bool:
    """Whether the difference may be behind the deviation."""
    places = (difference.configurations, difference.networks, difference.sensors)
    return (
        one.quantity in difference.quantity
        and one.direction in difference.direction
        and all(not wanted or part in wanted for wanted, part in zip(places, one.key, strict=True))
    )


def then_and_now(cells: Cells, data: RunData) -> Iterator[tuple[str, str, str]]:
    """What differs everywhere: name, the study's, ours."""
    environment, setup = data.summary.environment, cells.study.setup
    machine = environment.get("machine", {})
    virtual = ", virtualised" if machine.get("virtualised") else ""
    yield "CPU", setup.cpu, f"{machine.get('cpu', 'not known')}, {machine.get('cpus', '?')} CPUs{virtual}"
    backend = environment.get("link_backend")
    ours = {"kernel": "the kernel's netem", "switch": "our user-space switch, which does as netem does"}
    yield "Links", setup.backend, f"{ours.get(str(backend), 'not known')}, between network namespaces"
    yield "Middlewares", setup.versions, ", ".join(_versions(data)) or "not known"
    yield "Messages", setup.messages, _messages(cells, data)
    yield "Clock", setup.clock, {"tsc": "the same"}.get(_clock(environment), _clock(environment) or "not known")
    yield "System", setup.system, ", ".join(str(part) for part in environment.get("system", {}).values())


def _clock(environment: dict[str, object]) -> str:
    clock = environment.get("clock")
    return str(clock.get("source", "")) if isinstance(clock, dict) else ""


def _versions(data: RunData) -> Iterator[str]:
    stacks = data.summary.environment.get("middleware", {})
    yield from (f"{name} {version}" for name, version in stacks.items() if version)


def _messages(cells: Cells, data: RunData) -> str:
    trials = [arm.row.trials for arm in cells.arms.values() if arm.row.trials] or [0]
    lengths = sorted({spec.round_s for spec in data.specs})
    each = f" of {lengths[0]:g} s each" if lengths else ""
    return (
        f"synthetic sensors of those sizes and rates, {median(trials):g} executions a cell{each}, "
        f"first {100 * data.summary.warm_up:g} % dropped"
    )
