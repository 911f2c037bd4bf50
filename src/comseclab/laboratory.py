"""Where the rooms meet: a plan becomes a run folder full of results, and these a page."""

import random
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from comseclab.analysis.build import trial_medians
from comseclab.analysis.compare import pair_ratios
from comseclab.analysis.reading import Campaign as Described
from comseclab.analysis.stop import enough
from comseclab.analysis.summary import Row, Summary
from comseclab.campaign import floor
from comseclab.campaign.run import Campaign, Rule, Watcher
from comseclab.errors import LabError
from comseclab.places import native_programs
from comseclab.plan import Case, Plan, Trials, check_installed, check_runnable, expand, saved_plan, stacks
from comseclab.results import environment
from comseclab.results.record import TrialRecord
from comseclab.results.store import RunFolder, not_measured, write_atomically
from comseclab.testbed.capabilities import kernel_netem
from comseclab.trial.launch import run_trial
from comseclab.workload.spool import Spools

WARM_UP = 0.1
"""Share of each round's messages that is not counted (Martin et al. 2018 drop the same)."""

Preparing = Callable[[str, float | None], None]
"""Told what is being prepared, and which share of it is done."""


@dataclass(frozen=True)
class Work:
    """A plan with the cases chosen from it, in a run folder."""

    run: RunFolder
    plan: Plan
    cases: Sequence[Case]


def begin(plan: Plan, cases: Sequence[Case], plan_text: str, out: Path) -> Work:
    """Make a run folder for the plan's cases.

    Raises LabError when a stack is missing, what the plan names cannot serve, or `out` cannot be written.
    """
    check_runnable(plan, cases)
    check_installed(cases)
    run = RunFolder.create(out, plan.plan.name)
    write_atomically(run.path / "plan.toml", plan_text)
    run.write_json("plan.json", {"plan": plan.model_dump(mode="json"), "cases": [case.id for case in cases]})
    return Work(run, plan, cases)


def reopen(path: Path) -> Work:
    """The work of a run folder that is not finished. Raises LabError when it cannot be taken up."""
    if not (path / "plan.json").is_file():
        raise not_measured(path)
    run = RunFolder(path.resolve())
    saved = saved_plan(run.read_json("plan.json"), run.path / "plan.json")
    cases = [case for case in expand(saved.plan) if case.id in saved.cases]
    if not cases:
        raise LabError(f"{run.path / 'plan.json'} names no case of its plan", "begin a new run")
    check_runnable(saved.plan, cases)
    check_installed(cases)
    return Work(run, saved.plan, cases)


def measure(work: Work, watcher: Watcher, preparing: Preparing) -> None:
    """Run the campaign, going on where the run folder stands. The spools end with it.

    Raises LabError where another laboratory works in the run folder.
    """
    with work.run.claimed():
        native = native_programs()
        trials = Trials(work.plan, Spools(work.run.spools, preparing), choose_backend(work.plan), native)
        try:
            trials.prepare(work.cases)
            _describe(work, trials, native)
            campaign = _campaign(work, trials, watcher)
            campaign.resume()
            campaign.go()
        finally:
            shutil.rmtree(work.run.spools, ignore_errors=True)


def choose_backend(plan: Plan) -> Literal["kernel", "switch"]:
    """The link backend of the plan; where it says auto, the kernel's netem if the kernel has it, else our switch."""
    if plan.backend.link != "auto":
        return plan.backend.link
    return "kernel" if kernel_netem().available else "switch"


def _describe(work: Work, trials: Trials, native: Path) -> None:
    """Write `campaign.json` and `environment.json`, once: a resumed campaign keeps the first, and must fit them."""
    versions = {name: stack.version() for name, stack in stacks(work.cases).items()}
    if (work.run.path / "campaign.json").exists():
        environment.check_unchanged(work.run.read_json("environment.json"), versions)
        return
    described = [_case(case, trials) for case in work.cases]
    comparison, deadline = work.plan.comparison, work.plan.deadline
    limit = deadline and {"limit_ns": round(deadline.latency_ms * 1e6), "allowed_share": deadline.max_miss}
    work.run.write_json("environment.json", environment.describe(versions, native) | {"link_backend": trials.backend})
    work.run.write_json(
        "campaign.json",
        {
            "version": 1,
            "plan": work.plan.plan.name,
            "seed": work.plan.plan.seed,
            "comparison": comparison.model_dump(),
            "deadline": limit,
            "stop": work.plan.stop.model_dump(),
            "warm_up": WARM_UP,
            "cases": described,
            "cipher_floor": floor.measure(
                native, (stream["max_size"] for case in described for stream in case["streams"])
            ),
        },
    )


def _case(case: Case, trials: Trials) -> dict[str, Any]:
    spec = trials.spec(case, number=0, pair=0, seed=0, nonce="0" * 16)
    wanted = {"id", "topic", "type", "max_size", "rate_hz", "messages"}
    return {
        "id": case.id,
        "factors": case.factors.model_dump(),
        "protection_base": case.protection.base,
        "baseline": case.baseline,
        "link": case.link.model_dump(),
        "streams": [stream.model_dump(include=wanted) for stream in spec.streams],
    }


def _campaign(work: Work, trials: Trials, watcher: Watcher) -> Campaign:
    cases = {case.id: case for case in work.cases}
    described = {case.id: case for case in Described.model_validate(work.run.read_json("campaign.json")).cases}
    stop, seed = work.plan.stop, work.plan.plan.seed

    def execute(case: str, pair: int, number: int, folder: Path) -> TrialRecord:
        dice = random.Random(f"{seed} trial {number}")
        own_seed, nonce = dice.getrandbits(48), f"{dice.getrandbits(64):016x}"
        return run_trial(trials.spec(cases[case], number=number, pair=pair, seed=own_seed, nonce=nonce), folder)

    def medians(folder: Path) -> Mapping[int, float]:
        case = described[folder.name.partition("-")[2]]
        return trial_medians(folder, case.streams, case.echo, WARM_UP)

    def resolved(pairs: Sequence[tuple[float, float]]) -> bool:
        baseline, variant = zip(*pairs, strict=True)
        return enough(list(pair_ratios(baseline, variant)), stop.precision, stop.min_pairs, stop.max_pairs).stop

    return Campaign(
        run=work.run,
        baselines={case.id: case.baseline for case in work.cases},
        seed=seed,
        rule=Rule(stop.min_pairs, stop.max_pairs, resolved),
        execute=execute,
        medians=medians,
        watcher=watcher,
    )


def exit_code(rows: Sequence[Row], unresolved: int = 3) -> int:
    """0 fine; 1 a deadline is missed; 3 a case has no valid trial; `unresolved` when only a verdict is missing."""
    deadlines = [row.deadline.verdict for row in rows if row.deadline]
    if "missed" in deadlines:
        return 1
    if any(row.trials == 0 for row in rows):
        return 3
    ratios = [row.ratio_to_baseline.verdict if row.ratio_to_baseline else None for row in rows if row.baseline]
    return unresolved if "not resolved" in [*deadlines, *ratios] or None in ratios else 0


def summary(run: RunFolder) -> Summary:
    """The summary of a run whose page has been built."""
    return Summary.model_validate(run.read_json("summary.json"))
