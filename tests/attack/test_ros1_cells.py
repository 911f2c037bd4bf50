"""ROS 1 under attack: it protects nothing, so nothing is ever called stopped."""

from functools import cache, partial

import pytest

from attack.campaign import Cells, at_once, run_cells
from comseclab.attack.verdict import Verdict
from ros1 import lab

OVER_TCP = ("master-hijack", "replay", "replay-restarted", "silence-reset")
OVER_UDP = ("master-hijack", "reflection", "silence-update")


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    lab.require()


@cache
def _cells() -> dict[str, Cells]:
    over = {"reliable": OVER_TCP, "best-effort": OVER_UDP}
    runs = [partial(run_cells, "ros1", [], attacks, reliability=name) for name, attacks in over.items()]
    return dict(zip(over, at_once(*runs), strict=True))


@pytest.mark.parametrize("attack", [name for name in OVER_TCP if not name.startswith("silence")])
def test_attack_succeeds_over_tcp(attack: str) -> None:
    found = _cells()["reliable"]["none", attack]
    assert found.verdict is Verdict.SUCCEEDED, found.text


@pytest.mark.parametrize("attack", [name for name in OVER_UDP if not name.startswith("silence")])
def test_attack_succeeds_over_udp(attack: str) -> None:
    found = _cells()["best-effort"]["none", attack]
    assert found.verdict is Verdict.SUCCEEDED, found.text


def test_update_silences_the_subscriber_which_is_told() -> None:
    found = _cells()["best-effort"]["none", "silence-update"]
    assert found.verdict is Verdict.DETECTED, found.text
    assert found.harm["lost_share"] > 0.8


def test_reset_cuts_the_connection_and_roscpp_makes_another() -> None:
    found = _cells()["reliable"]["none", "silence-reset"]
    assert found.verdict is Verdict.NOT_SHOWN, found.text
    assert not found.text.startswith("0 of"), "no message was lost, so nothing was cut"
