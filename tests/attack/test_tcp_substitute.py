"""Recorded bytes in the place of new messages: each where it fits, and only those that went in counted."""

from pathlib import Path

import pytest

from attack.scenes import MESSAGE, scene_on
from attack.traffic import segment
from comseclab.attack import fence, icep, tcp
from comseclab.attack.dialect import dialects
from comseclab.attack.dialects import ice
from comseclab.attack.icep import Identity
from comseclab.attack.scene import Scene
from comseclab.testbed.host import Host

HOSTS = {
    name: Host(name, Path("/proc/self/ns/net"), f"10.77.0.{number}", "lo", Path())
    for number, name in enumerate(("robot", "station", "attacker", "bystander"), 1)
}


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """On a path of which nobody is at the other end, so that nothing is sent."""
    monkeypatch.setattr(fence, "check_testbed", lambda: None)
    made, _ = scene_on(HOSTS, tmp_path / "injected.hex", dialects()["ice"])
    return made


def go_on(scene: Scene, *payloads: bytes) -> list[bytes]:
    """What goes on in the place of each."""
    rule = scene.path.rule  # type: ignore[attr-defined]
    return [frame.payload for payload in payloads for _, frame in rule(segment(payload))]


def test_each_goes_in_where_it_fits_and_the_rest_stays_and_is_not_counted(scene: Scene) -> None:
    long, short = bytes(MESSAGE + 1), b"\1" * MESSAGE
    tcp.substitute(scene, [long, short])
    new = b"\2" * MESSAGE
    assert go_on(scene, new, new, b"\3" * (MESSAGE + 1)) == [short, new, long]
    assert scene.targeted == 2
    assert scene.budget.frames == 2
    assert len(scene._injected.read_text().splitlines()) == 2


def test_a_recorded_request_of_ice_gets_the_number_of_the_one_in_whose_place_it_goes(scene: Scene) -> None:
    topic = Identity("0", "station-subscriber")
    old, fresh = (icep.request(number, topic, "push", bytes([number]) * MESSAGE) for number in (3, 8))
    tcp.substitute(scene, [old], ice._renumbered)
    assert go_on(scene, fresh) == [icep.request(8, topic, "push", b"\3" * MESSAGE)]


def test_a_tls_record_stays_as_it_was() -> None:
    record, fresh = b"\x17\3\3" + bytes(40), b"\x17\3\3" + b"\1" * 40
    assert ice._renumbered(record, fresh) == record


def test_of_messages_in_one_segment_the_first_is_forged_from() -> None:
    topic = Identity("0", "station-subscriber")
    first, second = (icep.request(number, topic, "push", bytes([number]) * 400) for number in (1, 2))
    assert ice._pushed(first + second) == b"\1" * 400
    assert ice._pushed(first[:-1]) is None
    assert ice._pushed(icep.message(icep.CLOSE)) is None
