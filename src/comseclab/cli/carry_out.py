"""What the verbs `run` and `demo` share: carrying a plan out, with progress."""

import shlex

import typer
from rich.console import Console

from comseclab import laboratory
from comseclab.analysis.summary import Row
from comseclab.cli.progress import CampaignProgress
from comseclab.errors import LabError


def carry_out(work: laboratory.Work) -> list[Row]:
    """Measure, analyse, write the page, and say where it is. Returns the rows of the summary."""
    measure(work, f"comseclab run {shlex.quote(str(work.run.path))} --resume")
    return report(work)


def measure(work: laboratory.Work, again: str) -> None:
    """Run the campaign, with progress; `again` is the command that continues it when it is cut off."""
    console = Console(stderr=True)
    typer.echo(f"results: {work.run.path}", err=True)

    def preparing(what: str, share: float | None) -> None:
        if console.is_terminal:
            done = "" if share is None else f" {share:.0%}"
            console.print(f"preparing {what}{done}", end="\r", no_wrap=True, overflow="ellipsis", markup=False)

    try:
        with CampaignProgress(console) as progress:
            laboratory.measure(work, progress, preparing)
    except (KeyboardInterrupt, SystemExit):
        typer.echo(f"interrupted; continue with: {again}", err=True)
        raise
    except LabError as error:
        if not (work.run.path / "campaign.json").is_file():
            raise  # nothing was measured: what is in the way may be the plan, which a resumed run would not read again
        raise LabError(error.cause, f"{error.remedy}; then: {again}".lstrip("; ")) from None


def report(work: laboratory.Work) -> list[Row]:
    """Analyse the run, write its page, and say where it is. Returns the rows of the summary."""
    from comseclab.report import build  # the charts' library takes seconds to load

    page = build(work.run.path)
    analysed = laboratory.summary(work.run)
    typer.echo(f"page: {page}", err=True)
    return analysed.cases
