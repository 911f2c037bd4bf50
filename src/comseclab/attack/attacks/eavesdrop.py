"""Listen at the link."""

from comseclab.attack.base import Attack, Effect, Outcome
from comseclab.attack.spec import Seen


class Eavesdrop(Attack):
    name = "eavesdrop"
    title = "Somebody on the path records all frames and searches them for the payload and for names."
    success = (
        "The payload's sentinel stands in a frame in clear. Names, identities and permissions in clear are told beside."
    )
    stride = "Information disclosure"

    def tried(self, seen: Seen) -> bool:
        return seen.captured > 0

    def judge(self, seen: Seen) -> Outcome:
        others = ", ".join(what for what in seen.leaked if what != "payload")
        beside = f"; in clear: {others}" if others else ""
        if "payload" in seen.leaked:
            return Outcome(Effect.SUCCEEDED, f"the payload was read{beside}")
        return Outcome(Effect.NOTHING, f"the payload was not found{beside}")


ATTACKS = (Eavesdrop(),)
