"""All trials of a matrix, several side by side, in testbeds of their own; then the verdicts."""

import os
import random
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from comseclab.attack.cells import Cell
from comseclab.attack.dialect import dialect_of
from comseclab.attack.launch import compress_capture, run_attacked
from comseclab.attack.spec import Arm, AttackRecord, AttackSpec
from comseclab.attack.verdict import Judged, judge
from comseclab.errors import LabError
from comseclab.plan import Trials
from comseclab.results.store import RunFolder
from comseclab.signals import terminate_as_exception

SIDE_BY_SIDE = min(4 * (os.cpu_count() or 1), 16)
"""A trial under attack mostly waits: it takes 8 s, 1.5 s of a CPU, and a third of a gigabyte."""
BEFORE_S, ROUND_S = 0.8, 2.8
"""The genuine stream is alone, then under attack for as long as that lasts, and alone again for what is left."""
MOST_REPEATS = 2
"""Of a trial that is invalid."""

Watcher = Callable[["Job", AttackRecord, int], None]
"""Told of each trial that is closed, and how many are left; one at a time."""


@dataclass(frozen=True)
class Job:
    """One trial to be run."""

    cell: Cell
    arm: Arm
    number: int

    @property
    def id(self) -> str:
        return f"{self.cell.id}_{self.arm}-{self.number}"


def jobs(cells: Sequence[Cell], repetitions: int) -> list[Job]:
    """Every trial of every cell."""
    return [
        Job(cell, arm, number)
        for cell in cells
        if cell.refusal is None
        for number in range(1, repetitions + 1)
        for arm in cell.arms
    ]


class AttackCampaign:
    """Runs jobs; what the run folder holds already is not run again."""

    def __init__(self, trials: Trials, run: RunFolder, watcher: Watcher) -> None:
        self._trials, self._run, self._watcher = trials, run, watcher
        self._cancel = threading.Event()
        self._telling = threading.Lock()
        self._left = 0
        self.records: dict[str, AttackRecord] = {}

    def go(self, wanted: Sequence[Job]) -> None:
        """Run all. On any exception, SIGTERM included, the trials that run are ended first."""
        self._left = len(wanted)
        # The longest first, or they would keep everyone waiting at the end.
        queue = sorted(wanted, key=_has_rogues, reverse=True)
        with terminate_as_exception(), ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
            try:
                futures: list[Future[None]] = [pool.submit(self._run_job, job) for job in queue]
                left: set[Future[None]] = set(futures)
                while left:
                    # Python hears of a signal that another thread took only when its main thread wakes.
                    done, left = wait(left, timeout=0.2, return_when=FIRST_EXCEPTION)
                    for future in done:
                        future.result()
            except BaseException:
                self._cancel.set()
                pool.shutdown(wait=True, cancel_futures=True)
                raise

    def _run_job(self, job: Job) -> None:
        """Run a trial until it is valid, or has been repeated often enough; go on where the run folder stands."""
        record = None
        for attempt in range(1 + MOST_REPEATS):
            record = self._closed(job, attempt)
            if record is None:
                if self._cancel.is_set():
                    return
                record = run_attacked(self._spec(job, attempt), self._folder(job, attempt), self._cancel)
            if record.valid:
                break
        assert record is not None
        with self._telling:
            self.records[job.id] = record
            self._left -= 1
            self._watcher(job, record, self._left)

    def _folder(self, job: Job, attempt: int) -> Path:
        again = f"-again-{attempt}" if attempt else ""
        return self._run.path / "trials" / f"{job.id}{again}"

    def folder(self, job: Job) -> Path:
        """The folder of the trial that counts."""
        tried = [self._folder(job, attempt) for attempt in range(1 + MOST_REPEATS)]
        return [folder for folder in tried if (folder / "record.json").is_file()][-1]

    def _closed(self, job: Job, attempt: int) -> AttackRecord | None:
        path = self._folder(job, attempt) / "record.json"
        if not path.is_file():
            return None
        compress_capture(path.parent)
        try:
            return AttackRecord.model_validate_json(path.read_text())
        except (OSError, ValidationError) as error:
            raise LabError(f"{path} is damaged: {error}", "remove that trial's folder and resume the run") from None

    def _spec(self, job: Job, attempt: int) -> AttackSpec:
        dice = random.Random(f"{self._trials.plan.plan.seed} {job.id} {attempt}")
        seed, nonce, forged = dice.getrandbits(48), f"{dice.getrandbits(64):016x}", f"{dice.getrandbits(64):016x}"
        trial = self._trials.spec(job.cell.case, number=job.number, pair=0, seed=seed, nonce=nonce)
        changes = {
            "hosts": [*trial.hosts, "attacker", "bystander"],
            "backend": "switch",
            "capture": "full",
            "rounds": 1,
        }
        return AttackSpec(
            trial=trial.model_copy(update=changes), attack=job.cell.attack.name, arm=job.arm,
            forged_nonce=forged, begin_s=BEFORE_S, end_s=BEFORE_S + job.cell.attack.lasts_s,
        )  # fmt: skip

    def judged(self, cells: Sequence[Cell], wanted: Sequence[Job]) -> dict[str, Judged]:
        """The verdicts of all cells that were run."""
        of_cell: dict[tuple[str, Arm], list[AttackRecord]] = {}
        for job in wanted:
            of_cell.setdefault((job.cell.id, job.arm), []).append(self.records[job.id])
        plain = {(cell.control, cell.attack.name): cell.id for cell in cells if cell.case.factors.protection == "none"}
        found = {}
        for cell in cells:
            if cell.refusal is None:
                outside = of_cell.get((plain.get((cell.control, cell.attack.name), ""), "attack"), [])
                by_kind = {"plain": outside, "permitted": of_cell.get((cell.id, "control"), [])}
                kinds = cell.attack.controls if cell.protected else ("plain",)
                found[cell.id] = judge(cell.attack, of_cell[cell.id, "attack"], [by_kind[kind] for kind in kinds])
        return found


def _has_rogues(job: Job) -> bool:
    """Whether nodes of the attacker's take part: those that are refused are waited for in vain."""
    dialect = dialect_of(job.cell.case.factors.middleware)
    return bool(job.cell.attack.rogues(dialect, control=job.arm == "control"))
