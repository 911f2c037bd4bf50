"""Victims that die: a finding as soon as a node of the attacker's joins, and before that a failed trial."""

from pathlib import Path

import pytest

from attack.stage import BROKER, PUBLISHER, SUBSCRIBER, Stage
from comseclab.attack.attacks.subscribe import Subscribe
from comseclab.attack.registry import attack_of
from comseclab.attack.verdict import RECORDS_LOST, Verdict, judge
from comseclab.testbed.program import ProgramFailedError

WITHOUT_A_BROKER = "no message received; 6 of 6 messages lost during the attack, 7 of 7 messages after it"


@pytest.mark.parametrize(
    ("victim", "text"), [(PUBLISHER, RECORDS_LOST), (SUBSCRIBER, RECORDS_LOST), (BROKER, WITHOUT_A_BROKER)]
)
def test_a_victim_that_dies_as_a_rogue_joins_is_a_finding(tmp_path: Path, victim: str, text: str) -> None:
    record = Stage(tmp_path, Subscribe(), dies=victim).play()
    assert (record.valid, record.reasons) == (True, [])
    assert record.seen
    assert record.seen.crashed == {victim: "SIGSEGV"}
    judged = judge(Subscribe(), [record], [])
    assert (judged.verdict, judged.text) == (Verdict.DISRUPTED, f"{text}; {victim} ended with SIGSEGV")


@pytest.mark.parametrize("victim", [PUBLISHER, SUBSCRIBER, BROKER])
def test_a_victim_that_dies_before_anybody_acts_makes_the_trial_invalid(tmp_path: Path, victim: str) -> None:
    (tmp_path / "joined").touch()
    stage = Stage(tmp_path, attack_of("eavesdrop"), dies=victim, begin_s=60.0)
    with pytest.raises(ProgramFailedError, match=f"{victim} was ended by SIGSEGV"):
        stage.play()
    stage.stop_nodes()
