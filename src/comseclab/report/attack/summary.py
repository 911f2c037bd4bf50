"""What the cells amount to: the sentences at the top, STRIDE and SWOT. All follows from the cells."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from comseclab.attack.matrix import CellRow
from comseclab.attack.verdict import Verdict
from comseclab.report.attack import looks
from comseclab.report.attack.claims import Side, Standing, side, standing, standings
from comseclab.report.attack.run import STRIDE, AttackRun, Configuration

SINGLE = ("strength", "weakness", "opportunity", "threat")
NAMED = 6
"""Cells that a sentence names; the rest it counts."""
HELD_UP = ("drop", "delay")
"""Attacks that no protection of messages stops."""


def sentences(run: AttackRun) -> Iterator[dict[str, str]]:
    """What a reader with a minute takes away."""
    yield _said("Σ", "", "Of the cells in which an attack was tried, ", _counts(run), ".")
    refuted = [cell for cell in run.matrix.cells if standing(cell) is Standing.REFUTED]
    shown = sum(standing(cell) is Standing.SHOWN for cell in run.matrix.cells)
    if refuted:
        key = f"{_cells(len(refuted))} refute{'s' if len(refuted) == 1 else ''} a claim"
        attacks = Counter(cell.attack for cell in refuted)
        named = ", ".join(f"{name} in {number}" for name, number in attacks.most_common())
        told = f": {named}. {_show(shown)} that one holds."
        yield _said("✕", "broken", "", key, told)
    elif shown:
        yield _said(
            "✓", "met", "No cell refutes a claim of a protection's documents; ", _show(shown), " that one holds."
        )
    protected = [one for one in run.configurations if one.protected]
    if protected:
        yield from _of_protections(run, protected)
    bare = [one for one in run.configurations if not one.protected and _count(run, one, "against")]
    if bare:
        told = _named([_share(run, one, "against") for one in bare])
        yield _said("·", "", "Without protection, attacks ", "did what they were meant to", f": {told}.")


def _show(cells: int) -> str:
    return f"{_cells(cells)} show{'s' if cells == 1 else ''}"


def _said(mark: str, kind: str, before: str, key: str, after: str) -> dict[str, str]:
    return {"mark": mark, "kind": kind, "before": before, "key": key, "after": after}


def _counts(run: AttackRun) -> str:
    counted = Counter(cell.verdict for cell in run.matrix.cells)
    tried = [verdict for verdict in looks.LOOKS if verdict is not Verdict.NOT_APPLICABLE and counted[verdict]]
    return ", ".join(f"{counted[verdict]} {verdict.value}" for verdict in tried) or "none"


def _of_protections(run: AttackRun, protected: Sequence[Configuration]) -> Iterator[dict[str, str]]:
    """What the protections stop, and what none of them does."""
    most = [
        max((one for one in protected if one.middleware == name), key=lambda one: _count(run, one, "for"))
        for name in dict.fromkeys(one.middleware for one in protected)
    ]
    if shown := [one for one in most if _count(run, one, "for")]:
        told = _named([_share(run, one, "for") for one in shown])
        yield _said("✓", "met", "Most attacks ", "shown stopped", f", by stack: {told}.")
    open_to = [attack.name for attack in run.attacks if _nothing_stops(run, attack.name)]
    if open_to:
        before = "Did what they were meant to, whatever protection they met: "
        yield _said("✕", "broken", before, _named(open_to, 99), ".")


def _nothing_stops(run: AttackRun, attack: str) -> bool:
    """Whether protections met the attack, and it did what it was meant to in each."""
    met = [side(cell) for cell in run.matrix.cells if cell.attack == attack and cell.base != "none"]
    return {told for told in met if told} == {"against"}


def _count(run: AttackRun, one: Configuration, wanted: Side) -> int:
    return sum(side(cell) == wanted for cell in run.row(one))


def _share(run: AttackRun, one: Configuration, wanted: Side) -> str:
    tried = sum(side(cell) is not None for cell in run.row(one))
    return f"{one.name} {_count(run, one, wanted)} of {tried}"


def _named(names: Sequence[str], most: int = NAMED) -> str:
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")


def caveats(run: AttackRun) -> Iterator[dict[str, str]]:
    """What a reader must know before relying on the page, and the remedy."""
    counted = Counter(cell.verdict for cell in run.matrix.cells)
    if invalid := counted[Verdict.INVALID]:
        yield {"text": f"{_cells(invalid)} without a valid trial.", "remedy": "Their evidence names the reasons."}
    if unknown := counted[Verdict.NOT_SHOWN]:
        yield {
            "text": f"{_cells(unknown)} not shown: nothing happened, but the positive control failed, or the attacker "
            "found nothing to act on.",
            "remedy": "Nothing follows from these, and least of all that the configuration is secure.",
        }
    done = {cell.attack for cell in run.matrix.cells if cell.verdict is Verdict.SUCCEEDED}
    if unnoticed := [name for name in HELD_UP if name in done]:
        yield {
            "text": f"{' and '.join(unnoticed)} succeeded, which no protection of messages can stop.",
            "remedy": "Only a deadline or lifespan in the QoS, or the application itself, detects that messages are "
            "missing or late.",
        }
    if races := sum(cell.race for cell in run.matrix.cells):
        yield {"text": f"{_cells(races)} a race: repetitions differ.", "remedy": "More repetitions tell how often."}
    single = [cell for cell in run.matrix.cells if cell.repetitions == 1]
    if single:
        yield {
            "text": f"{_cells(len(single))} tried once only.",
            "remedy": "Repeat (--repetitions 3): races exist.",
        }


def _cells(number: int) -> str:
    return f"{number} cell{'s' if number > 1 else ''}"


def stride(run: AttackRun) -> tuple[list[str], list[dict[str, Any]]]:
    """The categories tried; and per configuration and category each verdict's mark and count, gravest first."""
    category = {attack.name: attack.stride for attack in run.attacks}
    names = [name for name in STRIDE if name in category.values()]
    rows = []
    for one in run.configurations:
        counted = Counter((category[cell.attack], cell.verdict) for cell in run.row(one))
        cells = [
            [
                {"kind": looks.kind(verdict.value), "mark": look.mark, "word": verdict.value, "count": number}
                for verdict, look in looks.LOOKS.items()
                if (number := counted[name, verdict]) and verdict is not Verdict.NOT_APPLICABLE
            ]
            for name in names
        ]
        rows.append({"name": one.name, "cells": cells})
    return names, rows


