"""Stopped is said only where it was shown: whatever the trials and the controls of a cell look like.

That transports which accept everything, drop everything or leak the payload are called rightly in a real matrix is
tested in test_attack_verb.py.
"""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comseclab.attack.base import Attack, Effect
from comseclab.attack.dialect import dialect_of
from comseclab.attack.registry import ATTACKS
from comseclab.attack.spec import AttackRecord, Phase, Seen
from comseclab.attack.verdict import IDLE, Judged, Verdict, judge

UNTOUCHED: dict[str, Any] = {
    "before": Phase(sent=32, delivered=32), "during": Phase(sent=48, delivered=48),
    "after": Phase(sent=32, delivered=32), "age_before_ns": 1e6, "age_during_ns": 1e6,
}  # fmt: skip
ACTED: dict[str, Any] = {
    "targeted": 12, "injected_frames": 3000, "injected_bytes": 9000, "bytes_in": 9000, "captured": 600, "rogues": 1,
}  # fmt: skip
GONE = Phase(sent=48, delivered=0)
SUCCESS: dict[str, dict[str, Any]] = {
    "drop": {"during": GONE}, "delay": {"age_during_ns": 4e8}, "eavesdrop": {"leaked": ["payload"]},
    "flood": {"during": GONE}, "modify": {"altered": 3}, "relay": {"relayed": 48, "targeted": 48},
    "reflection": {"bytes_out": 99_000}, "replay": {"repeated": 1}, "replay-resequenced": {"repeated": 1},
    "replay-restarted": {"stale": 1}, "subscribe-without-right": {"rogue_received": 5, "readers": ["none"]},
    "forged-publish": {"forged": 2}, "insider-publish": {"forged": 2}, "self-signed-permissions": {"forged": 2},
    "master-hijack": {"forged": 2},
    **{name: {"during": GONE, "after": Phase(sent=32, delivered=0)} for name in ATTACKS if name.startswith("silence-")},
}  # fmt: skip
"""By attack: what a trial shows in which it succeeded."""
DIALECT = dialect_of("fastdds")
every_attack = pytest.mark.parametrize("attack", ATTACKS.values(), ids=lambda one: one.name)


def closed(seen: Seen | None, *reasons: str) -> AttackRecord:
    return AttackRecord(attack="", arm="attack", case="", valid=not reasons, reasons=list(reasons), seen=seen)


def stopped() -> AttackRecord:
    """A trial in which the attacker acted, and the stream went on as if nobody had."""
    return closed(Seen(**UNTOUCHED, **ACTED))


def succeeded(attack: Attack) -> AttackRecord:
    return closed(Seen(**(UNTOUCHED | ACTED | SUCCESS[attack.name])))


def invalid(attack: Attack) -> AttackRecord:
    """A legitimate stream that failed: what is seen of the attack says nothing."""
    return closed(succeeded(attack).seen, "32 of 32 messages were lost before the attack")


def of(attack: Attack, trials: list[AttackRecord], *controls: list[AttackRecord]) -> Judged:
    return judge(attack, trials, controls)


@every_attack
def test_stopped_needs_every_control(attack: Attack) -> None:
    control = [succeeded(attack)]
    assert attack.judge(control[0].seen).effect is Effect.SUCCEEDED  # type: ignore[arg-type]
    assert of(attack, [stopped()], control).verdict is Verdict.STOPPED
    for failed in ([], [stopped()], [invalid(attack)], [closed(None, "no match")]):
        assert of(attack, [stopped()], failed).verdict is Verdict.NOT_SHOWN
        assert of(attack, [stopped()], control, failed).verdict is Verdict.NOT_SHOWN
    assert of(attack, [stopped()]).verdict is Verdict.NOT_SHOWN


@every_attack
def test_success_needs_no_control(attack: Attack) -> None:
    assert of(attack, [succeeded(attack)], []).verdict is Verdict.SUCCEEDED


