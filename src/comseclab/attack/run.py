"""Where the attack room meets the others: a plan becomes a run folder with `attack.json` and evidence."""

import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from comseclab.attack import matrix
from comseclab.attack.campaign import ROUND_S, AttackCampaign, Job, Watcher, jobs
from comseclab.attack.cells import LINK, Cell, cells, configurations
from comseclab.attack.matrix import CellRow, Described, Matrix
from comseclab.attack.verdict import Judged, Verdict
from comseclab.errors import LabError
from comseclab.places import native_programs
from comseclab.plan import (
    Case,
    Plan,
    Trials,
    check_installed,
    check_runnable,
    expand,
    saved_plan,
    saved_text,
    stacks,
)
from comseclab.results import environment
from comseclab.results.store import ATTACK_PLAN, RunFolder, write_atomically
from comseclab.testbed import clean
from comseclab.trial.spec import StreamSpec
from comseclab.workload.spool import Spools

HEADERS_BYTES = 512
"""What a stack may add to a message within its frame."""


@dataclass(frozen=True)
class AttackWork:
    """A plan's matrix, in a run folder."""

    run: RunFolder
    plan: Plan
    cells: Sequence[Cell]

    @property
    def jobs(self) -> list[Job]:
        """Every trial of the matrix."""
        return jobs(self.cells, self.plan.attack.repetitions)


def planned(plan: Plan, cases: Sequence[Case]) -> list[Cell]:
    """The plan's matrix.

    Raises LabError for a name that nobody knows, for one that could not be carried out, and for what the plan names
    and cannot serve.
    """
    made = cells(plan, cases)
    tried = [cell for cell in made if cell.refusal is None]
    if not tried:
        cell = next((cell for cell in made if cell.protected), made[0])
        raise LabError(f"nothing to try: {cell.title}: {cell.refusal}", "choose other attacks or configurations")
    _check_required(plan)
    _check_size(plan, tried)
    check_runnable(plan, [cell.case for cell in tried])
    return made


def _check_required(plan: Plan) -> None:
    """Raise LabError for a requirement of the whole plan that nothing could break."""
    whole = cells(plan, expand(plan))
    met = {cell.attack.name for cell in whole if cell.protected and cell.refusal is None}
    for name in plan.attack.require:
        if name not in met:
            raise LabError(
                f'[attack] require: "{name}" is tried on no protected configuration',
                "give the plan a protection to try it on, name it in attacks, or take it out of require",
            )


def unchecked(plan: Plan, cases: Sequence[Case]) -> str:
    """What the plan requires beyond these of its configurations, in words; empty where that is nothing."""
    protected = [case.id for case in configurations(plan, expand(plan)) if case.protection.base != "none"]
    left_out = len(set(protected) - {case.id for case in cases})
    if not (plan.attack.require and left_out):
        return ""
    return f"{', '.join(plan.attack.require)} on {left_out} of {len(protected)} protected configurations"


def begin(plan: Plan, cases: Sequence[Case], plan_text: str, out: Path) -> AttackWork:
    """Make a run folder for the plan's matrix. Raises LabError when a stack is missing or `out` cannot be written."""
    made = planned(plan, cases)
    check_installed([cell.case for cell in made])
    run = RunFolder.create(out, f"{plan.plan.name}-attack")
    write_atomically(run.path / "plan.toml", plan_text)
    run.write_json(ATTACK_PLAN, {"plan": plan.model_dump(mode="json"), "cases": [case.id for case in cases]})
    return AttackWork(run, plan, made)


def saved(path: Path) -> tuple[Plan, list[Case], str]:
    """The plan, configurations and plan text of a run folder. Raises LabError when it is none."""
    name = next((name for name in (ATTACK_PLAN, "plan.json") if (path / name).is_file()), None)
    if name is None:
        raise LabError(f"{path} is not a run folder", "give one that `comseclab attack` made")
    kept = saved_plan(RunFolder(path).read_json(name), path / name)
    plan = kept.plan
    attacked = configurations(plan, expand(plan))
    measured = configurations(plan, [case for case in expand(plan) if case.id in kept.cases])
    cases = [case for case in attacked if case.id in kept.cases] if name == ATTACK_PLAN else measured
    return plan, cases, saved_text(path)


def reopen(path: Path) -> AttackWork:
    """The work of a run folder that is not finished. Raises LabError when it cannot be taken up."""
    path = path.resolve()
    if not (path / ATTACK_PLAN).is_file():
        raise LabError(f"{path} holds no attacks", "give a run folder that `comseclab attack` made")
    plan, cases, _ = saved(path)
    made = cells(plan, cases)
    check_installed([cell.case for cell in made])
    check_runnable(plan, [cell.case for cell in made])
    return AttackWork(RunFolder(path), plan, made)


