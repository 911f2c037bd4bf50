"""Tests of a stack skip where it is missing; this one does not, so that a whole run cannot pass without them."""

import pytest

from comseclab.middleware.registry import MIDDLEWARES
from comseclab.places import native_programs


def test_every_stack_is_known() -> None:
    assert set(MIDDLEWARES) == {"cyclonedds", "fastdds", "ice", "ros1", "zenoh"}


@pytest.mark.parametrize("name", MIDDLEWARES)
def test_every_stack_is_installed_and_its_transport_built(name: str) -> None:
    stack = MIDDLEWARES[name]
    assert stack.version(), stack.how_to_install()
    assert (native_programs() / stack.library).exists(), stack.how_to_install()
