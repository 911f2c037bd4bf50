"""From trials under attack to verdicts. Pure.

Where several verdicts fit, *succeeded* wins, then *detected*, then *disrupted*, and last *stopped* or *not shown*:
within a trial an attack's own `judge` holds to that order, over the repetitions of a cell this module does. Attacks of
harm succeed only where nothing told the application, so that one that was noticed is *detected*; as positive control
it shows as much as one that was not. A victim that crashed, node or broker, stands in the cell's text, whatever the
verdict, and where the attack did nothing else the cell is *disrupted*.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from comseclab.attack.base import Attack, Effect, Outcome
from comseclab.attack.spec import AttackRecord, Seen


class Verdict(StrEnum):
    STOPPED = "stopped"
    SUCCEEDED = "succeeded"
    DETECTED = "detected"
    DISRUPTED = "disrupted"
    NOT_SHOWN = "not shown"
    NOT_APPLICABLE = "not applicable"
    INVALID = "invalid"


IDLE = "the attacker found nothing to act on"
RECORDS_LOST = "what was sent and delivered is not known"
ORDER = (Effect.SUCCEEDED, Effect.DETECTED, Effect.DISRUPTED, Effect.NOTHING)
"""Where repetitions differ, the first of these that any of them shows is the cell's."""


@dataclass(frozen=True)
class Judged:
    """A cell's verdict over its repetitions."""

    verdict: Verdict
    text: str
    harm: dict[str, float]
    succeeded: int
    repetitions: int
    control_succeeded: int
    race: bool
    """Repetitions differ."""


def judge(attack: Attack, trials: Sequence[AttackRecord], controls: Sequence[Sequence[AttackRecord]]) -> Judged:
    """The verdict of a cell from its trials and those of each of its controls.

    Without a valid trial it is invalid. An attack that did nothing was *stopped* only where every control of it
    succeeded at least once, and the attacker acted in every trial; otherwise it is *not shown*.
    """
    outcomes = _outcomes(attack, trials)
    shown = min((_successes(attack, trials_of) for trials_of in controls), default=0)
    if not outcomes:
        reasons = list(dict.fromkeys(reason for trial in trials for reason in trial.reasons))
        return Judged(Verdict.INVALID, "; ".join(reasons)[:500], {}, 0, 0, shown, race=False)
    worst = min(outcomes, key=lambda outcome: ORDER.index(outcome.effect))
    idle = worst.effect is Effect.NOTHING and not all(
        attack.tried(trial.seen) for trial in trials if trial.valid and trial.seen
    )
    return Judged(
        verdict=Verdict.NOT_SHOWN if idle else _verdict(worst, shown),
        text="; ".join([worst.text, *([IDLE] if idle else []), *_crashes(trials)]),
        harm=worst.harm,
        succeeded=sum(outcome.effect is Effect.SUCCEEDED for outcome in outcomes),
        repetitions=len(outcomes),
        control_succeeded=shown,
        race=len({outcome.effect for outcome in outcomes}) > 1,
    )


def _successes(attack: Attack, trials: Sequence[AttackRecord]) -> int:
    return sum(worked(outcome) for outcome in _outcomes(attack, trials))


def worked(outcome: Outcome) -> bool:
    """Whether a trial shows, as a positive control, that the attack works: noticed or not."""
    return outcome.effect is Effect.SUCCEEDED or outcome.reached


def _outcomes(attack: Attack, trials: Sequence[AttackRecord]) -> list[Outcome]:
    """Of the valid trials."""
    return [outcome_of(attack, trial.seen) for trial in trials if trial.valid and trial.seen]


def outcome_of(attack: Attack, seen: Seen) -> Outcome:
    """What a valid trial shows: as the attack judges it, but for a crash, which is never nothing."""
    outcome = attack.judge(seen)
    if not seen.crashed or outcome.effect is not Effect.NOTHING:
        return outcome
    if not seen.before.sent:
        return Outcome(Effect.DISRUPTED, RECORDS_LOST)
    return replace(outcome, effect=Effect.DISRUPTED)


def _crashes(trials: Sequence[AttackRecord]) -> list[str]:
    """How victims ended in any of the valid trials, each way once."""
    crashes = (trial.seen.crashed for trial in trials if trial.valid and trial.seen)
    return list(dict.fromkeys(f"{node} ended with {how}" for one in crashes for node, how in one.items()))


def _verdict(worst: Outcome, control_succeeded: int) -> Verdict:
    if worst.effect is Effect.NOTHING:
        return Verdict.STOPPED if control_succeeded else Verdict.NOT_SHOWN
    return Verdict(worst.effect.value)
