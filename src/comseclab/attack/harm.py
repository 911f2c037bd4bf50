"""Judgements that several attacks share. Pure."""

from comseclab.attack.base import Effect, Outcome
from comseclab.attack.spec import Phase, Seen

LOST_SHARE = 0.5
"""Of a phase's messages, and not touched by the attack: from here on the stream counts as lost."""
LATE_NS = 200_000_000
"""Median age from which messages count as late."""


def integrity(seen: Seen, accepted: int, what: str) -> Outcome:
    """Succeeded when the victim accepted a false message; else what became of the genuine ones."""
    if accepted:
        told = what if accepted == 1 else what.replace("message", "messages")
        return Outcome(Effect.SUCCEEDED, f"{accepted} {told} delivered", reached=True)
    return availability(seen, f"no {what} delivered")


def availability(seen: Seen, otherwise: str) -> Outcome:
    """For attacks that are not for harm: disrupted, or detected, when the genuine stream was lost; nothing otherwise.

    Messages that the attacker himself took off the path do not count.
    """
    untouched = max(0, _lost(seen.during) - seen.targeted)
    if not (_is_lost(seen.during, untouched) or _is_lost(seen.after, _lost(seen.after))):
        return Outcome(Effect.NOTHING, otherwise)
    text = f"{otherwise}; {lost(seen.during)} lost during the attack, {lost(seen.after)} after it"
    shares = {"lost_share_during": seen.during.lost_share, "lost_share_after": seen.after.lost_share}
    return Outcome(Effect.DETECTED if seen.told else Effect.DISRUPTED, _with_told(text, seen), shares)


def harmed(seen: Seen, text: str, harm: dict[str, float], *, reached: bool) -> Outcome:
    """For attacks of harm, which succeed only unnoticed.

    One that the stack tells the application of is detected: about most of them no stack can do more.
    """
    if not reached:
        return Outcome(Effect.NOTHING, text, harm)
    effect = Effect.DETECTED if seen.told else Effect.SUCCEEDED
    return Outcome(effect, _with_told(text, seen), harm, reached=True)


def lost(phase: Phase) -> str:
    """How many of a phase's messages were lost, in words."""
    return f"{_lost(phase)} of {phase.sent} messages"


def _lost(phase: Phase) -> int:
    return phase.sent - phase.delivered


def _is_lost(phase: Phase, count: int) -> bool:
    return phase.sent > 0 and count > LOST_SHARE * phase.sent


def _with_told(text: str, seen: Seen) -> str:
    return f"{text}; told: {seen.told[0]}" if seen.told else text
