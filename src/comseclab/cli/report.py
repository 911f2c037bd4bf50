"""The verb `report`."""

from pathlib import Path
from typing import Annotated

import typer


def report(run: Annotated[Path, typer.Argument(help="A run folder, such as runs/latest.")]) -> None:
    """Rebuild a run's summary, page, charts and tables from its samples.

    Example: comseclab report runs/latest
    """
    from comseclab.report import build

    print(build(run))
