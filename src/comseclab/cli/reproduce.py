"""The verb `reproduce`."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from comseclab.literature.selection import Selection
    from comseclab.literature.study import Study


def reproduce(
    study: Annotated[str, typer.Argument(help="A published study: martin2018.")],
    quick: Annotated[bool, typer.Option("--quick", help="Under 45 minutes, with wider intervals.")] = False,
    today: Annotated[bool, typer.Option("--today", help="Add Cyclone DDS and Zenoh.")] = False,
    mtu_1500: Annotated[bool, typer.Option("--mtu-1500", help="Add the links with frames of 1500 B.")] = False,
    only: Annotated[list[str] | None, typer.Option(help="Only these cells, as link=localhost,workload=scan.")] = None,
    out: Annotated[Path, typer.Option(help="Where run folders go.")] = Path("runs"),
    resume: Annotated[bool, typer.Option("--resume", help="Continue the newest reproduction of this kind.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the cells and the expected time only.")] = False,
    run: Annotated[Path | None, typer.Option("--from", help="Measure nothing: the page of this run folder.")] = None,
) -> None:
    """Repeat a published study and set our figures beside its own; ends with a page to look at.

    \b
    Examples:
      comseclab reproduce martin2018 --quick
      comseclab reproduce martin2018 --dry-run
      comseclab reproduce martin2018 --quick --only middleware=fastdds,workload=scan,link=localhost
      comseclab reproduce martin2018 --today --mtu-1500
      comseclab reproduce martin2018 --quick --resume
      comseclab reproduce martin2018 --from runs/latest
    """
    from comseclab import laboratory
    from comseclab.errors import LabError
    from comseclab.literature import selection
    from comseclab.literature import study as studies

    chosen = studies.load(study)
    begun = run is not None or resume
    if begun and (today or mtu_1500 or only or dry_run or (run and (quick or resume))):
        raise LabError("a run that exists has its cells", "leave the options that choose them out")
    if run is not None:
        _show(chosen, run)
        return
    if resume:
        from comseclab.cli.run import newest_run

        work = laboratory.reopen(newest_run(selection.plan_name(chosen, quick=quick), out))
        selected = selection.Selection(work.plan, work.cases, "")
    else:
        selected = selection.select(chosen, quick=quick, today=today, mtu_1500=mtu_1500, filters=only or ())
    if dry_run:
        from comseclab.cli.cases import show_cases

        show_cases(selected.plan, selected.cases)
        return
    from comseclab.cli import carry_out

    if not resume:
        _say_duration(selected)
        work = laboratory.begin(selected.plan, selected.cases, selected.text, out)
    kind = " --quick" if quick else ""
    carry_out.measure(work, f"comseclab reproduce {chosen.id}{kind} --resume --out {shlex.quote(str(out))}")
    rows = carry_out.report(work)
    _show(chosen, work.run.path)
    raise typer.Exit(laboratory.exit_code(rows, unresolved=0 if quick else 3))


def _say_duration(selected: "Selection") -> None:
    from comseclab.cli.progress import duration
    from comseclab.plan import expected_seconds

    about = duration(expected_seconds(selected.plan, selected.cases)[0])
    number = len(selected.cases)
    typer.echo(f"{number} cell{'s' if number != 1 else ''}, about {about}", err=True)


def _show(study: "Study", run: Path) -> None:
    """Write the page of a reproduction, and say where it is and what it leaves open."""
    from comseclab.literature.reproduction import build

    built = build(study, run)
    for line in built.said:
        typer.echo(line, err=True)
    typer.echo(f"reproduction: {built.page}", err=True)
