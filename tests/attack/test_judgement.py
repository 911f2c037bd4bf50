"""What is judged from what was seen: every branch, on made-up trials whose verdicts are known."""

from collections.abc import Sequence
from typing import Any

import pytest

from comseclab.attack.base import Attack, Effect
from comseclab.attack.registry import ATTACKS
from comseclab.attack.spec import AttackRecord, Phase, Seen
from comseclab.attack.verdict import RECORDS_LOST, Judged, Verdict, judge

WHOLE = Phase(sent=48, delivered=48)
GONE = Phase(sent=48, delivered=3)
TOLD = ["station-subscriber: deadline 12"]


def seen(**changes: Any) -> Seen:
    """A trial in which an attacker sent something and the stream was not disturbed, but for the changes."""
    phase = Phase(sent=32, delivered=32)
    return Seen(
        **{
            "before": phase,
            "during": WHOLE,
            "after": phase,
            "age_before_ns": 5e5,
            "age_during_ns": 5e5,
            "injected_frames": 9,
        }
        | changes
    )


def effect(attack: str, **changes: Any) -> Effect:
    return ATTACKS[attack].judge(seen(**changes)).effect


QUIET = {"flood": {"injected_frames": 3000}}
"""What an attack that did nothing leaves behind nevertheless."""


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_undisturbed_stream_is_nothing(attack: str) -> None:
    assert effect(attack, **QUIET.get(attack, {})) is Effect.NOTHING


FALSE_MESSAGES = {
    "modify": "altered",
    "forged-publish": "forged",
    "insider-publish": "forged",
    "self-signed-permissions": "forged",
    "master-hijack": "forged",
    "replay": "repeated",
    "replay-resequenced": "repeated",
    "replay-restarted": "stale",
}


@pytest.mark.parametrize(("attack", "sign"), FALSE_MESSAGES.items())
def test_one_false_message_is_success_whatever_else_was_seen(attack: str, sign: str) -> None:
    outcome = ATTACKS[attack].judge(seen(**{sign: 1}, after=GONE, told=TOLD))
    assert outcome.effect is Effect.SUCCEEDED
    assert outcome.reached
    others = {name: 5 for name in ("altered", "forged", "repeated", "stale") if name != sign}
    assert effect(attack, **others) is Effect.NOTHING


@pytest.mark.parametrize("attack", [*FALSE_MESSAGES, "subscribe-without-right", "relay", "reflection"])
def test_a_lost_stream_is_disruption_or_told_detection(attack: str) -> None:
    assert effect(attack, after=GONE) is Effect.DISRUPTED
    assert effect(attack, after=GONE, told=TOLD) is Effect.DETECTED
    assert effect(attack, told=TOLD) is Effect.NOTHING


def test_what_the_attacker_took_off_the_path_himself_is_no_disruption() -> None:
    half = Phase(sent=48, delivered=20)
    assert effect("modify", during=half) is Effect.DISRUPTED
    assert effect("modify", during=half, targeted=12) is Effect.NOTHING


def test_the_restart_itself_is_no_disruption() -> None:
    assert effect("replay-restarted", during=GONE) is Effect.NOTHING
    assert effect("replay", during=GONE) is Effect.DISRUPTED


def test_reading_needs_a_genuine_message() -> None:
    outcome = ATTACKS["subscribe-without-right"].judge(seen(rogue_received=4, readers=["none"]))
    assert (outcome.effect, outcome.text) == (Effect.SUCCEEDED, "4 genuine messages received by one without identity")


def test_eavesdropping_needs_the_payload() -> None:
    outcome = ATTACKS["eavesdrop"].judge(seen(leaked=["topic name", "identity", "permissions"]))
    assert outcome.effect is Effect.NOTHING
    assert outcome.text == "the payload was not found; in clear: topic name, identity, permissions"
    assert effect("eavesdrop", leaked=["payload"]) is Effect.SUCCEEDED


def test_dropping_harms_by_loss_or_lateness() -> None:
    outcome = ATTACKS["drop"].judge(seen(during=GONE))
    assert (outcome.effect, outcome.harm) == (Effect.SUCCEEDED, {"lost_or_late_share": 45 / 48})
    assert effect("drop", during=GONE, told=TOLD) is Effect.DETECTED
    assert effect("drop", age_during_ns=9e8) is Effect.SUCCEEDED
    assert effect("drop", during=Phase(sent=48, delivered=24)) is Effect.NOTHING


