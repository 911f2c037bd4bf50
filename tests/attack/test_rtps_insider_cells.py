"""An insider is refused by its victims' permission check: neither by its own node nor for a governance of its own."""

from pathlib import Path

import pytest

from attack.campaign import run_cells
from comseclab.attack.verdict import Verdict

ATTACKS = {"insider-publish": "station-subscriber", "subscribe-without-right": "robot-publisher"}
"""With the victim that is asked."""
REFUSED = {"fastdds": "rt/scan topic not found in allow rule", "cyclonedds": "rt/scan denied by default rule"}


@pytest.mark.parametrize("middleware", ["fastdds", "cyclonedds"])
def test_the_victims_permission_check_refuses_the_insider(middleware: str, tmp_path: Path) -> None:
    cells = run_cells(middleware, ["rtps-sign"], list(ATTACKS), out=tmp_path)
    for attack, victim in ATTACKS.items():
        assert cells["rtps-sign", attack].verdict is Verdict.STOPPED, cells["sros2-default", attack].text
        (trial,) = tmp_path.glob(f"**/trials/*_rtps-sign_*_{attack}_attack-1")
        assert REFUSED[middleware] in (trial / "log" / f"{victim}.log").read_text()
        (rogue,) = (trial / "log").glob("attacker-*-no-permission.log")
        assert rogue.read_text() == ""
