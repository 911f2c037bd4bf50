"""What the verbs `run` and `demo` share: showing the cases of a plan, and carrying it out with progress."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from comseclab import laboratory
from comseclab.analysis.summary import Row
from comseclab.cli.progress import CampaignProgress, duration
from comseclab.errors import LabError
from comseclab.plan import Case, Plan, expected_seconds
from comseclab.report import build
from comseclab.trial.spec import Factors


def show_cases(plan: Plan, cases: Sequence[Case]) -> None:
    """Print the cases and how long they take."""
    levels = [case.factors.model_dump() for case in cases]
    varied = [factor for factor in Factors.model_fields if len({level[factor] for level in levels}) > 1]
    table = Table("case", *varied, title=plan.plan.description or plan.plan.name)
    for number, level in enumerate(levels, 1):
        table.add_row(str(number), *(level[factor] for factor in varied))
    same = ", ".join(f"{factor} {level}" for factor, level in levels[0].items() if factor not in varied)
    pairs = _range(str(plan.stop.min_pairs), str(plan.stop.max_pairs))
    least, most = expected_seconds(plan, cases)
    console = Console()
    console.print(table)
    console.print(f"everywhere: {same}")
    console.print(f"{len(cases)} cases, {pairs} pairs each: about {_range(duration(least), duration(most))}")


def _range(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"


def carry_out(work: laboratory.Work) -> list[Row]:
    """Measure, analyse, write the page, and say where it is. Returns the rows of the summary."""
    console = Console(stderr=True)
    console.print(f"results: {work.run.path}")

    def preparing(what: str, share: float | None) -> None:
        if console.is_terminal:
            done = "" if share is None else f" {share:.0%}"
            console.print(f"preparing {what}{done}", end="\r")

    try:
        with CampaignProgress(console) as progress:
            laboratory.measure(work, progress, preparing)
    except KeyboardInterrupt:
        console.print(f"interrupted; continue with: comseclab run {work.run.path} --resume")
        raise
    except LabError as error:
        raise LabError(
            error.cause, f"{error.remedy}; then: comseclab run {work.run.path} --resume".lstrip("; ")
        ) from None
    page = build(work.run.path)
    analysed = laboratory.summary(work.run)
    console.print(f"page: {page}")
    return analysed.cases
