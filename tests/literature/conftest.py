"""A made-up reproduction with its page, and the browser of the report's tests."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "report"))
sys.path.insert(0, str(Path(__file__).parents[1] / "cli"))
from chromium_page import browser, chromium
from made_up import write_study

from comseclab.literature.reproduction import build
from comseclab.literature.study import Study, load

__all__ = ["browser", "chromium"]


@pytest.fixture(scope="session")
def study() -> Study:
    return load("martin2018")


@pytest.fixture(scope="session")
def page(study: Study, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a run that behaves as published."""
    run = write_study(tmp_path_factory.mktemp("runs") / "20260101T100000-martin2018-quick")
    return build(study, run).page
