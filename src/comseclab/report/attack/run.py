"""What the page of an attack run is made from: `attack.json` as configurations and attacks, and the trials' folders."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

from comseclab.attack.cells import USUAL
from comseclab.attack.matrix import CellRow, Described, Matrix
from comseclab.errors import LabError

STRIDE = (
    "Spoofing",
    "Tampering",
    "Repudiation",
    "Information disclosure",
    "Denial of service",
    "Elevation of privilege",
)
"""The categories of Shostack, Threat Modeling (2014), in the order of the word."""


@dataclass(frozen=True)
class Configuration:
    """What was attacked: a column's worth of factors."""

    middleware: str
    protection: str
    base: str
    reliability: str
    codec: str
    settings: str

    @classmethod
    def of(cls, cell: CellRow) -> "Configuration":
        return cls(cell.middleware, cell.protection, cell.base, cell.reliability, cell.codec, cell.settings)

    @property
    def protected(self) -> bool:
        return self.base != "none"

    @property
    def label(self) -> str:
        """Beside its stack's name: the protection, and what else is unusual."""
        unusual = [level for name, usual in USUAL.items() if (level := getattr(self, name)) != usual]
        return f"{self.protection} ({', '.join(unusual)})" if unusual else self.protection

    @property
    def name(self) -> str:
        return f"{self.middleware} {self.label}"

    @property
    def plain(self) -> tuple[str, str, str, str]:
        """Alike in configurations that differ in protection only."""
        return self.middleware, self.reliability, self.codec, self.settings


@dataclass(frozen=True)
class AttackRun:
    """A run folder of `comseclab attack`, read."""

    path: Path
    matrix: Matrix

    @cached_property
    def cells(self) -> Mapping[tuple[Configuration, str], CellRow]:
        return {(Configuration.of(cell), cell.attack): cell for cell in self.matrix.cells}

    @cached_property
    def configurations(self) -> Sequence[Configuration]:
        """By stack, those without protection first, else in the plan's order."""
        found = list(dict.fromkeys(Configuration.of(cell) for cell in self.matrix.cells))
        return sorted(found, key=lambda one: (one.middleware, one.protected))

    @cached_property
    def attacks(self) -> Sequence[Described]:
        """By STRIDE, else in the document's order."""
        return sorted(self.matrix.attacks, key=lambda one: STRIDE.index(one.stride))

    def row(self, configuration: Configuration) -> list[CellRow]:
        """The cells of a configuration, in the order of `attacks`."""
        found = (self.cells.get((configuration, attack.name)) for attack in self.attacks)
        return [cell for cell in found if cell]

    def control(self, cell: CellRow) -> CellRow | None:
        """The cell that shows the same attack on the same stack without protection."""
        own = Configuration.of(cell)
        plain = (one for one in self.configurations if one.plain == own.plain and one.protection == "none")
        return next((found for one in plain if (found := self.cells.get((one, cell.attack)))), None)

    @property
    def middlewares(self) -> list[str]:
        return list(dict.fromkeys(one.middleware for one in self.configurations))


def read(path: Path) -> AttackRun:
    """The run in a folder. Raises LabError when it is none, is damaged, or contradicts itself."""
    run = AttackRun(path.resolve(), Matrix.read(path))
    known = {attack.name for attack in run.matrix.attacks}
    for attack in run.matrix.attacks:
        if attack.stride not in STRIDE:
            raise _damaged(path, f"attack {attack.name} has no STRIDE category: {attack.stride}")
    for cell in run.matrix.cells:
        if cell.attack not in known:
            raise _damaged(path, f"the cell {cell.title} names an attack that is not described")
        if cell.succeeded > cell.repetitions:
            raise _damaged(path, f"the cell {cell.title} succeeded {cell.succeeded} of {cell.repetitions} times")
        for folder in cell.evidence:
            if PurePosixPath(folder).is_absolute() or ".." in PurePosixPath(folder).parts:
                raise _damaged(path, f"the cell {cell.title} has evidence outside the run: {folder}")
    if not run.matrix.cells:
        raise _damaged(path, "it has no cells")
    if len(run.cells) != len(run.matrix.cells):
        raise _damaged(path, "two cells are alike")
    return run


def _damaged(path: Path, why: str) -> LabError:
    return LabError(f"{path / 'attack.json'} is damaged: {why}", f"`comseclab attack {path} --resume` writes it anew")


def anchor(cell: CellRow) -> str:
    """The place of a cell's evidence on the page."""
    parts = (cell.middleware, cell.protection, cell.reliability, cell.codec, cell.settings, cell.attack)
    return re.sub(r"[^A-Za-z0-9._-]", "-", "_".join(parts))
