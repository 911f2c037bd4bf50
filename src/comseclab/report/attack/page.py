"""The page: matrix, claims, summaries, standards and evidence in one HTML file that needs nothing else."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from comseclab.attack.matrix import CellRow
from comseclab.report import details
from comseclab.report.attack import claims, evidence, looks, standards, summary, vendors
from comseclab.report.attack.claims import Standing
from comseclab.report.attack.run import STRIDE, AttackRun, Configuration
from comseclab.report.figures import Figure
from comseclab.report.frame import documentation, fill, sections


def page(run: AttackRun, cost: Figure | None, measured: str) -> str:
    """The HTML of the whole page.

    `cost` is the chart of costs; `measured` names the run they come from, also where it has none of these protections.
    """
    plan = run.path / "plan.toml"
    folder = details.typed(run.path)
    stride_names, stride = summary.stride(run)
    return fill(
        "attack.html.j2",
        "comseclab.report.attack",
        title=f"{run.matrix.plan} – comseclab attacks",
        heading=f"{run.matrix.plan} under attack",
        subtitle=_subtitle(run),
        verdicts=_verdicts(run),
        sentences=list(summary.sentences(run)),
        warnings=list(summary.caveats(run)),
        categories=_categories(run),
        attacks=run.attacks,
        matrix=_grid(run, looks.mark),
        vendors=vendors.stacks(run),
        differences=list(vendors.differences(run)),
        half_shown=list(vendors.half_shown(run)),
        costs=sections([cost]) if cost else [],
        measured=measured,
        refuted=claims.refuted(run),
        claims=_grid(run, _standing),
        standings=_standings(run),
        sources=list(claims.sources(run)),
        stride_names=stride_names,
        stride=stride,
        swot=summary.swot(run),
        standards=standards.mapped(run),
        evidence=evidence.groups(run),
        environment=details.machine(run.matrix.environment),
        again=f"comseclab attack {folder}\ncomseclab report {folder}",
        plan_text=plan.read_text(errors="replace") if plan.is_file() else "",
        documentation=documentation(run.path, "attacks.md"),
    )


def _subtitle(run: AttackRun) -> str:
    stacks = len(run.middlewares)
    parts = (
        f"{len(run.attacks)} attacks",
        f"{len(run.configurations)} configurations",
        f"{stacks} stack{'s' if stacks > 1 else ''}",
    )
    return " · ".join(parts)


def _verdicts(run: AttackRun) -> list[dict[str, Any]]:
    counted = Counter(cell.verdict for cell in run.matrix.cells)
    return [_entry(verdict.value, look, counted[verdict]) for verdict, look in looks.LOOKS.items()]


def _standings(run: AttackRun) -> list[dict[str, Any]]:
    counted = Counter(claims.standing(cell) for cell in run.matrix.cells)
    return [
        _entry(which.value, look, counted[which])
        for which, look in claims.LOOKS.items()
        if counted[which] or which is not Standing.UNKNOWN
    ]


def _entry(word: str, look: looks.Look, cells: int) -> dict[str, Any]:
    return {"kind": looks.kind(word), "mark": look.mark, "word": word, "means": look.means, "cells": cells}


def _standing(cell: CellRow) -> dict[str, Any]:
    """A cell by how it stands before the documents; by its verdict where the attack makes no sense."""
    which = claims.standing(cell)
    return looks.mark(cell, which.value, claims.LOOKS[which].mark) if which else looks.mark(cell)


def _categories(run: AttackRun) -> list[Mapping[str, Any]]:
    """The grids' upper heads: STRIDE, and how many attacks stand below each."""
    counted = Counter(attack.stride for attack in run.attacks)
    return [{"name": name, "attacks": counted[name]} for name in STRIDE if counted[name]]


def _grid(run: AttackRun, marked: Callable[[CellRow], dict[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """Configurations by stack; a mark an attack, or None."""
    return [
        {
            "title": middleware,
            "rows": [
                {"label": one.label, "marks": list(_marks(run, one, marked))}
                for one in run.configurations
                if one.middleware == middleware
            ],
        }
        for middleware in run.middlewares
    ]


def _marks(
    run: AttackRun, one: Configuration, marked: Callable[[CellRow], dict[str, Any]]
) -> Iterator[dict[str, Any] | None]:
    for attack in run.attacks:
        cell = run.cells.get((one, attack.name))
        yield marked(cell) if cell else None
