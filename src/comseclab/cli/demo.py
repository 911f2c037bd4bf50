"""The verb `demo`."""

from pathlib import Path
from typing import Annotated

import typer


def demo(out: Annotated[Path, typer.Option(help="Where run folders go.")] = Path("runs")) -> None:
    """Show what DDS Security costs a laser scan and a camera image; ends with a page to look at.

    Takes about five minutes. Example: comseclab demo
    """
    from comseclab import laboratory
    from comseclab.cli import carry_out
    from comseclab.places import shipped_plan
    from comseclab.plan import expand, load_plan

    path = shipped_plan("demo")
    plan = load_plan(path)
    rows = carry_out.carry_out(laboratory.begin(plan, expand(plan), path.read_text(), out))
    # Five pairs do not resolve every comparison; in a demonstration that is an answer too.
    raise typer.Exit(laboratory.exit_code(rows, unresolved=0))
