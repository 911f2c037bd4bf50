"""The page of a reproduction."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from comseclab.literature import costs, differences, tables
from comseclab.literature.cells import Cells
from comseclab.literature.checks import Check, Verdict
from comseclab.literature.differences import Deviation, Reason
from comseclab.literature.study import Conclusion
from comseclab.report import units
from comseclab.report.details import typed
from comseclab.report.figures import Figure
from comseclab.report.frame import render, sections
from comseclab.report.run import RunData

MARKS = {"confirmed": "✓", "refuted": "✕", "changed": "◐", "not resolved": "?"}
HOLDS = {True: "✓", False: "✕", None: "?"}


@dataclass(frozen=True)
class Judged:
    """A conclusion, what the published figures say of it by its criterion, and what ours say."""

    conclusion: Conclusion
    published: Verdict
    ours: Verdict


@dataclass(frozen=True)
class Findings:
    """All that a reproduction tells."""

    cells: Cells
    judged: Sequence[Judged]
    deviations: Sequence[Deviation]

    @property
    def open_checks(self) -> list[Check]:
        """The comparisons that this run measured and could not resolve, each once."""
        found = {
            (check.cells, check.asks): check
            for one in self.judged
            for check in one.ours.checks
            if check.holds is None and all(self.cells.measured(key) for key in check.cells)
        }
        return list(found.values())

    @property
    def compared(self) -> int:
        """How many of the study's cells this run measured."""
        return sum(self.cells.measured(key) is not None for key in self.cells.study.published)


def page(found: Findings, data: RunData, shown: Sequence[tables.Table], figures: Sequence[Figure]) -> str:
    """The HTML of the whole reproduction."""
    study = found.cells.study
    reasons = differences.reasons(found.cells, found.deviations)
    return render(
        "reproduction.html.j2",
        data,
        "comseclab.literature",
        title=f"{study.id} – comseclab reproduction",
        heading=f"{study.source.title}, repeated",
        subtitle=_subtitle(data),
        source=study.source,
        sentences=list(sentences(found, data)),
        unsettled=_unsettled(found.cells),
        conclusions=[_conclusion(found.cells, one) for one in found.judged],
        tables=shown,
        differing=[_reason(found.cells, reason) for reason in reasons],
        then_and_now=list(differences.then_and_now(found.cells, data)),
        apart=(f"{100 * differences.LOSS_APART:g}", f"{differences.TIMES_APART:g}"),
        unresolved=[_check(found.cells, check) for check in found.open_checks],
        costs_unresolved=costs.unresolved(found.cells),
        sections=sections(figures),
        commands=_commands(found.cells, data),
    )


def _subtitle(data: RunData) -> str:
    began = min((record.started_at for record in data.records), default="")[:16].replace("T", " ")
    return f"measured {began} UTC" if began else ""


def sentences(found: Findings, data: RunData) -> Iterator[dict[str, str]]:
    """What a reader with a minute takes away."""
    counted: Counter[str] = Counter(one.ours.said for one in found.judged)
    told = ", ".join(f"{counted[said]} {said}" for said in MARKS if counted[said])
    yield {"mark": "Σ", "kind": "", "key": told, "before": f"Of its {len(found.judged)} conclusions: ", "after": "."}
    apart = Counter(one.quantity for one in found.deviations)
    agree = len(differences.agreeing(found.cells))
    others = [f"{number} differ in {quantity}" for quantity, number in sorted(apart.items())]
    if between := found.compared - agree - len(found.deviations):
        others.append(f"{between} {'are' if between > 1 else 'is'} not resolved")
    rest = ", ".join(others)
    yield {
        "mark": "≈", "kind": "", "before": f"Of {found.compared} cells measured, ",
        "key": f"{agree} agree", "after": f" with the published figures{'; ' if rest else ''}{rest}.",
    }  # fmt: skip
    cells = found.cells
    times = [ratio for key in cells.study.published if (ratio := differences.times_published(cells, key))]
    if times:
        ends = f"from {units.digits(min(times), 2)}× to {units.digits(max(times), 2)}×"
        yield {"mark": "·", "kind": "", "before": "Where messages arrived both then and now, our mean latency is ",
               "key": f"{units.digits(median(times), 2)}×", "after": " the published one in the middle of "
               f"{len(times)} cells, {ends}."}  # fmt: skip
    if found.open_checks:
        yield {"mark": "?", "kind": "not-resolved", "before": "This run left ", "key":
               f"{len(found.open_checks)} comparisons", "after": f" unresolved: {_effort(data)}."}  # fmt: skip


