"""The page: matrix, claims, summaries, standards and evidence in one HTML file that needs nothing else."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from comseclab.report import details
from comseclab.report.attack import evidence, looks
from comseclab.report.attack.run import STRIDE, AttackRun
from comseclab.report.frame import documentation, fill


def page(run: AttackRun) -> str:
    """The HTML of the whole page."""
    plan = run.path / "plan.toml"
    return fill(
        "attack.html.j2",
        "comseclab.report.attack",
        title=f"{run.matrix.plan} – comseclab attacks",
        heading=f"{run.matrix.plan}, attacked",
        subtitle=_subtitle(run),
        legend=_legend(run),
        categories=_categories(run),
        attacks=run.attacks,
        matrix=_matrix(run),
        evidence=evidence.groups(run),
        environment=details.machine(run.matrix.environment),
        again=f"comseclab attack runs/{run.path.name}\ncomseclab report runs/{run.path.name}",
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


def _legend(run: AttackRun) -> list[dict[str, Any]]:
    counted = Counter(cell.verdict for cell in run.matrix.cells)
    return [
        {"kind": looks.kind(verdict), "mark": look.mark, "word": verdict.value, "means": look.means,
         "cells": counted[verdict]}
        for verdict, look in looks.LOOKS.items()
    ]  # fmt: skip


def _categories(run: AttackRun) -> list[Mapping[str, Any]]:
    """The matrix's upper heads: STRIDE, and how many attacks stand below each."""
    counted = Counter(attack.stride for attack in run.attacks)
    return [{"name": name, "attacks": counted[name]} for name in STRIDE if counted[name]]


def _matrix(run: AttackRun) -> Sequence[Mapping[str, Any]]:
    first = {attack.name for attack, before in zip(run.attacks, [None, *run.attacks], strict=False)
             if before is None or before.stride != attack.stride}  # fmt: skip
    groups = []
    for middleware in run.middlewares:
        rows = []
        for one in run.configurations:
            if one.middleware == middleware:
                found = [run.cells.get((one, attack.name)) for attack in run.attacks]
                cells = [
                    {"first": attack.name in first, "mark": looks.mark(cell) if cell else None}
                    for attack, cell in zip(run.attacks, found, strict=True)
                ]
                rows.append({"label": one.label, "cells": cells})
        groups.append({"title": middleware, "rows": rows})
    return groups
