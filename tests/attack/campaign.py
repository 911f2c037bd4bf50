"""Cells of the matrix, run for real and side by side, for tests to look at from many sides."""

import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from comseclab import plan as plans
from comseclab.attack import run
from comseclab.attack.verdict import Judged, Verdict
from comseclab.plan.read import checked_plan

T = TypeVar("T")
Cells = dict[tuple[str, str], Judged]
"""By protection and attack."""


def run_cells(
    middleware: str,
    protections: Sequence[str],
    attacks: Sequence[str],
    repetitions: int = 1,
    *,
    reliability: str = "reliable",
    out: Path | None = None,
) -> Cells:
    """Run each attack on each protection, with all controls, and judge. Those on `none` are among the cells.

    About 6 s a trial, eight at a time on two processors. `out`: where the run folder stays; none: nothing stays.
    """
    content: dict[str, Any] = {
        "plan": {"name": "cells"},
        "factors": {"middleware": [middleware], "reliability": reliability, "protection": ["none", *protections]},
        "attack": {"attacks": [*attacks], "repetitions": repetitions},
    }
    plan = checked_plan(content, Path.cwd() / "cells.toml")
    with tempfile.TemporaryDirectory(prefix="comseclab-cells-") as folder:
        work = run.begin(plan, plans.expand(plan), "", out or Path(folder))
        judged = run.carry_out(work, lambda *_: None)
    return {
        (cell.case.factors.protection, cell.attack.name): judged.get(cell.id)
        or Judged(Verdict.NOT_APPLICABLE, cell.refusal or "", {}, 0, 0, 0, race=False)
        for cell in work.cells
    }


def at_once(*campaigns: Callable[[], T]) -> list[T]:
    """What campaigns return that run side by side, since each mostly waits."""
    with ThreadPoolExecutor(len(campaigns)) as pool:
        return [future.result() for future in [pool.submit(campaign) for campaign in campaigns]]
