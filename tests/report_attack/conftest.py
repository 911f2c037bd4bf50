"""A built page of a made-up attack run beside its costs, and a real browser to open it with."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "report"))
from chromium_page import browser, chromium
from made_up_attacks import write_attacks, write_costs

from comseclab.report.attack import build
from comseclab.report.attack.run import AttackRun, read

__all__ = ["browser", "chromium"]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page; tests read it only."""
    out = tmp_path_factory.mktemp("runs")
    write_costs(out / "20260101T100000-made-up")
    return build(write_attacks(out / "20260102T100000-made-up-attack"))


@pytest.fixture
def run(tmp_path: Path) -> AttackRun:
    return read(write_attacks(tmp_path / "20260102T100000-made-up-attack"))