def swot(run: AttackRun) -> list[dict[str, Any]]:
    """Per configuration: strengths, weaknesses, opportunities and threats, from its cells and its siblings'.

    Strengths: attacks shown stopped. Weaknesses: claims refuted. Of attacks that did what they were meant to, those
    that another protection of the same stack was shown to stop are opportunities, and the others threats.
    """
    return [_swot(run, one) for one in run.configurations]


def _swot(run: AttackRun, one: Configuration) -> dict[str, Any]:
    found = standings(run, one)
    done = [cell for cell in run.row(one) if side(cell) == "against"]
    better = {cell.attack: _stopped_by(run, one, cell) for cell in done}
    quadrants = {
        "strengths": [looks.mark(cell) | {"by": ""} for cell in run.row(one) if side(cell) == "for"],
        "weaknesses": [looks.mark(cell) | {"by": ""} for cell in found[Standing.REFUTED]],
        "opportunities": [
            looks.mark(cell) | {"by": _named(better[cell.attack], 3)} for cell in done if better[cell.attack]
        ],
        "threats": [looks.mark(cell) | {"by": ""} for cell in done if not better[cell.attack]],
    }
    return {"name": one.name, "quadrants": list(quadrants.items()), "single": SINGLE}


def _stopped_by(run: AttackRun, one: Configuration, cell: CellRow) -> list[str]:
    """Protections of the same stack, alike in all else, that were shown to stop the attack."""
    return [
        other.label
        for other in run.configurations
        if other.plain == one.plain and (met := run.cells.get((other, cell.attack))) and met.verdict is Verdict.STOPPED
    ]
