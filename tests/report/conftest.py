"""A built report of a simulated run, and a real browser to open it with."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from chromium_page import FLAGS, Browser
from demo_run import write_demo
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from comseclab.report import build


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder with its report built; tests read it only."""
    run = write_demo(tmp_path_factory.mktemp("runs") / "20260101T100000-demo", pairs=5, messages=150)
    build(run)
    return run


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    program, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not program or not driver:
        pytest.skip("needs chromium and chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    running = webdriver.Chrome(options=options, service=Service(driver))
    yield running
    running.quit()


@pytest.fixture
def browser(chromium: webdriver.Chrome) -> Browser:
    """Chromium without what earlier tests left in its logs."""
    fresh = Browser(chromium)
    chromium.get("about:blank")
    fresh.console()
    fresh.requests()
    return fresh


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    """Write a small simulated run of one's own."""

    def write(**what: Any) -> Path:
        return write_demo(tmp_path / "20260101T100000-run", **({"pairs": 2, "messages": 40} | what))

    return write
