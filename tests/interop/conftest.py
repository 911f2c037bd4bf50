import pytest

from fastdds.lab import library


@pytest.fixture(scope="session")
def _built() -> None:
    missing = [stack for stack in ("fastdds", "cyclonedds") if not library(stack).exists()]
    if missing:
        pytest.skip(f"the transport of {', '.join(missing)} is not built: ./comseclab build")
