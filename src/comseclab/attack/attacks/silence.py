"""Silence a subscriber with one forged control message."""

from typing import TYPE_CHECKING

from comseclab.attack.base import Attack, Outcome
from comseclab.attack.dialect import dialects
from comseclab.attack.harm import LOST_SHARE, harmed, lost
from comseclab.attack.spec import Phase, Seen

if TYPE_CHECKING:
    from comseclab.attack.scene import Scene


class Silence(Attack):
    success = (
        f"After one forged message, sent up to three times, the subscriber gets less than {1 - LOST_SHARE:.0%} of the "
        "messages sent from then on, and nothing tells its application; the harm is the share lost."
    )
    stride = "Denial of service"

    def __init__(self, message: str, what: str) -> None:
        self.name, self.message = f"silence-{message}", message
        self.title = f"A stranger sends the subscriber one forged control message in the writer's name: {what}."

    def act(self, scene: "Scene") -> None:
        scene.dialect.silence(scene, self.message)

    def judge(self, seen: Seen) -> Outcome:
        rest = Phase(
            sent=seen.during.sent + seen.after.sent,
            delivered=seen.during.delivered + seen.after.delivered,
        )
        share = rest.lost_share
        text = f"{lost(rest)} lost from then on"
        return harmed(seen, text, {"lost_share": share}, reached=share > LOST_SHARE)


def _find() -> tuple[Silence, ...]:
    """One attack for each message that any stack knows; stacks may know one of the same name in forms of their own."""
    forms: dict[str, list[str]] = {}
    for dialect in dict.fromkeys(dialects().values()):
        for message, what in dialect.silences.items():
            known = forms.setdefault(message, [])
            if what not in known:
                known.append(what)
    return tuple(Silence(message, "; or ".join(known)) for message, known in forms.items())


ATTACKS = _find()
