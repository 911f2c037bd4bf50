"""A built report of a simulated run, and a real browser to open it with."""

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from demo_run import write_demo
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from comseclab.report import build

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder with its report built; tests read it only."""
    run = write_demo(tmp_path_factory.mktemp("runs") / "20260101T100000-demo", pairs=5, messages=150)
    build(run)
    return run


@dataclass
class Browser:
    """Chromium, with what it said and what it asked for."""

    driver: webdriver.Chrome

    def open(self, page: Path, width: int = 1100, **media: Any) -> "Browser":
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        self.driver.get(page.as_uri())
        return self

    def run(self, script: str) -> Any:
        return self.driver.execute_script(f"return {script}")

    def console(self) -> list[str]:
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [
            found["params"]["request"]["url"] for found in messages if found["method"] == "Network.requestWillBeSent"
        ]


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
