"""One run of every protection, shared by the tests of this room."""

import pytest

from fastdds.lab import Run, library, run_of_every_protection


@pytest.fixture(scope="session")
def _built() -> None:
    if not library("fastdds").exists():
        pytest.skip("the native programs are not built: ./comseclab build")


@pytest.fixture(scope="session")
def runs(_built: None, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    return run_of_every_protection("fastdds", tmp_path_factory)
