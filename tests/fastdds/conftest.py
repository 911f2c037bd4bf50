"""One run of every protection, shared by the tests of this room."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from comseclab.middleware.base import Material
from comseclab.middleware.fastdds import MIDDLEWARE
from comseclab.protection.levels import LEVELS
from fastdds.lab import LIBRARY, Capture, Outcome, exchange, places, settings_of, trial_spec
from fastdds.network import loopback


@pytest.fixture(scope="session")
def _built() -> None:
    if not LIBRARY.exists():
        pytest.skip("the native programs are not built: ./comseclab build")


@dataclass
class Run:
    """A trial of one protection in miniature."""

    material: Material
    outcome: Outcome
    capture: Path


@pytest.fixture(scope="session")
def runs(_built: None, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """Twenty messages under every protection over lo, captured."""

    def run(level: str) -> Run:
        folder, spec = tmp_path_factory.mktemp(level), trial_spec(level)
        material = MIDDLEWARE.prepare(spec, places(), folder)
        with loopback() as namespace, Capture(namespace, "lo", folder / "capture.pcapng") as capture:
            writer, reader = settings_of(spec, material, places())
            outcome = exchange((namespace, writer), (namespace, reader))
        return Run(material, outcome, capture.path)

    with ThreadPoolExecutor(2) as pool:
        return dict(zip(LEVELS, pool.map(run, LEVELS), strict=True))