@every_attack
def test_a_stream_that_fails_by_itself_is_invalid_and_not_secure(attack: Attack) -> None:
    found = of(attack, [invalid(attack)] * 3, [succeeded(attack)])
    assert found.verdict is Verdict.INVALID
    assert (found.succeeded, found.repetitions) == (0, 0)
    assert "lost before the attack" in found.text


@every_attack
def test_an_attacker_that_did_nothing_was_not_stopped(attack: Attack) -> None:
    """As where the attack does not recognise the messages of a protection."""
    idle = closed(Seen(**UNTOUCHED))
    for trials in ([idle], [stopped(), idle]):
        found = of(attack, trials, [succeeded(attack)])
        assert found.verdict is Verdict.NOT_SHOWN
        assert IDLE in found.text


@pytest.mark.parametrize(
    "attack", [one for one in ATTACKS.values() if one.rogues(DIALECT, control=False)], ids=lambda one: one.name
)
def test_a_node_of_the_attackers_that_failed_by_itself_was_not_stopped(attack: Attack) -> None:
    idle = closed(Seen(**(UNTOUCHED | ACTED), idle_rogues=1))
    found = of(attack, [stopped(), idle], [succeeded(attack)])
    assert found.verdict is Verdict.NOT_SHOWN


@every_attack
def test_one_success_among_many_trials_is_told(attack: Attack) -> None:
    found = of(attack, [stopped(), stopped(), succeeded(attack)], [succeeded(attack)])
    assert (found.verdict, found.succeeded, found.repetitions, found.race) == (Verdict.SUCCEEDED, 1, 3, True)


phases = st.integers(0, 60).flatmap(lambda sent: st.builds(Phase, sent=st.just(sent), delivered=st.integers(0, sent)))
numbers = st.integers(0, 100)
ages = st.none() | st.floats(0, 1e10)
shown = st.builds(
    Seen, before=phases, during=phases, after=phases, altered=numbers, forged=numbers, repeated=numbers, stale=numbers,
    age_before_ns=ages, age_during_ns=ages, told=st.lists(st.just("deadline missed 1"), max_size=1),
    crashed=st.dictionaries(st.just("station-subscriber"), st.just("SIGSEGV")), rogue_received=numbers,
    leaked=st.lists(st.sampled_from(["payload", "topic name"]), unique=True), bytes_out=numbers, bytes_in=numbers,
    relayed=numbers,
    injected_frames=st.integers(0, 4000), injected_bytes=numbers, targeted=numbers, captured=numbers, rogues=numbers,
)  # fmt: skip
records = st.lists(
    shown.flatmap(lambda seen: st.sampled_from([closed(seen), closed(seen, "lost before the attack")])), max_size=4
)


@settings(max_examples=60, deadline=None)
@given(attack=st.sampled_from(list(ATTACKS.values())), trials=records, control=records, other=records)
def test_no_verdict_says_more_than_its_trials(
    attack: Attack, trials: list[AttackRecord], control: list[AttackRecord], other: list[AttackRecord]
) -> None:
    found = of(attack, trials, control, other)
    valid = [trial.seen for trial in trials if trial.valid and trial.seen]
    outcomes = [attack.judge(seen) for seen in valid]
    reached = [
        any(
            attack.judge(trial.seen).reached or attack.judge(trial.seen).effect is Effect.SUCCEEDED
            for trial in controls
            if trial.valid and trial.seen
        )
        for controls in (control, other)
    ]
    assert found.repetitions == len(valid)
    assert (found.verdict is Verdict.INVALID) == (not valid)
    assert (found.verdict is Verdict.SUCCEEDED) == (found.succeeded > 0)
    if found.verdict is Verdict.STOPPED:
        assert all(reached)
        assert all(outcome.effect is Effect.NOTHING for outcome in outcomes)
        assert all(attack.tried(seen) and not seen.crashed for seen in valid)
