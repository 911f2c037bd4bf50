"""The page of an attack run: what each protection stopped, and the evidence."""

from pathlib import Path

from comseclab.report.attack import cost as costs
from comseclab.report.attack import run as runs
from comseclab.report.attack.page import page
from comseclab.results.store import write_atomically

NAME = "attack.html"


def build(run: Path, cost: Path | None = None) -> Path:
    """Write `attack.html` of a run folder that holds `attack.json`; return the page.

    `cost`: a run folder with `summary.json`, of the same plan measured; by default the newest beside `run`.
    Raises LabError when `attack.json`, a trial's record or the given `cost` is missing or damaged.
    """
    data = runs.read(run)
    measured = costs.find(data, cost)
    found = costs.figure(data, *measured) if measured else None
    if found is None:
        for outdated in (data.path / "charts").glob(f"{costs.NAME}.*"):
            outdated.unlink()
    write_atomically(data.path / NAME, page(data, found, measured[0].name if measured else ""))
    return data.path / NAME
