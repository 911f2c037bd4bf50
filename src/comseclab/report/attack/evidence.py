"""A cell's evidence: what was done, what was seen in each trial, and the files that show it."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pydantic import ValidationError

from comseclab.attack.matrix import CellRow, Described
from comseclab.attack.registry import ATTACKS
from comseclab.attack.spec import AttackRecord, Seen
from comseclab.attack.verdict import outcome_of, worked
from comseclab.errors import LabError
from comseclab.report import units
from comseclab.report.attack import looks
from comseclab.report.attack.run import AttackRun, Configuration, anchor

FIRST = (
    "record.json", "spec.json", "evidence/wire.pcapng.gz", "evidence/delivered.txt", "evidence/false.hex",
    "evidence/injected.hex",
)  # fmt: skip
"""What a reviewer opens first; documents and logs follow."""
COUNTED = {
    "altered": "altered",
    "forged": "forged",
    "repeated": "repeated",
    "stale": "from before a restart",
    "rogue_received": "read by the attacker",
}


def groups(run: AttackRun) -> list[dict[str, Any]]:
    """All cells, by configuration."""
    described = {attack.name: attack for attack in run.attacks}
    return [
        {
            "name": configuration.name,
            "marks": [looks.mark(cell) for cell in run.row(configuration)],
            "cells": [_cell(run, cell, described[cell.attack]) for cell in run.row(configuration)],
        }
        for configuration in run.configurations
    ]


def _cell(run: AttackRun, cell: CellRow, attack: Described) -> dict[str, Any]:
    trials = [_trial(run.path, folder, cell.attack) for folder in cell.evidence]
    return looks.mark(cell) | {
        "id": anchor(cell),
        "verdict": cell.verdict.value,
        "means": looks.LOOKS[cell.verdict].means,
        "text": cell.text,
        "done": attack.title,
        "success": attack.success,
        "counts": _counts(cell),
        "controls": list(_controls(run, cell, attack, trials)),
        "race": cell.race,
        "harm": [_harm(name, value) for name, value in cell.harm.items()],
        "trials": trials,
        "versions": ", ".join(dict.fromkeys(trial["versions"] for trial in trials if trial["versions"])),
        "again": cell.again,
    }


def _counts(cell: CellRow) -> str:
    return f"succeeded in {_of(cell.succeeded, cell.repetitions)}" if cell.repetitions else ""


def _of(succeeded: int, tried: int) -> str:
    return f"{succeeded} of {tried} valid trial{'s' if tried != 1 else ''}"


def _controls(
    run: AttackRun, cell: CellRow, attack: Described, trials: Sequence[dict[str, Any]]
) -> Iterator[dict[str, str]]:
    """What had to work before the cell may be called stopped, and how often it did."""
    if not cell.evidence or not Configuration.of(cell).protected:
        return
    if "plain" in attack.controls:
        plain = run.control(cell)
        told = _worked(plain.control_succeeded, plain.repetitions) if plain else "was not run"
        yield {"text": f"the same attack without protection {told}", "href": f"#{anchor(plain)}" if plain else ""}
    if "permitted" in attack.controls:
        shown = [trial["worked"] for trial in trials if trial["arm"] == "control" and trial["worked"] is not None]
        lost = f"worked in {cell.control_succeeded} or more valid trials, not all of whose records are still there"
        told = _worked(sum(shown), len(shown)) if sum(shown) >= cell.control_succeeded else lost
        yield {"text": f"the same node, holding the right, {told}", "href": ""}


def _worked(times: int, tried: int) -> str:
    """A control's count as verdicts take it: noticed harm shows the attack too."""
    return f"worked, noticed or not, in {_of(times, tried)}"


def _harm(name: str, value: float) -> str:
    """`lost_share` 0.5 -> `lost share 50 %`; `older_ms` 401 -> `older 401 ms`."""
    words = name.replace("_", " ")
    if "share" in name:
        return f"{words} {units.percent(value)} %"
    if name.endswith(("_ms", "_ns", "_s")):
        named, unit = name.rsplit("_", 1)
        return f"{named.replace('_', ' ')} {units.digits(value)} {unit}"
    return f"{words} {units.digits(value)}"


def _trial(run: Path, folder: str, attack: str) -> dict[str, Any]:
    """One trial: what it showed, and links to its files, relative to the page."""
    record = _record(run / folder)
    arm, _, number = Path(folder).name.rpartition("_")[2].partition("-")
    found: dict[str, Any] = {
        "name": f"{arm} {number.replace('-', ' ')}",
        "arm": arm,
        "seed": _seed(run / folder),
        "files": [{"href": quote(f"{folder}/{name}"), "name": Path(name).name} for name in _files(run / folder)],
    }
    if record is None:
        gone = "its record is no longer there"
        return found | {"worked": None, "outcome": gone, "seen": "", "told": [], "versions": ""}
    shown, outcome = _outcome(record, attack)
    return found | {
        "worked": shown,
        "outcome": outcome,
        "seen": _seen(record.seen) if record.seen else "",
        "told": _told(record),
        "versions": ", ".join(f"{name} {version}" for name, version in record.versions.items()),
    }


def _record(folder: Path) -> AttackRecord | None:
    path = folder / "record.json"
    try:
        return AttackRecord.model_validate_json(path.read_text()) if path.is_file() else None
    except (OSError, ValidationError):
        raise LabError(f"{path} is damaged", "remove that trial's folder and resume the run") from None


def _seed(folder: Path) -> str:
    try:
        return str(json.loads((folder / "spec.json").read_text())["trial"]["seed"])
    except (OSError, ValueError, KeyError, TypeError):
        return "not known"


def _files(folder: Path) -> list[str]:
    there = [
        str(path.relative_to(folder)) for path in sorted(folder.rglob("*")) if path.is_file() and path.stat().st_size
    ]
    kept = [name for name in there if not name.startswith(("records/", "."))]
    return [name for name in FIRST if name in kept] + [name for name in kept if name not in FIRST]


def _outcome(record: AttackRecord, attack: str) -> tuple[bool | None, str]:
    """Whether the attack worked, None where a trial says nothing of it; and the trial's outcome in words."""
    if not record.valid or record.seen is None:
        return None, f"invalid: {'; '.join(record.reasons)}"
    if attack not in ATTACKS:
        return None, "valid; this version of the laboratory no longer knows the attack"
    outcome = outcome_of(ATTACKS[attack], record.seen)
    harm = ", ".join(_harm(name, value) for name, value in outcome.harm.items())
    return worked(outcome), f"{outcome.effect.value}: {outcome.text}" + (f" ({harm})" if harm else "")


def _seen(seen: Seen) -> str:
    """Messages delivered of those sent, in each phase; and what else stands in the subscriber's list."""
    phases = {"before": seen.before, "during": seen.during, "after": seen.after}
    parts = [f"{name} {phase.delivered}/{phase.sent}" for name, phase in phases.items()]
    parts += [f"{count} {words}" for name, words in COUNTED.items() if (count := getattr(seen, name))]
    if seen.injected_frames:
        parts.append(f"{seen.injected_frames} frames injected")
    if seen.targeted:
        parts.append(f"{seen.targeted} frames altered, held or dropped")
    return ", ".join(parts)


def _told(record: AttackRecord) -> list[str]:
    """What the stack told somebody, crashes first."""
    if record.seen is None:
        return []
    crashed = [f"{node} ended with {how}" for node, how in record.seen.crashed.items()]
    refused = [f"to the attacker: {text}" for text in record.seen.rogue_refused]
    return [*crashed, *(f"to a victim: {text}" for text in record.seen.told), *refused][:8]
