"""The verb `run`."""

from pathlib import Path
from typing import Annotated

import typer


def run(
    plan: Annotated[Path, typer.Argument(help="A plan file; with --resume, also the run folder to continue.")],
    recording: Annotated[Path | None, typer.Option(help="Send this recording (MCAP, .db3, .bag) instead.")] = None,
    topic: Annotated[list[str] | None, typer.Option(help="A topic of the recording; may be given again.")] = None,
    each_topic: Annotated[bool, typer.Option("--each-topic", help="A case a topic, not all in one trial.")] = False,
    only: Annotated[str | None, typer.Option(help="Only these cases, as link=wifi,protection=none.")] = None,
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
    """
    from comseclab import plan as plans
    from comseclab.errors import LabError

    if (topic or each_topic) and recording is None:
        raise LabError("--topic and --each-topic choose from a recording", "name it with --recording FILE")
    if resume:
        if recording or only or dry_run:
            raise LabError("--resume goes on as the run began", "leave --recording, --only and --dry-run out")
        from comseclab import laboratory

        work = laboratory.reopen(run_to_resume(plan, out))
    else:
        chosen = plans.load_plan(plan)
        if recording is not None:
            chosen = plans.with_recording(chosen, recording, topic or (), each_topic=each_topic)
        cases = plans.expand(chosen)
        if only is not None:
            cases = plans.only(chosen, cases, only)
        if dry_run:
            from comseclab.cli.cases import show_cases

            show_cases(chosen, cases)
            return
        from comseclab import laboratory

        work = laboratory.begin(chosen, cases, plan.read_text(), out)
    from comseclab.cli import carry_out

    raise typer.Exit(laboratory.exit_code(carry_out.carry_out(work)))


def run_to_resume(plan: Path, out: Path) -> Path:
    """The run folder that `--resume` means: the one given, or the newest of that plan in `out`."""
    from comseclab.errors import LabError
    from comseclab.plan import load_plan

    if plan.is_dir():
        return plan
    name = load_plan(plan).plan.name
    runs = sorted(folder for folder in out.glob(f"*-{name}") if (folder / "plan.json").is_file())
    if not runs:
        raise LabError(f"no run of the plan {name} in {out}", "run it without --resume")
    return runs[-1]
