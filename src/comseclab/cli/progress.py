"""Progress of a campaign: a bar with the time left on a terminal, a line a trial elsewhere."""

import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from comseclab.results.record import TrialRecord

if TYPE_CHECKING:
    from comseclab.attack.campaign import Job
    from comseclab.attack.spec import AttackRecord


class _Bar:
    """A context manager: the bar lives within it."""

    def __init__(self, console: Console) -> None:
        self._console = console
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._bar = Progress(*columns, TextColumn("{task.fields[left]}"), console=console)
        self._task = self._bar.add_task("starting", total=None, left="")
        self._done = 0

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def _say(self, line: str) -> None:
        self._bar.console.print(line, soft_wrap=True, highlight=False, markup=False)


class CampaignProgress(_Bar):
    """Watches a campaign (see `campaign.run.Watcher`)."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._seconds = 0.0

    def began(self, case: str, pair: int, number: int) -> None:
        """A trial begins."""
        self._bar.update(self._task, description=f"trial {number}: {case}, pair {pair + 1}")

    def ended(self, record: TrialRecord, seconds: float, remaining_trials: int) -> None:
        """A trial was closed; `remaining_trials` counted it still."""
        self._done += 1
        self._seconds += seconds
        remaining = max(0, remaining_trials - 1)
        left = f"about {duration(remaining * self._seconds / self._done)} left"
        self._bar.update(self._task, completed=self._done, total=self._done + remaining, left=left)
        if record.status == "invalid":
            self._say(f"trial {record.number} ({record.case}) is invalid: {'; '.join(record.reasons)}")
        elif not self._console.is_terminal:
            outcome = f" ({'; '.join(record.outcomes)})" if record.outcomes else ""
            at = time.strftime("%H:%M:%S")
            self._say(f"{at} trial {record.number}: {record.case}, pair {record.pair + 1}{outcome}; {left}")


class AttackProgress(_Bar):
    """Watches trials under attack, of which several run side by side (see `attack.campaign.Watcher`)."""

    def __init__(self, console: Console, total: int) -> None:
        super().__init__(console)
        self._begun = time.monotonic()
        self._total = total
        self._bar.update(self._task, description="attacking", total=total)

    def ended(self, job: "Job", record: "AttackRecord", remaining: int) -> None:
        """A trial was closed."""
        self._done += 1
        spent = time.monotonic() - self._begun
        left = f"about {duration(remaining * spent / self._done)} left"
        what = f"{job.cell.title}, {'control ' if job.arm == 'control' else ''}{job.number}"
        self._bar.update(self._task, completed=self._total - remaining, description=what, left=left)
        if not record.valid:
            self._say(f"{what} is invalid: {'; '.join(record.reasons)}")
        elif not self._console.is_terminal:
            done = f"{self._total - remaining} of {self._total}"
            self._say(f"{time.strftime('%H:%M:%S')} {done}: {what}; {left}")


def duration(seconds: float) -> str:
    """Seconds as a person says them: `40 s`, `5 min`, `2 h 10 min`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
