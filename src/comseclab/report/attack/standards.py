"""Which cells are evidence for or against what standards ask for. The rows are data: standards.toml."""

import tomllib
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources
from typing import Any, Literal, get_args

from comseclab.attack.matrix import CellRow
from comseclab.attack.verdict import Verdict
from comseclab.report.attack.claims import Part, Side, Standing, of_harm, side, standing
from comseclab.report.attack.looks import HARMFUL, mark
from comseclab.report.attack.run import AttackRun

SIDES: tuple[Side, ...] = get_args(Side)


class Row(Part):
    id: str
    asks: str
    attacks: list[str]
    of: Literal["all", "default"] = "all"
    by: Literal["stopped", "detection", "claims"] = "stopped"
    note: str = ""

    def concerns(self, cell: CellRow) -> bool:
        chosen = self.of == "all" or cell.base == "none"
        return chosen and any(fnmatchcase(cell.attack, pattern) for pattern in self.attacks)

    def side(self, cell: CellRow) -> Side | None:
        """On which side a cell stands; None where it tells nothing about the row."""
        if self.by == "claims":
            return _BY_CLAIM.get(standing(cell) or Standing.UNKNOWN)
        if self.by == "detection":
            if cell.verdict not in HARMFUL or not of_harm(cell.attack):
                return None
            return "for" if cell.verdict is Verdict.DETECTED else "against"
        return side(cell)


_BY_CLAIM: dict[Standing, Side] = {Standing.REFUTED: "against", Standing.OPEN: "open"}
"""A claim that is kept speaks for nothing: it does not show that there is no vulnerability."""


class Standard(Part):
    id: str
    title: str
    note: str
    rows: list[Row]


class Standards(Part):
    """All of standards.toml."""

    standard: list[Standard]


@cache
def standards() -> list[Standard]:
    """The standards as they ship."""
    text = (resources.files(__package__) / "standards.toml").read_text()
    return Standards.model_validate(tomllib.loads(text)).standard


def mapped(run: AttackRun) -> list[dict[str, Any]]:
    """Each standard with its rows, and the cells on either side of each row by configuration."""
    return [
        {"title": one.title, "id": one.id, "note": one.note, "rows": [_row(run, row) for row in one.rows]}
        for one in standards()
    ]


def _row(run: AttackRun, row: Row) -> dict[str, Any]:
    lines, counted = [], dict.fromkeys(SIDES, 0)
    for configuration in run.configurations:
        sides: dict[Side, list[dict[str, Any]]] = {side: [] for side in SIDES}
        for cell in run.row(configuration):
            if row.concerns(cell) and (side := row.side(cell)):
                sides[side].append(mark(cell))
                counted[side] += configuration.protected or row.of == "default"
        if any(sides.values()):
            lines.append({"name": configuration.name, "sides": sides})
    return {
        "id": row.id,
        "asks": row.asks,
        "note": row.note,
        "counts": counted,
        "lines": lines,
        "attacks": [attack.name for attack in run.attacks if any(fnmatchcase(attack.name, p) for p in row.attacks)],
        "every": row.attacks == ["*"],
    }
