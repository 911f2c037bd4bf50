"""Send recorded messages again."""

from typing import TYPE_CHECKING

from comseclab.attack.base import Attack, Outcome
from comseclab.attack.harm import integrity
from comseclab.attack.spec import Phase, Seen

if TYPE_CHECKING:
    from comseclab.attack.scene import Scene


class Replay(Attack):
    success = "A message is delivered a second time."
    stride = "Spoofing"

    def __init__(self, name: str, title: str, *, resequenced: bool) -> None:
        self.name, self.title, self._resequenced = name, title, resequenced

    def act(self, scene: "Scene") -> None:
        scene.dialect.replay(scene, resequenced=self._resequenced)

    def judge(self, seen: Seen) -> Outcome:
        return integrity(seen, seen.repeated, "old message")


class ReplayRestarted(Attack):
    name = "replay-restarted"
    title = "The subscriber is restarted; messages recorded before are sent to it again, addressed to its new self."
    success = "A message sent before the restart is delivered after it."
    stride = "Spoofing"
    lasts_s = 1.7  # secured nodes need most of a second to find each other again

    def act(self, scene: "Scene") -> None:
        scene.dialect.before_restart(scene)
        scene.restart_subscriber()
        scene.dialect.replay(scene, resequenced=True)

    def judge(self, seen: Seen) -> Outcome:
        """What is lost while the subscriber is away is no harm of the attacker's."""
        back = seen.model_copy(update={"during": Phase(sent=0, delivered=0)})
        return integrity(back, seen.stale, "old message")


ATTACKS = (
    Replay("replay", "Recorded messages are sent again, byte by byte.", resequenced=False),
    Replay("replay-resequenced", "Recorded messages are sent again, numbered so that they look new.", resequenced=True),
    ReplayRestarted(),
)
