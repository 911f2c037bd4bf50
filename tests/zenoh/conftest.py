"""One run of every protection, shared by the tests of this room."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from comseclab.middleware.zenoh import LEVELS
from fastdds.lab import Capture
from fastdds.network import loopback
from zenoh.lab import LIBRARY, Run, exchange, places, settings_of, trial_spec


@pytest.fixture(scope="session")
def _built() -> None:
    if not LIBRARY.exists():
        pytest.skip("the native programs are not built: ./comseclab build")


@pytest.fixture(scope="session")
def runs(_built: None, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """Twenty messages under every protection over lo, captured."""

    def run(level: str) -> Run:
        folder = tmp_path_factory.mktemp(level)
        writer, reader = settings_of(trial_spec(level), places(), folder)
        with loopback() as namespace, Capture(namespace, "lo", folder / "capture.pcapng") as capture:
            outcome = exchange((namespace, writer), (namespace, reader))
        return Run(outcome, capture.path)

    with ThreadPoolExecutor(2) as pool:
        return dict(zip(LEVELS, pool.map(run, LEVELS), strict=True))
