"""What the page shows besides the analysis: the records, specifications and plan of a run."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from comseclab.analysis.build import analyse
from comseclab.analysis.summary import Summary
from comseclab.errors import LabError
from comseclab.plan import Plan
from comseclab.report.arms import Panel, panels
from comseclab.results.record import TrialRecord
from comseclab.results.store import RunFolder
from comseclab.trial.spec import TrialSpec


@dataclass(frozen=True)
class RunData:
    """A run, read and analysed."""

    path: Path
    summary: Summary
    panels: Sequence[Panel]
    records: Sequence[TrialRecord]
    specs: Sequence[TrialSpec]
    """Of the closed trials that have one, in order of their numbers."""
    plan: Plan | None
    """None where the run folder does not say."""
    plan_text: str

    def folder(self, record: TrialRecord) -> str:
        """A trial's folder, relative to the page."""
        return f"trials/{record.number:04d}-{record.case}"


def read(path: Path) -> RunData:
    """Analyse the run folder. Raises LabError when it is none, is damaged, or holds no valid trial."""
    run = RunFolder.open(path)
    if not (run.path / "trials").is_dir():
        raise LabError(f"{path} holds no trials", "run its plan, or continue it with --resume")
    records = run.records()
    if not any(record.status == "valid" for record in records):
        told = f"{len(records)} trials, none valid" if records else "no closed trial"
        why = next((reason for record in records for reason in record.reasons), "")
        raise LabError(
            f"{path} holds {told}{': ' + why if why else ''}", "remove the reason and continue the run with --resume"
        )
    analysis = analyse(run.path)
    plan = run.path / "plan.toml"
    return RunData(
        path=run.path,
        summary=analysis.summary,
        panels=panels(analysis.summary, analysis.charts.cases),
        records=records,
        specs=_specs(run, records),
        plan=_plan(run),
        plan_text=plan.read_text(errors="replace") if plan.is_file() else "",
    )


def _plan(run: RunFolder) -> Plan | None:
    if not (run.path / "plan.json").is_file():
        return None
    try:
        return Plan.model_validate(run.read_json("plan.json")["plan"])
    except (KeyError, TypeError, ValidationError):
        raise LabError(f"{run.path / 'plan.json'} is damaged", "the run must be made again") from None


def _specs(run: RunFolder, records: Sequence[TrialRecord]) -> list[TrialSpec]:
    paths = [run.trial(record.number, record.case) / "spec.json" for record in records]
    specs = []
    for path in paths:
        if not path.is_file():
            continue
        try:
            specs.append(TrialSpec.model_validate_json(path.read_text()))
        except (OSError, ValidationError) as error:
            first = error.errors()[0]["msg"] if isinstance(error, ValidationError) else error
            raise LabError(f"{path} is damaged: {first}", "remove that trial's folder and resume the run") from None
    return specs


def as_json(value: Any) -> str:
    """JSON as the run folder keeps it."""
    return json.dumps(value, indent=1) + "\n"
