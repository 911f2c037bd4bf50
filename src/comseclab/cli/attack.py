"""The verb `attack`."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from comseclab.attack.run import AttackWork
    from comseclab.plan import Case, Plan


def attack(
    plan: Annotated[Path, typer.Argument(help="A plan file; or a run folder, to repeat or resume it.")],
    only: Annotated[
        list[str] | None, typer.Option(help="Only these configurations, as protection=all-encrypt.")
    ] = None,
    attacks: Annotated[list[str] | None, typer.Option("--attack", help="Only these attacks, as modify,replay.")] = None,
    repetitions: Annotated[
        int | None, typer.Option(min=1, max=100, help="Trials a cell, instead of the plan's.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Where run folders go.")] = Path("runs"),
    cost: Annotated[
        Path | None,
        typer.Option(help="A run folder of `comseclab run`, for the page's costs.", show_default="the plan's newest"),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the newest attacks of this plan.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the cells and the expected time only.")] = False,
) -> None:
    """Try every attack on every configuration of a plan, inside the laboratory, and say what happened.

    \b
    Examples:
      comseclab attack plans/attacks.toml --dry-run
      comseclab attack plans/attacks.toml
      comseclab attack plans/attacks.toml --only middleware=fastdds --attack modify,replay --repetitions 1
      comseclab attack plans/attacks.toml --resume
      comseclab attack runs/latest

    \b
    Exit codes: 0 fine; 1 an attack that the plan requires to be stopped was not; 2 input or environment wrong;
    3 cells are invalid or not shown; 130 interrupted (143 by SIGTERM)
    """
    from comseclab.attack import run
    from comseclab.errors import LabError

    if resume and (only or attacks or repetitions or dry_run):
        raise LabError("a run that is resumed has its cells", "leave --only, --attack, --repetitions and --dry-run out")
    if cost is not None:
        from comseclab.attack.costs import summary_of

        summary_of(cost)
    if resume:
        raise typer.Exit(_carry_out(run.reopen(_to_resume(plan, out)), cost))
    given, cases, text = _read(plan, only)
    chosen = _changed(given, ",".join(attacks).split(",") if attacks else [], repetitions)
    if dry_run:
        from comseclab.cli.attack_cells import show_cells

        show_cells(chosen, cases)
        return
    work = run.begin(chosen, cases, text, out)
    if unchecked := [name for name in given.attack.require if name not in chosen.attack.require]:
        typer.echo(f"not required here: {', '.join(unchecked)} (left out by --attack)", err=True)
    raise typer.Exit(_carry_out(work, cost))


def _read(path: Path, only: list[str] | None) -> "tuple[Plan, list[Case], str]":
    """The plan, the configurations that `--only` leaves, and the plan's text as given."""
    from comseclab.attack import cells, run
    from comseclab.plan import expand, load_plan

    if path.is_dir():
        plan, cases, text = run.saved(path)
    else:
        plan, text = load_plan(path), path.read_text()
        cases = cells.configurations(plan, expand(plan))
    return plan, cells.chosen(cases, only) if only else cases, text


def _changed(plan: "Plan", attacks: list[str], repetitions: int | None) -> "Plan":
    """The plan as `--attack` and `--repetitions` change it; only what is tried can be required."""
    from comseclab.attack.cells import ALL

    changed: dict[str, Any] = {"repetitions": repetitions or plan.attack.repetitions}
    if attacks:
        required = [name for name in plan.attack.require if name in attacks or ALL in attacks]
        changed |= {"attacks": list(dict.fromkeys(attacks)), "require": required}
    return plan.model_copy(update={"attack": plan.attack.model_copy(update=changed)})


def _to_resume(path: Path, out: Path) -> Path:
    from comseclab.cli.run import newest_run
    from comseclab.plan import load_plan
    from comseclab.results.store import ATTACK_PLAN

    return path if path.is_dir() else newest_run(f"{load_plan(path).plan.name}-attack", out, ATTACK_PLAN)


def _carry_out(work: "AttackWork", cost: Path | None) -> int:
    """Attack, with progress; say what was found and where it is. Returns the exit code."""
    from rich.console import Console

    from comseclab.attack import matrix, run
    from comseclab.cli.attack_cells import show_verdicts
    from comseclab.cli.progress import AttackProgress
    from comseclab.errors import LabError

    console = Console(stderr=True)
    if left_out := run.unchecked(work.plan, [cell.case for cell in work.cells]):
        typer.echo(f"not required here: {left_out} (left out by --only)", err=True)
    typer.echo(f"results: {work.run.path}", err=True)
    again = f"comseclab attack {shlex.quote(str(work.run.path))} --resume"
    try:
        with AttackProgress(console, len(work.jobs)) as progress:
            run.carry_out(work, progress.ended)
    except (KeyboardInterrupt, SystemExit):
        typer.echo(f"interrupted; continue with: {again}", err=True)
        raise
    except LabError as error:
        raise LabError(error.cause, f"{error.remedy}; then: {again}".lstrip("; ")) from None
    found = matrix.Matrix.read(work.run.path)
    show_verdicts(console, found)
    from comseclab.report.attack import build  # the charts' library takes seconds to load

    typer.echo(f"page: {build(work.run.path, cost)}", err=True)
    required = work.plan.attack.require
    for line in matrix.broken(found.cells, required):
        typer.echo(line, err=True)
    return matrix.exit_code(found.cells, required)