def _unsettled(cells: Cells) -> str:
    number = len(cells.unsettled)
    if not number:
        return ""
    return (
        f"{number} cells are overloaded, and rounds of {cells.round_s:g} s do not show how they stay: of them only "
        "what the link has no rate for counts as lost, and all else is not resolved."
    )


def _effort(data: RunData) -> str:
    trials = [row.trials for row in data.summary.cases if row.trials]
    lengths = {spec.round_s for spec in data.specs}
    each = f" of {min(lengths):g} s" if lengths else ""
    number = median(trials)
    return f"it rests on {number:g} trial{'s' if number != 1 else ''}{each} a cell"


def _conclusion(cells: Cells, one: Judged) -> dict[str, Any]:
    ours = one.ours
    return {
        "id": one.conclusion.id,
        "kind": ours.said.replace(" ", "-"),
        "mark": MARKS[ours.said],
        "said": ours.said,
        "says": one.conclusion.says,
        "section": one.conclusion.section,
        "criterion": one.conclusion.criterion,
        "ours": counts(ours, cells),
        "published": counts(one.published),
        "published_said": one.published.said,
        "checks": [_check(cells, check) for check in sorted(ours.checks, key=_weight)],
    }


def counts(verdict: Verdict, cells: Cells | None = None) -> str:
    """`15 of 18 hold, 2 fail, 1 not resolved`; with `cells`, what was not measured is told apart."""
    pending = [check for check in verdict.checks if check.holds is None]
    asked = [check for check in pending if cells is None or all(cells.measured(key) for key in check.cells)]
    parts = {"fail": verdict.fail, "not resolved": len(asked), "not measured": len(pending) - len(asked)}
    told = [f"{verdict.hold} of {len(verdict.checks)} hold"]
    return ", ".join(told + [f"{number} {word}" for word, number in parts.items() if number])


def _weight(check: Check) -> int:
    """Those that fail first, then those that are open."""
    return (False, None, True).index(check.holds)


def _check(cells: Cells, check: Check) -> dict[str, str]:
    return {"mark": HOLDS[check.holds], "name": name(cells, check), "asks": check.asks, "figures": check.figures}


def name(cells: Cells, check: Check) -> str:
    """What a check is about, each part of its cells named once: `Laser scan, Local, BE crypto / BE`."""
    study = cells.study
    known: tuple[dict[str, str], ...] = (
        {one.id: one.short for one in (*study.configurations, *study.today)},
        {one.id: one.name for one in (*study.networks, *study.mtu_1500)},
        {one.id: one.name for one in study.sensors},
    )
    parts = [dict.fromkeys(known[place][key[place]] for key in reversed(check.cells)) for place in (2, 1, 0)]
    return ", ".join(" / ".join(part) for part in parts)


def _reason(cells: Cells, reason: Reason) -> dict[str, Any]:
    listed = [{"name": cells.name(one.key), "quantity": one.quantity, "figures": one.figures}
              for one in reason.deviations]  # fmt: skip
    return {"text": reason.text, "cells": listed}


def _commands(cells: Cells, data: RunData) -> str:
    """Measure once more; the same cells again; this page again."""
    study, run = cells.study, typed(data.path)
    quick = " --quick" if data.summary.plan.endswith("-quick") else ""
    today = " --today" if len(cells.configurations) > len(study.configurations) else ""
    frames = " --mtu-1500" if len(cells.networks) > len(study.networks) else ""
    again = f"comseclab reproduce {study.id}"
    return f"{again}{quick}{today}{frames}\ncomseclab run {run}\n{again} --from {run}"
