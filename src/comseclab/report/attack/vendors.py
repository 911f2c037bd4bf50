"""Two vendors, one governance: where stacks that take the same documents differ under the same attack."""

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any

from comseclab.attack.matrix import UNDECIDED
from comseclab.attack.verdict import Verdict
from comseclab.middleware.dds_stack import DdsStack
from comseclab.middleware.registry import MIDDLEWARES
from comseclab.report.attack import looks
from comseclab.report.attack.looks import HARMFUL
from comseclab.report.attack.run import AttackRun, Configuration

SAME_DOCUMENTS = frozenset(name for name, stack in MIDDLEWARES.items() if isinstance(stack, DdsStack))
"""Governance and permissions of DDS Security are the same files for these."""


def stacks(run: AttackRun) -> list[str]:
    """Those of the run that were given the same documents; none where there is only one."""
    documented = {one.middleware for one in run.configurations if one.protected} & SAME_DOCUMENTS
    found = [name for name in run.middlewares if name in documented]
    return found if len(found) > 1 else []


def differences(run: AttackRun) -> Iterator[dict[str, Any]]:
    """A row for each protection and attack where verdicts that say something differ between such stacks."""
    return _rows(run, _differ)


def half_shown(run: AttackRun) -> Iterator[dict[str, Any]]:
    """A row for each where an attack had an effect on one such stack, and none was shown on another."""
    return _rows(run, lambda found: not _differ(found) and Verdict.NOT_SHOWN in found and not found.isdisjoint(HARMFUL))


def _rows(run: AttackRun, wanted: Callable[[set[Verdict]], bool]) -> Iterator[dict[str, Any]]:
    """Protections and attacks whose verdicts are wanted, a mark a stack."""
    compared = stacks(run)
    protected = (one for one in run.configurations if one.middleware in compared and one.protected)
    chosen = sorted(protected, key=_documents)
    for _, alike in groupby(chosen, _documents):
        configurations = list(alike)
        for attack in run.attacks:
            cells = [cell for one in configurations if (cell := run.cells.get((one, attack.name)))]
            if wanted({cell.verdict for cell in cells}):
                by_stack = {cell.middleware: looks.mark(cell) for cell in cells}
                yield {
                    "label": configurations[0].label,
                    "attack": attack.name,
                    "marks": [by_stack.get(name) for name in compared],
                }


def _documents(one: Configuration) -> tuple[str, ...]:
    return one.protection, one.base, one.reliability, one.codec, one.settings


def _differ(found: set[Verdict]) -> bool:
    """Whether verdicts that say something differ."""
    return len(found - {Verdict.NOT_APPLICABLE, *UNDECIDED}) > 1
