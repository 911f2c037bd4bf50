"""The verb `report`."""

from pathlib import Path
from typing import Annotated

import typer


def report(run: Annotated[Path, typer.Argument(help="A run folder, such as runs/latest.")]) -> None:
    """Rebuild a run's summary, page, charts and tables from its samples; of attacks, the page.

    Example: comseclab report runs/latest
    """
    from comseclab import report
    from comseclab.attack.matrix import NAME
    from comseclab.report import attack

    print((attack if (run / NAME).is_file() else report).build(run))
