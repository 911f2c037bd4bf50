"""Read the attacked topic without the right to."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from comseclab.attack.base import Attack, Effect, Outcome, Rogue
from comseclab.attack.harm import availability
from comseclab.attack.spec import Seen

if TYPE_CHECKING:
    from comseclab.attack.dialect import Dialect

READERS = {
    "none": "one without identity",
    "no-permission": "one without permission",
    "permitted": "one with permission",
}


class Subscribe(Attack):
    name = "subscribe-without-right"
    title = (
        "A node without identity subscribes to the topic; and one with a valid identity that has no right to read it, "
        "where the stack has rights."
    )
    success = "It is given a message of the genuine writer."
    stride = "Information disclosure"
    controls = ("plain", "permitted")

    def rogues(self, dialect: "Dialect", *, control: bool) -> Sequence[Rogue]:
        if control:
            return (Rogue("subscriber", "permitted"),)
        return Rogue("subscriber", "none"), Rogue("subscriber", "no-permission")

    def judge(self, seen: Seen) -> Outcome:
        if seen.rogue_received:
            readers = ", ".join(READERS[credentials] for credentials in seen.readers)
            return Outcome(Effect.SUCCEEDED, f"{seen.rogue_received} genuine messages received by {readers}")
        return availability(seen, "no message received")


ATTACKS = (Subscribe(),)
