"""From a plan to its cases: one level of every factor each, with what the levels mean."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from comseclab.errors import LabError
from comseclab.middleware.base import Middleware
from comseclab.middleware.registry import stack
from comseclab.places import native_programs
from comseclab.plan import levels
from comseclab.plan.schema import DefaultLevels, Matrix, Plan, Stream, nearest
from comseclab.testbed.profile import LinkProfile
from comseclab.trial.spec import Factors, OwnTransport, ProtectionSpec, Scheduling

TRIAL_OVERHEAD_S = 2.0
"""Of a trial beside sending, pauses and drain: testbed, start, matching, probes, closing; about, on a quiet machine."""


@dataclass(frozen=True)
class Case:
    """One case, with everything a trial of it needs but its messages."""

    factors: Factors
    link: LinkProfile
    protection: ProtectionSpec
    streams: tuple[Stream, ...]
    settings: dict[str, dict[str, Any]]
    """Options per middleware."""
    own_transport: OwnTransport | None
    scheduling: Scheduling
    baseline: str | None
    """Id of the case this one is compared with; None for a baseline."""

    @property
    def id(self) -> str:
        return self.factors.id()

    @property
    def middleware(self) -> Middleware:
        return stack(self.factors.middleware, self.own_transport)

    @property
    def repair_s(self) -> float:
        """What a drain lasts longer, so that losses which a reliable stream would repair are not counted as lost."""
        loses = self.link.loss or self.link.corrupt
        return self.middleware.repair_s if loses and self.factors.reliability == "reliable" else 0.0


def expand(plan: Plan) -> list[Case]:
    """The cases of all matrices, in order, without repeats.

    Raises LabError when a middleware refuses one, or a baseline is missing.
    """
    combined = dict.fromkeys(levels for matrix in plan.matrix for levels in _product(plan.factors, matrix))
    cases = [_case(plan, dict(zip(Factors.model_fields, levels, strict=True))) for levels in combined]
    for case in cases:
        if case.factors.pattern == "echo" and any(len(stream.readers) > 1 for stream in case.streams):
            raise LabError(
                f"case {case.id}: several readers' echoes cannot be told apart", "echo with one reader a stream"
            )
        built_in = case.factors.model_copy(update={"protection": case.protection.base})
        refusal = case.middleware.refuse(built_in, case.settings.get(case.factors.middleware, {}))
        if refusal:
            raise LabError(
                f"case {case.id}: {refusal}", "take it out of the matrix, or give it a [[matrix]] of its own"
            )
    _check_baselines(cases, plan, "add it to the same [[matrix]], or name another under [comparison]")
    return cases


def only(plan: Plan, cases: Sequence[Case], filters: Sequence[str]) -> list[Case]:
    """The cases that filters such as "link=wifi,protection=none" keep; a factor named twice keeps both levels.

    Raises LabError when a filter cannot be read, nothing is left, or a case is left without its baseline.
    """
    kept = matching(cases, filters)
    _check_baselines(kept, plan, f"add {plan.comparison.factor}={plan.comparison.baseline} to --only")
    return kept


def matching(cases: Sequence[Case], filters: Sequence[str]) -> list[Case]:
    """As `only`, whether baselines are kept or not."""
    wanted: dict[str, list[str]] = {}
    for part in ",".join(filters).split(","):
        factor, equals, level = part.strip().partition("=")
        if factor not in Factors.model_fields:
            raise LabError(f'--only: no factor "{factor}"; {nearest(factor, list(Factors.model_fields))}')
        present = list(dict.fromkeys(str(getattr(case.factors, factor)) for case in cases))
        if not equals:
            raise LabError(f"--only: {factor} lacks its level", f"write {factor}={present[0]}")
        if level not in present:
            raise LabError(f'--only: the plan has no {factor} "{level}"; {nearest(level, present)}')
        wanted.setdefault(factor, []).append(level)
    kept = [case for case in cases if all(getattr(case.factors, key) in values for key, values in wanted.items())]
    if not kept:
        raise LabError(f"--only {','.join(filters)} leaves no case", "--dry-run lists them")
    return kept


def stacks(cases: Sequence[Case]) -> dict[str, Middleware]:
    """The middlewares that the cases need, by name."""
    return {case.factors.middleware: case.middleware for case in cases}


def check_installed(cases: Sequence[Case]) -> None:
    """Raise LabError when one of them is not installed."""
    for needed in stacks(cases).values():
        if needed.version() is None or not (native_programs() / needed.library).exists():
            raise LabError(f"{needed.name} is not installed", needed.how_to_install())


def expected_seconds(plan: Plan, cases: Sequence[Case]) -> tuple[float, float]:
    """How long the campaign takes if every comparison stops at its fewest pairs, and at its most."""
    rounds = plan.plan.rounds * plan.plan.duration_s + (plan.plan.rounds - 1) * plan.plan.pause_s
    once = sum(
        TRIAL_OVERHEAD_S + case.middleware.start_s + rounds + plan.plan.drain_s + case.repair_s for case in cases
    )
    return plan.stop.min_pairs * once, plan.stop.max_pairs * once


def _product(defaults: DefaultLevels, matrix: Matrix) -> Iterator[tuple[str, ...]]:
    return product(*(getattr(matrix, factor) or getattr(defaults, factor) for factor in Factors.model_fields))


def _case(plan: Plan, chosen: dict[str, Any]) -> Case:
    factors = Factors.model_validate(chosen)
    comparison = plan.comparison
    is_baseline = chosen[comparison.factor] == comparison.baseline
    baseline = None if is_baseline else factors.model_copy(update={comparison.factor: comparison.baseline}).id()
    return Case(
        factors=factors,
        link=levels.link_profile(plan, factors.link, factors.settings),
        protection=levels.protection_spec(plan, factors.protection),
        streams=tuple(levels.workload_streams(plan, factors.workload)),
        settings=levels.middleware_settings(plan, factors.settings),
        own_transport=levels.own_transport(plan, factors.middleware),
        scheduling=levels.scheduling(plan, factors.settings),
        baseline=baseline,
    )


def _check_baselines(cases: Sequence[Case], plan: Plan, remedy: str) -> None:
    present = {case.id for case in cases}
    for case in cases:
        if case.baseline and case.baseline not in present:
            level = f"{plan.comparison.factor}={plan.comparison.baseline}"
            raise LabError(f"case {case.id} lacks its baseline {level}", remedy)
