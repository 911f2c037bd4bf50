"""The verb `run`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from comseclab.plan import Case, Plan


def run(
    plan: Annotated[Path, typer.Argument(help="A plan file; or a run folder, to repeat or resume it.")],
    recording: Annotated[Path | None, typer.Option(help="Send this recording (MCAP, .db3, .bag) instead.")] = None,
    topic: Annotated[list[str] | None, typer.Option(help="A topic of the recording; may be given again.")] = None,
    each_topic: Annotated[bool, typer.Option("--each-topic", help="A case a topic, not all in one trial.")] = False,
    only: Annotated[list[str] | None, typer.Option(help="Only these cases, as link=wifi,protection=none.")] = None,
    out: Annotated[Path, typer.Option(help="Where run folders go.")] = Path("runs"),
    resume: Annotated[bool, typer.Option("--resume", help="Continue the newest run of this plan.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the cases and the expected time only.")] = False,
) -> None:
    """Run a plan: all its trials, then the page.

    \b
    Examples:
      comseclab run plans/template.toml --dry-run
      comseclab run plans/demo.toml --only workload=scan,link=wifi,protection=none,protection=sros2-default
      comseclab run plans/demo.toml --recording drive.mcap --topic /scan --topic /image
      comseclab run plans/demo.toml --resume
      comseclab run runs/latest
    """
    from comseclab import laboratory
    from comseclab.errors import LabError

    if (topic or each_topic) and recording is None:
        raise LabError("--topic and --each-topic choose from a recording", "name it with --recording FILE")
    if (resume or plan.is_dir()) and (recording or only):
        raise LabError("a run that is repeated or resumed has its cases", "leave --recording and --only out")
    if resume and dry_run:
        raise LabError("--resume and --dry-run exclude each other", "leave one out")
    if resume:
        work = laboratory.reopen(run_to_resume(plan, out))
    elif plan.is_dir():
        from comseclab.plan import saved_text

        before = laboratory.reopen(plan)
        chosen, cases, text = before.plan, before.cases, saved_text(plan)
    else:
        chosen, cases, text = choose(plan, recording, topic or [], each_topic, only)
    if dry_run:
        from comseclab.cli.cases import show_cases
        from comseclab.plan import check_runnable

        check_runnable(chosen, cases)
        show_cases(chosen, cases)
        return
    from comseclab.cli.carry_out import carry_out

    if not resume:
        work = laboratory.begin(chosen, cases, text, out)
    raise typer.Exit(laboratory.exit_code(carry_out(work)))


def choose(
    path: Path, recording: Path | None, topics: list[str], each_topic: bool, only: list[str] | None
) -> "tuple[Plan, Sequence[Case], str]":
    """The plan as the options change it, the cases they leave, and the plan's text as given."""
    from comseclab import plan as plans

    plan = plans.load_plan(path)
    if recording is not None:
        plan = plans.with_recording(plan, recording, topics, each_topic=each_topic)
    cases = plans.expand(plan)
    return plan, plans.only(plan, cases, only) if only else cases, path.read_text()


def run_to_resume(plan: Path, out: Path) -> Path:
    """The run folder that `--resume` means: the one given, or the newest of that plan in `out`."""
    from comseclab.plan import load_plan

    return plan if plan.is_dir() else newest_run(load_plan(plan).plan.name, out)


def newest_run(name: str, out: Path, holds: str = "plan.json") -> Path:
    """The newest run folder in `out` of the plan of that name, with such a file. Raises LabError when there is none."""
    from comseclab.errors import LabError
    from comseclab.results.store import RunFolder

    runs = [path for path in RunFolder.all_of(out, name) if (path / holds).is_file()]
    if not runs:
        raise LabError(f"no run {name} in {out}", "begin one without --resume")
    return runs[-1]
