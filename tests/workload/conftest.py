"""Fixtures of the workload tests."""

from pathlib import Path

import pytest
from recordings import Write, writer


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write messages as a recording of one of FORMATS; returns what a user would name."""
    return writer(tmp_path)
