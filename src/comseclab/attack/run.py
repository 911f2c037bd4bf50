"""Where the attack room meets the others: a plan becomes a run folder with `attack.json` and evidence."""

import json
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from comseclab import laboratory
from comseclab.attack.campaign import AFTER_S, BEFORE_S, DURING_S, AttackCampaign, Ended, Job, jobs
from comseclab.attack.cells import Cell, cells
from comseclab.attack.verdict import Judged, Verdict
from comseclab.places import native_programs
from comseclab.plan import Case, Plan, Trials
from comseclab.results import environment
from comseclab.results.store import RunFolder, write_atomically
from comseclab.workload.spool import Spools

VERSION = 1


@dataclass(frozen=True)
class AttackWork:
    """A plan's matrix, in a run folder."""

    run: RunFolder
    plan: Plan
    cells: Sequence[Cell]
    jobs: Sequence[Job]


def begin(plan: Plan, cases: Sequence[Case], plan_text: str, out: Path) -> AttackWork:
    """Make a run folder for the plan's matrix. Raises LabError when a stack is missing or `out` cannot be written."""
    matrix = cells(plan, cases)
    laboratory.check_installed([cell.case for cell in matrix])
    run = RunFolder.create(out, f"{plan.plan.name}-attack")
    write_atomically(run.path / "plan.toml", plan_text)
    run.write_json("attack-plan.json", {"plan": plan.model_dump(mode="json"), "cases": [case.id for case in cases]})
    return AttackWork(run, plan, matrix, jobs(matrix, plan.attack.repetitions))


def carry_out(work: AttackWork, ended: Ended) -> dict[str, Judged]:
    """Run every trial that is not there yet, and write `attack.json`."""
    native = native_programs()
    about = {"duration_s": BEFORE_S + DURING_S + AFTER_S, "drain_s": 0.6, "rounds": 1}
    timed = work.plan.model_copy(update={"plan": work.plan.plan.model_copy(update=about)})
    trials = Trials(timed, Spools(work.run.spools), "switch", native)
    try:
        trials.prepare([cell.case for cell in work.cells])
        versions = {cell.case.factors.middleware: cell.case.middleware.version() for cell in work.cells}
        work.run.write_json("environment.json", environment.describe(versions, native))
        campaign = AttackCampaign(timed, trials, work.run, ended)
        campaign.go(work.jobs)
    finally:
        shutil.rmtree(work.run.spools, ignore_errors=True)
    judged = campaign.judged(work.cells, work.jobs)
    work.run.write_json("attack.json", _document(work, campaign, judged))
    return judged


def _document(work: AttackWork, campaign: AttackCampaign, judged: dict[str, Judged]) -> dict[str, Any]:
    """`attack.json`, see docs/formats.md."""
    folders: dict[str, list[str]] = {}
    for job in work.jobs:
        folders.setdefault(job.cell.id, []).append(str(campaign.folder(job).relative_to(work.run.path)))
    return {
        "version": VERSION,
        "plan": work.plan.plan.name,
        "environment": json.loads((work.run.path / "environment.json").read_text()),
        "attacks": [
            {"name": one.name, "title": one.title, "success": one.success, "stride": one.stride, "controls": one.controls}
            for one in {cell.attack.name: cell.attack for cell in work.cells}.values()
        ],
        "cells": [_cell(cell, judged.get(cell.id), folders.get(cell.id, [])) for cell in work.cells],
    }


def _cell(cell: Cell, found: Judged | None, folders: Sequence[str]) -> dict[str, Any]:
    factors = cell.case.factors
    verdict = found.verdict if found else Verdict.NOT_APPLICABLE
    return {
        "middleware": factors.middleware,
        "protection": factors.protection,
        "reliability": factors.reliability,
        "settings": factors.settings,
        "attack": cell.attack.name,
        "verdict": verdict.value,
        "text": found.text if found else cell.refusal,
        "succeeded": found.succeeded if found else 0,
        "repetitions": found.repetitions if found else 0,
        "control_succeeded": found.control_succeeded if found else 0,
        "race": found.race if found else False,
        "harm": found.harm if found else {},
        "evidence": list(folders),
        "again": again(cell),
    }


def again(cell: Cell) -> str:
    """The command that repeats just this cell, and its control."""
    factors = cell.case.factors
    chosen = f"middleware={factors.middleware},reliability={factors.reliability},protection={factors.protection},settings={factors.settings}"
    return f"comseclab attack plan.toml --only {shlex.quote(chosen)} --attack {cell.attack.name}"
