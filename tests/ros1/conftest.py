"""One roscore for the tests that need any."""

from collections.abc import Iterator

import pytest

from fastdds.network import loopback
from ros1 import lab


@pytest.fixture(scope="session", autouse=True)
def _built() -> None:
    lab.require()


@pytest.fixture(scope="session")
def master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[lab.Master]:
    """A roscore on a loopback of its own. Tests take topics of their own."""
    with loopback() as namespace, lab.master(namespace, tmp_path_factory.mktemp("master")) as running:
        yield running