def carry_out(work: AttackWork, watcher: Watcher) -> dict[str, Judged]:
    """Run every trial that is not there yet, and write `attack.json`. Returns the verdicts by the cells' ids.

    Raises LabError where another laboratory works in the run folder.
    """
    with work.run.claimed():
        native = native_programs()
        trials = _trials(work.plan, work.run.spools, native)
        campaign = AttackCampaign(trials, work.run, watcher)
        wanted = work.jobs
        work.run.discard_unclosed()
        try:
            trials.prepare([cell.case for cell in work.cells])
            _describe(work, native)
            campaign.go(wanted)
        finally:
            shutil.rmtree(work.run.spools, ignore_errors=True)
        judged = campaign.judged(work.cells, wanted)
        folders: dict[str, list[str]] = {}
        for job in wanted:
            folders.setdefault(job.cell.id, []).append(str(campaign.folder(job).relative_to(work.run.path)))
        found = _matrix(work, judged, folders)
        write_atomically(work.run.path / matrix.NAME, found.model_dump_json(indent=1) + "\n")
    return judged


def _describe(work: AttackWork, native: Path) -> None:
    """Write `environment.json`, once: a resumed run keeps the first, and must fit it."""
    versions = {name: stack.version() for name, stack in stacks([cell.case for cell in work.cells]).items()}
    if (work.run.path / "environment.json").exists():
        environment.check_unchanged(work.run.read_json("environment.json"), versions)
    else:
        work.run.write_json("environment.json", environment.describe(versions, native))


def _matrix(work: AttackWork, judged: Mapping[str, Judged], folders: Mapping[str, Sequence[str]]) -> Matrix:
    """The verdicts, and by cell the folders of its trials."""
    return Matrix(
        plan=work.plan.plan.name,
        environment=work.run.read_json("environment.json"),
        attacks=[
            Described(
                name=one.name, title=one.title, success=one.success, stride=one.stride, controls=list(one.controls)
            )
            for one in {cell.attack.name: cell.attack for cell in work.cells}.values()
        ],
        cells=[_row(cell, judged.get(cell.id), folders.get(cell.id, []), work.run.path) for cell in work.cells],
    )


def _trials(plan: Plan, spools: Path, native: Path) -> Trials:
    """Of the time that an attack takes, whatever the plan says of timed ones."""
    about = {"duration_s": ROUND_S, "drain_s": 0.6, "rounds": 1}
    changed = plan.model_copy(update={"plan": plan.plan.model_copy(update=about)})
    return Trials(changed, Spools(spools), "switch", native)


def attacked(plan: Plan, cell: Cell) -> StreamSpec:
    """The stream that is attacked in a cell. Raises LabError where its source cannot be read."""
    with clean.scratch() as folder:
        trials = _trials(plan, folder, native_programs())
        return trials.spec(cell.case, number=0, pair=0, seed=0, nonce="0" * 16).streams[0]


def _check_size(plan: Plan, tried: Sequence[Cell]) -> None:
    """Raise LabError for messages that an adversary would have to put together from several frames."""
    for cell in {cell.case.factors.codec: cell for cell in tried}.values():
        stream = attacked(plan, cell)
        if stream.max_size + HEADERS_BYTES > LINK.mtu:
            raise LabError(
                f"messages of {stream.max_size} B on {stream.topic} need several frames",
                f"attack a [attack] workload of {LINK.mtu - HEADERS_BYTES} B at most, such as scan",
            )


def _row(cell: Cell, found: Judged | None, folders: Sequence[str], run: Path) -> CellRow:
    factors = cell.case.factors
    return CellRow(
        title=cell.title,
        middleware=factors.middleware,
        protection=factors.protection,
        base=cell.case.protection.base,
        reliability=factors.reliability,
        codec=factors.codec,
        settings=factors.settings,
        attack=cell.attack.name,
        verdict=found.verdict if found else Verdict.NOT_APPLICABLE,
        text=found.text if found else cell.refusal or "",
        succeeded=found.succeeded if found else 0,
        repetitions=found.repetitions if found else 0,
        control_succeeded=found.control_succeeded if found else 0,
        race=found.race if found else False,
        harm=found.harm if found else {},
        evidence=list(folders),
        again=again(cell, run) if found else "",
    )


def again(cell: Cell, run: Path) -> str:
    """The command that repeats just this cell, and its control; from where the run was begun."""
    factors = cell.case.factors
    levels = {name: getattr(factors, name) for name in ("middleware", "reliability", "protection", "codec", "settings")}
    only = ",".join(f"{name}={level}" for name, level in levels.items())
    return f"comseclab attack {shlex.quote(str(run))} --only {shlex.quote(only)} --attack {cell.attack.name}"