def test_delaying_harms_by_age_or_loss() -> None:
    outcome = ATTACKS["delay"].judge(seen(age_during_ns=4.005e8))
    assert (outcome.effect, outcome.harm) == (Effect.SUCCEEDED, {"older_ms": 400.0, "lost_share": 0.0})
    assert effect("delay", age_during_ns=4e8, told=TOLD) is Effect.DETECTED
    assert effect("delay", age_during_ns=2e8) is Effect.NOTHING
    assert effect("delay", during=Phase(sent=48, delivered=0), age_during_ns=None) is Effect.SUCCEEDED


SILENCES = [name for name in ATTACKS if name.startswith("silence-")]


@pytest.mark.parametrize("attack", SILENCES)
def test_silence_lasts_to_the_end(attack: str) -> None:
    after = Phase(sent=32, delivered=0)
    outcome = ATTACKS[attack].judge(seen(during=GONE, after=after))
    assert (outcome.effect, outcome.harm) == (Effect.SUCCEEDED, {"lost_share": 77 / 80})
    assert effect(attack, during=GONE, after=after, told=TOLD) is Effect.DETECTED
    assert effect(attack, during=Phase(sent=48, delivered=20), after=Phase(sent=32, delivered=32)) is Effect.NOTHING


def test_every_stack_has_a_message_to_silence_by() -> None:
    assert {"silence-gap", "silence-update"} <= set(SILENCES)
    assert all(ATTACKS[name].title.endswith(".") for name in SILENCES)


def test_relay_counts_only_what_came_by_the_attacker() -> None:
    outcome = ATTACKS["relay"].judge(seen(relayed=48, targeted=48))
    assert (outcome.effect, outcome.harm) == (Effect.SUCCEEDED, {"taken_share": 1.0})
    assert effect("relay", relayed=48, targeted=0) is Effect.NOTHING
    assert effect("relay", relayed=0, targeted=48) is Effect.NOTHING
    half_by_him_and_refused = {"relayed": 24, "targeted": 24, "during": Phase(sent=48, delivered=24)}
    assert effect("relay", **half_by_him_and_refused) is Effect.NOTHING


def test_relay_of_messages_of_several_frames_counts_messages() -> None:
    half_by_him_and_refused = {"relayed": 240, "targeted": 240, "during": Phase(sent=48, delivered=24)}
    assert effect("relay", **half_by_him_and_refused, frames_a_message=10) is Effect.NOTHING
    outcome = ATTACKS["relay"].judge(seen(relayed=477, targeted=480, frames_a_message=10))
    assert (outcome.effect, outcome.harm) == (Effect.SUCCEEDED, {"taken_share": 1.0})


def test_a_stream_that_no_longer_passes_is_no_relay() -> None:
    assert effect("relay", relayed=48, targeted=48, during=GONE, after=GONE) is Effect.DISRUPTED


def test_flood_is_judged_by_harm_at_its_rate() -> None:
    sent = {"injected_frames": 3000}
    assert effect("flood", **sent, during=GONE) is Effect.SUCCEEDED
    assert effect("flood", **sent, during=GONE, told=TOLD) is Effect.DETECTED
    outcome = ATTACKS["flood"].judge(seen(**sent, age_during_ns=5e8))
    assert (outcome.effect, outcome.harm) == (Effect.SUCCEEDED, {"lost_share": 0.0, "times_older": 1000.0})
    too_few = ATTACKS["flood"].judge(seen(injected_frames=7, during=GONE))
    assert (too_few.effect, too_few.text) == (Effect.NOTHING, "only 7 of 3000 packets could be sent")


def test_reflection_must_amplify() -> None:
    assert effect("reflection", bytes_in=700, bytes_out=700) is Effect.NOTHING
    outcome = ATTACKS["reflection"].judge(seen(bytes_in=700, injected_bytes=7, bytes_out=7000))
    assert (outcome.effect, outcome.harm) == (Effect.SUCCEEDED, {"amplification": 10.0})
    assert effect("reflection", bytes_in=0, bytes_out=7000) is Effect.NOTHING


def trial(shows: Seen | None, *reasons: str) -> AttackRecord:
    return AttackRecord(attack="x", arm="attack", case="c", valid=not reasons, reasons=list(reasons), seen=shows)


