"""The verb `report`."""

from pathlib import Path
from typing import Annotated

import typer


def report(run: Annotated[Path, typer.Argument(help="A run folder, such as runs/latest.")]) -> None:
    """Rebuild a run's summary, page, charts and tables from its samples; of attacks, their page from its records.

    Example: comseclab report runs/latest
    """
    from comseclab.attack.matrix import NAME
    from comseclab.report import attack, build

    attacked = (run / NAME).is_file()
    if attacked:
        print(attack.build(run))
    if not attacked or (run / "campaign.json").is_file():
        print(build(run))
