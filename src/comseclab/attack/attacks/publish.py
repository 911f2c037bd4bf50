"""Publish on the attacked topic without the right to."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from comseclab.attack.base import Attack, Credentials, Outcome, Rogue
from comseclab.attack.harm import integrity
from comseclab.attack.spec import Seen

if TYPE_CHECKING:
    from comseclab.attack.dialect import Dialect
    from comseclab.attack.scene import Scene


class ForgedPublish(Attack):
    name = "forged-publish"
    title = (
        "A stranger without identity publishes on the topic: a node of the stack, and messages in clear, whatever the "
        "protection. On DDS these are in the writer's name, with what the path shows of it; on Ice they go to the "
        "broker and to the subscriber's own port; on Zenoh to the subscriber's own port, in a session over plain TCP; "
        "on ROS 1, which lets everybody in, the node is all; of a transport of one's own they are recorded ones, "
        "altered where the path shows them in clear."
    )
    success = "The subscriber is given a message of the attacker's."
    stride = "Spoofing"

    def rogues(self, dialect: "Dialect", *, control: bool) -> Sequence[Rogue]:
        return (Rogue("publisher", "none"),)

    def act(self, scene: "Scene") -> None:
        scene.publish_as_rogue()
        scene.dialect.forge(scene)

    def tried(self, seen: Seen) -> bool:
        """Also messages in clear must have been tried: a node of the stack keeps to the protection that it meets."""
        return super().tried(seen) and seen.injected_frames > 0

    def judge(self, seen: Seen) -> Outcome:
        return integrity(seen, seen.forged, "forged message")


class InsiderPublish(Attack):
    """A node of the attacker's with a valid identity, and permissions that do not do."""

    success = "The subscriber is given a message of the attacker's."
    stride = "Elevation of privilege"
    controls = ("permitted",)

    def __init__(self, name: str, credentials: Credentials, title: str) -> None:
        self.name, self.title, self._credentials = name, title, credentials

    def rogues(self, dialect: "Dialect", *, control: bool) -> Sequence[Rogue]:
        return (Rogue("publisher", "permitted" if control else self._credentials),)

    def act(self, scene: "Scene") -> None:
        scene.publish_as_rogue()

    def judge(self, seen: Seen) -> Outcome:
        return integrity(seen, seen.forged, "message of the insider")


ATTACKS = (
    ForgedPublish(),
    InsiderPublish(
        "insider-publish",
        "no-permission",
        "A node with a valid identity publishes on a topic it has no right to write.",
    ),
    InsiderPublish(
        "self-signed-permissions",
        "self-signed",
        "A node with a valid identity publishes by permissions that it signed itself.",
    ),
)
