import os
import subprocess

import pytest

from comseclab.testbed import capabilities
from comseclab.testbed.capabilities import Capability


def named(name: str) -> Capability:
    return next(found for found in capabilities.capabilities() if found.name == name)


def test_every_missing_thing_comes_with_a_remedy() -> None:
    found = capabilities.capabilities()
    assert len({capability.name for capability in found}) == len(found)
    assert all(capability.found for capability in found)
    assert all(capability.remedy for capability in found if not capability.available)


def test_netem_is_found_by_using_it() -> None:
    script = "ip link add x type dummy; tc qdisc add dev x root netem loss 1%"
    done = subprocess.run([*capabilities.unshare_argv(), "sh", "-ec", script], capture_output=True, check=False)
    assert capabilities.kernel_netem().available == (done.returncode == 0)


def test_without_the_programs_the_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    programs = named("programs")
    assert not programs.available
    assert "iproute2" in programs.remedy


def test_asking_leaves_this_process_as_it_was() -> None:
    before = os.sched_getscheduler(0)
    capabilities.capabilities()
    assert os.sched_getscheduler(0) == before
