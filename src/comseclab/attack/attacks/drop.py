"""Drop the genuine stream, hold it back."""

from typing import TYPE_CHECKING

from comseclab.attack.base import Attack, Outcome
from comseclab.attack.harm import LATE_NS, LOST_SHARE, harmed, lost
from comseclab.attack.spec import Seen

if TYPE_CHECKING:
    from comseclab.attack.scene import Scene

HELD_S = 0.4


class Drop(Attack):
    name = "drop"
    title = "Somebody on the path drops every frame that carries a message of the stream."
    success = (
        f"More than {LOST_SHARE:.0%} of the messages sent meanwhile never arrive, or arrive older than "
        f"{LATE_NS / 1e6:.0f} ms (median), and nothing tells the application; the harm is the share lost or late."
    )
    stride = "Denial of service"

    def act(self, scene: "Scene") -> None:
        scene.on_messages(lambda _: [])

    def judge(self, seen: Seen) -> Outcome:
        late = (seen.age_during_ns or 0) > LATE_NS
        share = 1.0 if late else seen.during.lost_share
        text = f"{lost(seen.during)} never arrived" + ("; the others were late" if late else "")
        return harmed(seen, text, {"lost_or_late_share": share}, reached=share > LOST_SHARE)


class Delay(Attack):
    name = "delay"
    title = f"Somebody on the path holds every frame of the stream for {HELD_S * 1e3:.0f} ms."
    success = (
        f"Messages sent meanwhile are delivered older than before by more than {LATE_NS / 1e6:.0f} ms (median), or "
        f"more than {LOST_SHARE:.0%} are not, and nothing tells the application; the harm is how much older, and the "
        "share lost."
    )
    stride = "Denial of service"

    def act(self, scene: "Scene") -> None:
        scene.on_messages(lambda frame: [(HELD_S, frame)])

    def judge(self, seen: Seen) -> Outcome:
        older_ns = (seen.age_during_ns or 0) - (seen.age_before_ns or 0) if seen.during.delivered else 0.0
        harm = {"older_ms": older_ns / 1e6, "lost_share": seen.during.lost_share}
        text = f"messages were {older_ns / 1e6:.0f} ms older, {lost(seen.during)} lost"
        return harmed(seen, text, harm, reached=older_ns > LATE_NS or seen.during.lost_share > LOST_SHARE)


ATTACKS = (Drop(), Delay())
