"""One run of every protection, shared by the tests of this room."""

import pytest

from fastdds.lab import Run, library, run_of_every_protection


@pytest.fixture(scope="session")
def _built() -> None:
    if not library("cyclonedds").exists():
        pytest.skip("Cyclone DDS or its transport is missing: ./comseclab build")


@pytest.fixture(scope="session")
def runs(_built: None, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    return run_of_every_protection("cyclonedds", tmp_path_factory)
