"""The verb `attack`."""

from pathlib import Path
from typing import Annotated

import typer


def attack(
    plan: Annotated[Path, typer.Argument(help="A plan file.")],
    only: Annotated[str | None, typer.Option(help="Only these configurations, as protection=all-encrypt.")] = None,
    attacks: Annotated[list[str] | None, typer.Option("--attack", help="Only this attack; may be given again.")] = None,
    out: Annotated[Path, typer.Option(help="Where run folders go.")] = Path("runs"),
) -> None:
    """Try every attack on every configuration of a plan, inside the laboratory, and say what happened.

    \b
    Examples:
      comseclab attack plans/attacks.toml
      comseclab attack plans/attacks.toml --only middleware=fastdds --attack replay
    """
    from rich.console import Console

    from comseclab import plan as plans
    from comseclab.attack import run

    chosen = plans.load_plan(plan)
    if attacks:
        chosen = chosen.model_copy(update={"attack": chosen.attack.model_copy(update={"attacks": attacks})})
    cases = plans.expand(chosen)
    cases = plans.only(chosen, cases, only) if only is not None else cases
    work = run.begin(chosen, cases, plan.read_text(), out)
    console = Console(stderr=True)
    console.print(f"results: {work.run.path}")
    judged = run.carry_out(
        work,
        lambda record: console.print(
            f"{record.case} {record.attack} {record.arm}: {'valid' if record.valid else record.reasons}"
        ),
    )
    for cell, found in judged.items():
        console.print(
            f"{cell}: {found.verdict.value} ({found.succeeded} of {found.repetitions}, control {found.control_succeeded}) {found.text}"
        )
