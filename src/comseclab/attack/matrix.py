"""`attack.json`: the verdicts of a run, cell by cell, as other programs read them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from comseclab.attack.base import Control
from comseclab.attack.verdict import Verdict
from comseclab.errors import LabError
from comseclab.results.record import Record

NAME = "attack.json"
UNDECIDED = (Verdict.NOT_SHOWN, Verdict.INVALID)


class Described(Record):
    """An attack, in words."""

    name: str
    title: str = Field(description="what the attacker does")
    success: str = Field(description="what counts as success")
    stride: str
    controls: list[Control] = Field(description="what must succeed in the same run before the attack is called stopped")


class CellRow(Record):
    """A configuration under an attack."""

    title: str = Field(description="the cell as a person says it: attack, middleware, protection")
    middleware: str
    protection: str = Field(description="the level's name in the plan")
    base: str = Field(description="the built-in protection it rests on")
    reliability: str
    codec: str
    settings: str
    attack: str
    verdict: Verdict
    text: str = Field(description="what happened, or why the attack makes no sense here")
    succeeded: int = Field(description="repetitions in which the attack succeeded")
    repetitions: int = Field(description="valid ones")
    control_succeeded: int = Field(description="successes of the control that succeeded least")
    race: bool = Field(description="whether repetitions differ")
    harm: dict[str, float] = Field(description="of attacks whose success is harm: how much")
    evidence: list[str] = Field(description="folders of its trials, relative to the run folder")
    again: str = Field(description="the command that repeats just this cell and its control; none where none was tried")


class Matrix(Record):
    """A whole `attack.json`."""

    version: Literal[1] = 1
    plan: str
    environment: dict[str, Any]
    attacks: list[Described]
    cells: list[CellRow]

    @classmethod
    def read(cls, folder: Path) -> "Matrix":
        """Of a run folder. Raises LabError when there is none, or it is damaged."""
        try:
            return cls.model_validate_json((folder / NAME).read_text())
        except OSError as error:
            cause = f"{folder / NAME} cannot be read: {error.strerror}"
        except ValueError as error:
            first = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
            cause = f"{folder / NAME} is damaged: {first}"
        raise LabError(cause, f"`comseclab attack {folder} --resume` writes it anew")


def schema() -> dict[str, Any]:
    """The JSON schema of `attack.json`."""
    return Matrix.model_json_schema()


def broken(cells: Sequence[CellRow], required: Sequence[str]) -> list[str]:
    """A line for each protected configuration that did not stop an attack it must stop."""
    holds = (Verdict.STOPPED, Verdict.NOT_APPLICABLE, *UNDECIDED)
    return [
        f"required, but not stopped: {cell.title}: {cell.verdict.value}, {cell.text}"
        for cell in cells
        if cell.attack in required and cell.base != "none" and cell.verdict not in holds
    ]


def exit_code(cells: Sequence[CellRow], required: Sequence[str]) -> int:
    """0 fine; 1 a required verdict does not hold; 3 cells are invalid, or not shown though one must know.

    Where the plan requires attacks to be stopped, of these alone one must know.
    """
    if broken(cells, required):
        return 1
    unknown = [cell for cell in cells if not required or (cell.attack in required and cell.base != "none")]
    invalid = any(cell.verdict is Verdict.INVALID for cell in cells)
    return 3 if invalid or any(cell.verdict is Verdict.NOT_SHOWN for cell in unknown) else 0
