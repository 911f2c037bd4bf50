"""How verdicts look: a mark, a word and a pattern each, so that no colour is needed to tell them apart."""

from dataclasses import dataclass
from typing import Any

from comseclab.attack.matrix import CellRow
from comseclab.attack.verdict import Verdict
from comseclab.report.attack.run import anchor


@dataclass(frozen=True)
class Look:
    """What a verdict shows beside the pattern that attack.css draws for its kind."""

    mark: str
    means: str


LOOKS = {
    Verdict.SUCCEEDED: Look("✕", "the attack did what it was meant to, in at least one repetition"),
    Verdict.DETECTED: Look("!", "harm was done, or the genuine stream was lost, and the stack told an application"),
    Verdict.DISRUPTED: Look("~", "nothing false was accepted, but the genuine stream was lost, or a victim crashed"),
    Verdict.STOPPED: Look("✓", "nothing happened, although the attacker acted, and every positive control worked"),
    Verdict.NOT_SHOWN: Look(
        "?",
        "nothing happened, but the positive control failed, or the attacker found nothing to act on: this says nothing",
    ),
    Verdict.INVALID: Look("∅", "the genuine stream failed before the attack began, or the laboratory did"),
    Verdict.NOT_APPLICABLE: Look("–", "the attack makes no sense here; the cell says why"),
}
HARMFUL = (Verdict.SUCCEEDED, Verdict.DETECTED, Verdict.DISRUPTED)


def kind(word: str) -> str:
    """The class of a verdict or of another word with a look."""
    return word.replace(" ", "-").replace(",", "")


def mark(cell: CellRow, word: str | None = None, sign: str | None = None) -> dict[str, Any]:
    """A cell as a link to its evidence shows it: its verdict, or another word with a sign of its own."""
    told = f"{cell.title}: {word + '; ' if word else ''}{cell.verdict.value}"
    if cell.repetitions:
        told += f", {cell.succeeded} of {cell.repetitions}"
    return {
        "attack": cell.attack,
        "word": word or cell.verdict.value,
        "kind": kind(word or cell.verdict.value),
        "mark": sign or LOOKS[cell.verdict].mark,
        "count": f"{cell.succeeded}/{cell.repetitions}" if cell.race and not word else "",
        "told": told + (", a race" if cell.race else ""),
        "href": f"#{anchor(cell)}",
    }
