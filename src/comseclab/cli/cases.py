"""Showing what a plan would do: `run --dry-run`."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from comseclab.cli.progress import duration
from comseclab.plan import Case, Plan, expected_seconds
from comseclab.trial.spec import Factors


def show_cases(plan: Plan, cases: Sequence[Case]) -> None:
    """Print the cases and how long they take."""
    levels = [case.factors.model_dump() for case in cases]
    varied = [factor for factor in Factors.model_fields if len({level[factor] for level in levels}) > 1]
    table = Table("case", *varied, title=Text(plan.plan.description or plan.plan.name, "table.title"))
    for number, level in enumerate(levels, 1):
        table.add_row(str(number), *(level[factor] for factor in varied))
    same = ", ".join(f"{factor} {level}" for factor, level in levels[0].items() if factor not in varied)
    pairs = _range(str(plan.stop.min_pairs), str(plan.stop.max_pairs))
    least, most = expected_seconds(plan, cases)
    console = Console()
    console.print(table)
    console.print(f"everywhere: {same}", soft_wrap=True)
    counted = f"{len(cases)} case{'s' if len(cases) > 1 else ''}"
    console.print(f"{counted}, {pairs} pairs each: about {_range(duration(least), duration(most))}")


def _range(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"