def verdict(attack: Attack, trials: Sequence[Seen], control: Sequence[Seen]) -> Judged:
    return judge(attack, [trial(one) for one in trials], [[trial(one) for one in control]])


FORGED, NOTHING, LOST, LOST_AND_TOLD = seen(forged=3), seen(), seen(after=GONE), seen(after=GONE, told=TOLD)
PUBLISH = ATTACKS["forged-publish"]


def test_the_worst_repetition_is_the_cells() -> None:
    order = [(FORGED, Verdict.SUCCEEDED), (LOST_AND_TOLD, Verdict.DETECTED), (LOST, Verdict.DISRUPTED)]
    trials = [NOTHING]
    for shows, expected in reversed(order):
        trials.append(shows)
        found = verdict(PUBLISH, trials, [FORGED])
        assert found.verdict is expected
        assert found.race
    assert (found.succeeded, found.repetitions) == (1, 4)


def test_stopped_needs_its_control() -> None:
    assert verdict(PUBLISH, [NOTHING, NOTHING], [FORGED]).verdict is Verdict.STOPPED
    assert verdict(PUBLISH, [NOTHING], [NOTHING]).verdict is Verdict.NOT_SHOWN
    assert verdict(PUBLISH, [NOTHING], [LOST_AND_TOLD]).verdict is Verdict.NOT_SHOWN
    assert verdict(PUBLISH, [NOTHING], []).verdict is Verdict.NOT_SHOWN
    assert judge(PUBLISH, [trial(NOTHING)], []).verdict is Verdict.NOT_SHOWN


def test_a_strangers_node_alone_stops_nothing_where_no_message_in_clear_was_sent() -> None:
    idle = seen(rogues=1, injected_frames=0)
    assert verdict(PUBLISH, [NOTHING, idle], [FORGED]).verdict is Verdict.NOT_SHOWN
    assert verdict(ATTACKS["insider-publish"], [idle], [FORGED]).verdict is Verdict.STOPPED


def test_every_control_must_succeed() -> None:
    controls = [[trial(FORGED)], [trial(NOTHING)]]
    assert judge(PUBLISH, [trial(NOTHING)], controls).verdict is Verdict.NOT_SHOWN


def test_a_control_whose_harm_was_noticed_shows_the_attack() -> None:
    found = verdict(ATTACKS["drop"], [NOTHING], [seen(during=GONE, told=TOLD)])
    assert (found.verdict, found.control_succeeded) == (Verdict.STOPPED, 1)


def test_invalid_trials_say_nothing() -> None:
    lost_before = trial(FORGED, "30 of 32 messages were lost before the attack")
    assert judge(PUBLISH, [trial(NOTHING), lost_before], [[trial(FORGED)]]).verdict is Verdict.STOPPED
    found = judge(PUBLISH, [lost_before, trial(None, "no match")], [[trial(FORGED)]])
    assert (found.verdict, found.text) == (
        Verdict.INVALID,
        "30 of 32 messages were lost before the attack; no match",
    )
    assert judge(PUBLISH, [trial(NOTHING)], [[lost_before]]).verdict is Verdict.NOT_SHOWN


CRASH = {"station-subscriber": "SIGSEGV"}


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_crash_stands_in_the_text_and_is_never_stopped(attack: str) -> None:
    found = verdict(ATTACKS[attack], [NOTHING, seen(crashed=CRASH)], [FORGED])
    assert found.verdict is Verdict.DISRUPTED
    assert found.text.endswith("station-subscriber ended with SIGSEGV")


def test_a_crash_that_took_the_records_along_claims_nothing_of_the_stream() -> None:
    nothing = Phase(sent=0, delivered=0)
    found = verdict(PUBLISH, [seen(crashed=CRASH, before=nothing, during=nothing, after=nothing)], [FORGED])
    assert (found.verdict, found.text, found.harm) == (
        Verdict.DISRUPTED,
        f"{RECORDS_LOST}; station-subscriber ended with SIGSEGV",
        {},
    )


def test_a_crash_in_one_repetition_is_told_beside_the_success_of_another() -> None:
    found = verdict(PUBLISH, [FORGED, seen(crashed=CRASH), seen(crashed=CRASH)], [])
    assert (found.verdict, found.text) == (
        Verdict.SUCCEEDED,
        "3 forged messages delivered; station-subscriber ended with SIGSEGV",
    )
