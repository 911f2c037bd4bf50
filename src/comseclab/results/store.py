"""The run folder: where a campaign keeps what it learns. Layout: docs/formats.md."""

import fcntl
import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from comseclab.errors import LabError
from comseclab.results.record import TrialRecord

ATTACK_PLAN = "attack-plan.json"
"""Of a run folder that holds attacks: the plan as understood, with the configurations chosen."""


def write_atomically(path: Path, text: str) -> None:
    """Write `text` under a temporary name, then rename: readers see the old file or the whole new one."""
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_text(text)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


class RunFolder:
    """One campaign's folder, `<out>/<time>-<plan>/`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(cls, out: Path, plan_name: str) -> "RunFolder":
        """Make a fresh folder and point `<out>/latest` to it. Raises LabError when `out` cannot be written."""
        name = f"{datetime.now():%Y%m%dT%H%M%S}-{_as_name(plan_name)}"
        run = cls(out / name)
        try:
            (run.path / "trials").mkdir(parents=True, exist_ok=False)
            link = out / f".latest-{os.getpid()}"
            link.symlink_to(name)
            os.replace(link, out / "latest")
        except OSError as error:
            raise LabError(
                f"cannot make a run folder in {out}: {error.strerror}", "choose another with --out"
            ) from None
        return run

    @staticmethod
    def all_of(out: Path, plan_name: str) -> list[Path]:
        """The run folders of a plan, oldest first."""
        named = re.compile(rf"\d{{8}}T\d{{6}}-{re.escape(_as_name(plan_name))}")
        return sorted(path for path in out.glob("*") if named.fullmatch(path.name))

    @classmethod
    def open(cls, path: Path) -> "RunFolder":
        """An existing run folder of measurements. Raises LabError when it is none."""
        run = cls(path.resolve())
        if not (run.path / "campaign.json").is_file():
            raise not_measured(path)
        return run

    @contextmanager
    def claimed(self) -> Iterator[None]:
        """Have the folder to oneself for the block, as whoever runs trials in it must: to go on removes unclosed ones.

        Raises LabError when another laboratory has it. The claim ends with the process, however that ends; a trial's
        process does not inherit it.
        """
        descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                cause = f"{self.path} is being worked on by another laboratory"
                raise LabError(cause, "wait for it, or end it") from None
            yield
        finally:
            os.close(descriptor)

    @property
    def spools(self) -> Path:
        """Messages prepared for sending; removed when the campaign ends."""
        return self.path / "spools"

    def trial(self, number: int, case: str) -> Path:
        """The folder of one trial."""
        return self.path / "trials" / f"{number:04d}-{case}"

    def write_json(self, name: str, value: Any) -> None:
        """Write one of the run's own JSON files."""
        write_atomically(self.path / name, json.dumps(value, indent=1, sort_keys=False) + "\n")

    def read_json(self, name: str) -> Any:
        """Read one of the run's own JSON files. Raises LabError when it is damaged."""
        try:
            return json.loads((self.path / name).read_text())
        except (OSError, ValueError) as error:
            raise LabError(f"{self.path / name} cannot be read: {error}", "the run must be made again") from None

    def records(self) -> list[TrialRecord]:
        """All closed trials, in order of their numbers. Raises LabError when one is damaged."""
        found = []
        for path in sorted((self.path / "trials").glob("*/record.json")):
            try:
                found.append(TrialRecord.model_validate_json(path.read_text()))
            except (OSError, ValidationError) as error:
                raise LabError(f"{path} is damaged: {error}", "remove that trial's folder and resume the run") from None
        return sorted(found, key=lambda record: record.number)

    def discard_unclosed(self) -> None:
        """Remove trials that were cut off before their record was written."""
        for folder in (self.path / "trials").iterdir():
            if not (folder / "record.json").is_file():
                shutil.rmtree(folder)


def not_measured(path: Path) -> LabError:
    """What to tell a user whose folder holds no measurements."""
    if (path / ATTACK_PLAN).is_file():
        return LabError(f"{path} holds attacks, not measurements", "`comseclab attack` takes it")
    return LabError(f"{path} is not a run folder", "give one that `comseclab run` made")


def _as_name(plan_name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", plan_name)
