"""Showing a matrix of attacks: what would be run, and what was found."""

from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from comseclab.attack.campaign import SIDE_BY_SIDE, jobs
from comseclab.attack.cells import Cell
from comseclab.attack.matrix import Matrix
from comseclab.attack.run import attacked, planned
from comseclab.attack.verdict import Verdict
from comseclab.cli.progress import duration
from comseclab.plan import Case, Plan

TRIAL_S = 10.0
"""One trial among those side by side; about."""
LOUD = (Verdict.SUCCEEDED, Verdict.DETECTED, Verdict.DISRUPTED, Verdict.NOT_SHOWN, Verdict.INVALID)


def show_cells(plan: Plan, cases: Sequence[Case]) -> None:
    """Print the configurations, the attacks on each, what makes no sense and why, and how long it takes."""
    made = planned(plan, cases)
    wanted = jobs(made, plan.attack.repetitions)
    trials = Counter(_configuration(job.cell) for job in wanted)
    table = Table(
        "configuration", "attacks", "trials", title=Text(plan.plan.description or plan.plan.name, "table.title")
    )
    for configuration in dict.fromkeys(map(_configuration, made)):
        tried = sum(cell.refusal is None for cell in made if _configuration(cell) == configuration)
        table.add_row(configuration, str(tried), str(trials[configuration]))
    console = Console()
    console.print(table)
    console.print(f"attacks: {', '.join(dict.fromkeys(cell.attack.name for cell in made))}", soft_wrap=True)
    _show_refused(console, made)
    stream = attacked(plan, made[0])
    console.print(f"messages: {stream.topic} of {plan.attack.workload}, {stream.max_size} B at most", soft_wrap=True)
    tried = sum(cell.refusal is None for cell in made)
    about = duration(len(wanted) * TRIAL_S / SIDE_BY_SIDE)
    told = f"{tried} cell{'s' if tried > 1 else ''}, {len(wanted)} trial{'s' if len(wanted) > 1 else ''}"
    console.print(f"{told} with their controls: about {about}")


def _show_refused(console: Console, made: Sequence[Cell]) -> None:
    """Print which attacks make no sense where, and why; where that is a whole stack, by its name."""
    everywhere: dict[str, list[str]] = {}
    where: dict[tuple[str, str, str], list[str]] = {}
    for cell in made:
        stack, configuration = cell.case.factors.middleware, _configuration(cell)
        if configuration not in everywhere.setdefault(stack, []):
            everywhere[stack].append(configuration)
        if cell.refusal:
            where.setdefault((stack, cell.attack.name, cell.refusal), []).append(configuration)
    attacks: dict[tuple[str, str], list[str]] = {}
    for (stack, attack, reason), found in where.items():
        place = stack if found == everywhere[stack] else ", ".join(found)
        attacks.setdefault((place, reason), []).append(attack)
    if attacks:
        console.print("not applicable:")
    for (place, reason), names in attacks.items():
        console.print(f"  {place}: {', '.join(names)}: {reason}", soft_wrap=True, highlight=False, markup=False)


def _configuration(cell: Cell) -> str:
    factors = cell.case.factors
    return f"{factors.middleware} {factors.protection} {factors.reliability} {factors.codec} {factors.settings}"


def show_verdicts(console: Console, found: Matrix) -> None:
    """Print how many cells have each verdict, and those of protected configurations that are not stopped."""
    for cell in found.cells:
        if cell.verdict in LOUD and (cell.base != "none" or cell.verdict in (Verdict.NOT_SHOWN, Verdict.INVALID)):
            count = f"{cell.succeeded} of {cell.repetitions}"
            line = f"{cell.title}: {cell.verdict.value} ({count}, control {cell.control_succeeded}): {cell.text}"
            console.print(line, soft_wrap=True, highlight=False, markup=False)
    counts = Counter(cell.verdict.value for cell in found.cells)
    console.print(", ".join(f"{count} {verdict}" for verdict, count in counts.most_common()), highlight=False)
