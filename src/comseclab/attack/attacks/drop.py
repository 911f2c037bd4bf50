"""Drop the genuine stream, hold it back."""

from typing import TYPE_CHECKING

from comseclab.attack.base import Attack, Effect, Outcome
from comseclab.attack.spec import Seen

if TYPE_CHECKING:
    from comseclab.attack.scene import Scene

HELD_S = 0.4
BOUND_NS = 200_000_000
LOST_BOUND = 0.5


class Drop(Attack):
    name = "drop"
    title = "Somebody on the path drops every frame that carries a message of the stream."
    success = f"More than {LOST_BOUND:.0%} of the messages sent meanwhile never arrive, or arrive only after {BOUND_NS / 1e6:.0f} ms; the harm is that share."
    stride = "Denial of service"

    def act(self, scene: "Scene") -> None:
        scene.on_messages(lambda frame: [])

    def judge(self, seen: Seen) -> Outcome:
        late = (seen.age_during_ns or 0) > BOUND_NS
        share = 1.0 if late else seen.during.lost_share
        harm = {"lost_or_late_share": share}
        if share <= LOST_BOUND:
            return Outcome(Effect.NOTHING, "the stream went on", harm)
        effect = Effect.DETECTED if seen.told else Effect.SUCCEEDED
        lost = f"{seen.during.sent - seen.during.delivered} of {seen.during.sent} messages never arrived"
        return Outcome(effect, lost + ("; the others were late" if late else ""), harm)


class Delay(Attack):
    name = "delay"
    title = f"Somebody on the path holds every frame of the stream for {HELD_S * 1e3:.0f} ms."
    success = f"Messages delivered meanwhile are older by more than {BOUND_NS / 1e6:.0f} ms (median), or do not arrive; the harm is their age."
    stride = "Denial of service"

    def act(self, scene: "Scene") -> None:
        scene.on_messages(lambda frame: [(HELD_S, frame)])

    def judge(self, seen: Seen) -> Outcome:
        older_ns = (seen.age_during_ns or 0) - (seen.age_before_ns or 0)
        harm = {"older_ms": older_ns / 1e6, "lost_share": seen.during.lost_share}
        if older_ns <= BOUND_NS and seen.during.lost_share <= LOST_BOUND:
            return Outcome(Effect.NOTHING, f"messages were {older_ns / 1e6:.0f} ms older", harm)
        text = f"messages were {older_ns / 1e6:.0f} ms older, {seen.during.sent - seen.during.delivered} of {seen.during.sent} lost"
        return Outcome(Effect.DETECTED if seen.told else Effect.SUCCEEDED, text, harm)


ATTACKS = (Drop(), Delay())
