"""A built report of a simulated run, and a real browser to open it with."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from chromium_page import browser, chromium
from demo_run import write_demo

from comseclab.report import build

__all__ = ["browser", "chromium"]


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder with its report built; tests read it only."""
    run = write_demo(tmp_path_factory.mktemp("runs") / "20260101T100000-demo", pairs=5, messages=150)
    build(run)
    return run


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    """Write a small simulated run of one's own."""

    def write(**what: Any) -> Path:
        return write_demo(tmp_path / "20260101T100000-run", **({"pairs": 2, "messages": 40} | what))

    return write
