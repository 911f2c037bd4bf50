"""A run that is resumed must find the machine and the stacks it began with."""

from typing import Any

import pytest

from comseclab.errors import LabError
from comseclab.places import native_programs
from comseclab.results.environment import check_unchanged, describe

VERSIONS = {"fastdds": "2.9.1", "ros1": None}


@pytest.fixture(scope="module")
def begun() -> dict[str, Any]:
    return describe(VERSIONS, native_programs())


def test_the_same_may_go_on(begun: dict[str, Any]) -> None:
    check_unchanged(begun, VERSIONS)
    check_unchanged(begun, {"fastdds": "2.9.1"})


@pytest.mark.parametrize(("group", "key", "told"), [("machine", "cpu", "CPU Z80"), ("system", "kernel", "kernel Z80")])
def test_another_machine_may_not(begun: dict[str, Any], group: str, key: str, told: str) -> None:
    elsewhere = begun | {group: begun[group] | {key: "Z80"}}
    with pytest.raises(LabError, match=f"the run began with {told}, and here is"):
        check_unchanged(elsewhere, VERSIONS)


def test_another_version_of_a_stack_may_not(begun: dict[str, Any]) -> None:
    with pytest.raises(LabError, match=r"the run began with fastdds 2\.9\.1, and here is 2\.9\.2"):
        check_unchanged(begun, {"fastdds": "2.9.2", "ros1": None})
