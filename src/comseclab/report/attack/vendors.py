"""Two vendors, one governance: where stacks that take the same documents differ under the same attack."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from comseclab.attack.matrix import UNDECIDED, CellRow
from comseclab.attack.verdict import Verdict
from comseclab.middleware.dds_stack import DdsStack
from comseclab.middleware.registry import MIDDLEWARES
from comseclab.report.attack import looks
from comseclab.report.attack.run import AttackRun, Configuration

SAME_DOCUMENTS = frozenset(name for name, stack in MIDDLEWARES.items() if isinstance(stack, DdsStack))
"""Governance and permissions of DDS Security are the same files for these."""


def stacks(run: AttackRun) -> list[str]:
    """Those of the run that were given the same documents; none where there is only one."""
    documented = {one.middleware for one in run.configurations if one.protected} & SAME_DOCUMENTS
    found = [name for name in run.middlewares if name in documented]
    return found if len(found) > 1 else []


def differences(run: AttackRun) -> Iterator[dict[str, Any]]:
    """A row for each protection and attack whose verdicts differ between such stacks, a mark a stack."""
    compared = stacks(run)
    protected = (one for one in run.configurations if one.middleware in compared and one.protected)
    chosen = sorted(protected, key=_documents)
    for _, alike in groupby(chosen, _documents):
        configurations = list(alike)
        for attack in run.attacks:
            cells = [run.cells.get((one, attack.name)) for one in configurations]
            if _differ([cell for cell in cells if cell]):
                by_stack = {cell.middleware: looks.mark(cell) for cell in cells if cell}
                yield {
                    "label": configurations[0].label,
                    "attack": attack.name,
                    "marks": [by_stack.get(name) for name in compared],
                }


def _documents(one: Configuration) -> tuple[str, ...]:
    return one.protection, one.base, one.reliability, one.codec, one.settings


def _differ(cells: Sequence[CellRow]) -> bool:
    """Whether verdicts that say something differ."""
    silent = (Verdict.NOT_APPLICABLE, *UNDECIDED)
    return len({cell.verdict for cell in cells if cell.verdict not in silent}) > 1
