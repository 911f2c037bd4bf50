"""A writer that the attack holds up: what it never began to send is lost, however the attack is judged."""

from pathlib import Path

import pytest

from attack.stage import AFTER, BEFORE, DURING, Stage
from comseclab.attack.attacks.flood import FRAMES
from comseclab.attack.base import Effect
from comseclab.attack.registry import attack_of
from comseclab.attack.spec import Phase, Seen


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """All that was due before the attack was sent and delivered, and then nothing was begun."""
    record = Stage(tmp_path_factory.mktemp("blocked"), attack_of("eavesdrop"), begun=BEFORE).play()
    assert (record.valid, record.reasons) == (True, [])
    assert record.seen
    return record.seen


def test_phases_count_what_was_never_begun(seen: Seen) -> None:
    assert seen.before == Phase(sent=BEFORE, delivered=BEFORE)
    assert seen.during == Phase(sent=DURING, delivered=0)
    assert seen.after == Phase(sent=AFTER, delivered=0)


@pytest.mark.parametrize("attack", ["drop", "delay", "flood", "silence-gap"])
def test_it_is_harm(seen: Seen, attack: str) -> None:
    outcome = attack_of(attack).judge(seen.model_copy(update={"injected_frames": FRAMES}))
    assert (outcome.effect, outcome.reached) == (Effect.SUCCEEDED, True), outcome.text


def test_a_writer_that_was_held_up_before_makes_the_trial_invalid(tmp_path: Path) -> None:
    record = Stage(tmp_path, attack_of("eavesdrop"), begun=BEFORE - 2).play()
    assert record.reasons == [f"2 of {BEFORE} messages were lost before the attack"]
