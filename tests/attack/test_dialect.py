"""What is right for a stack of which nothing special is known."""

from collections import deque
from pathlib import Path

import pytest

from attack.scenes import HOSTS, scene_on
from attack.traffic import recorded
from comseclab.attack import fence
from comseclab.attack.dialect import OWN, dialect_of
from comseclab.attack.frame import Frame
from comseclab.attack.scene import Scene
from comseclab.testbed.host import Host


def test_frames_that_come_in_meanwhile_do_not_hinder_a_replay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a path of which nobody is at the other end, so that nothing is sent."""
    monkeypatch.setattr(fence, "check_testbed", lambda: None)
    hosts = {name: Host(name, Path(), f"10.77.0.{number}", "lo", Path()) for number, name in enumerate(HOSTS, 1)}
    scene, path = scene_on(hosts, tmp_path / "injected.hex", dialect_of(OWN))
    before = recorded(OWN, "none")
    seen = deque(before)
    path.seen = seen  # type: ignore[assignment]
    is_message = scene.dialect.is_message

    def meanwhile(frame: Frame, scene: Scene) -> bool:
        seen.append(frame)
        return is_message(frame, scene)

    monkeypatch.setattr(scene.dialect, "is_message", meanwhile)
    scene.dialect.replay(scene, resequenced=False)
    assert path.injected == before
