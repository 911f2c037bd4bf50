"""Chromium as the tests of the page drive it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from selenium import webdriver

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
