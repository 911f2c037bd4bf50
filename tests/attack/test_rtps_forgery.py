"""Messages of DDS forged in the writer's name, who goes on with his own meanwhile."""

from pathlib import Path

import pytest

from attack.scenes import HOSTS, scene_on
from attack.traffic import recorded
from comseclab.attack import fence
from comseclab.attack.dialect import dialect_of
from comseclab.attack.rtps_known import data_in
from comseclab.testbed.host import Host

LAST = 10
"""The number of the last message recorded."""
RATE_HZ = 40
BUSY_S = 0.25
"""What learning from the path may take on a busy machine."""


@pytest.mark.parametrize("stack", ["fastdds", "cyclonedds"])
def test_some_come_before_the_writers_own_on_a_busy_machine(
    stack: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a path of which nobody is at the other end, so that nothing is sent."""
    monkeypatch.setattr(fence, "check_testbed", lambda: None)
    hosts = {name: Host(name, Path(), f"10.77.0.{number}", "lo", Path()) for number, name in enumerate(HOSTS, 1)}
    scene, path = scene_on(hosts, tmp_path / "injected.hex", dialect_of(stack))
    path.seen = recorded("fastdds", "none")
    scene.dialect.forge(scene)
    made = list(data_in(path.injected))
    assert all(scene.spec.forged_nonce.encode() in one.payload for one in made)
    numbers = [one.number for one in made]
    assert min(numbers) <= LAST + 2, "where nothing is slow, it begins at once"
    assert len([number for number in numbers if number > LAST + BUSY_S * RATE_HZ]) >= 2
    assert max(numbers) < LAST + RATE_HZ, "within the attack"
