"""Judgements that several attacks share. Pure."""

from comseclab.attack.base import Effect, Outcome
from comseclab.attack.spec import Phase, Seen

LOST_SHARE = 0.5
"""Of the messages sent during the attack, and not touched by it: from here on the stream counts as lost."""


def integrity(seen: Seen, accepted: int, what: str) -> Outcome:
    """Succeeded when the victim accepted a false message; else what became of the genuine ones."""
    if accepted:
        return Outcome(Effect.SUCCEEDED, f"{accepted} {what}{'s' if accepted > 1 else ''} delivered")
    return availability(seen, f"no {what} delivered")


def availability(seen: Seen, otherwise: str) -> Outcome:
    """Detected or disrupted when the genuine stream was lost, nothing when it was not."""
    untouched = max(0, seen.during.sent - seen.during.delivered - seen.targeted)
    crashed = ", ".join(f"{node} ended with {how}" for node, how in seen.crashed.items())
    if not (lost(seen.during, untouched) or lost(seen.after, seen.after.sent - seen.after.delivered) or crashed):
        return Outcome(Effect.NOTHING, otherwise)
    numbers = f"{_lost(seen.during)} messages lost during the attack, {_lost(seen.after)} after it"
    harm = {"lost_share_during": seen.during.lost_share, "lost_share_after": seen.after.lost_share}
    text = "; ".join(part for part in (otherwise, numbers, crashed) if part)
    return Outcome(Effect.DETECTED if seen.told else Effect.DISRUPTED, text, harm)


def harmed(seen: Seen, text: str, harm: dict[str, float], *, reached: bool) -> Outcome:
    """For attacks of harm. One that the stack tells the application of is detected: more no stack can do about most."""
    if not reached:
        return Outcome(Effect.NOTHING, text, harm)
    return Outcome(Effect.DETECTED if seen.told else Effect.SUCCEEDED, text, harm, reached=True)


def lost(phase: Phase, count: int) -> bool:
    """Whether so many messages of a phase make the stream lost."""
    return phase.sent > 0 and count > LOST_SHARE * phase.sent


def _lost(phase: Phase) -> str:
    return f"{phase.sent - phase.delivered} of {phase.sent}"
