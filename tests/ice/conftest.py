import pytest

from fastdds.lab import library


@pytest.fixture(scope="session", autouse=True)
def _built() -> None:
    if not library("ice").exists():
        pytest.skip("the native programs are not built: ./comseclab build")
