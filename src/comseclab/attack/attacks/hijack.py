"""Have a stack's own broker of names send the subscriber to the attacker."""

from typing import TYPE_CHECKING

from comseclab.attack.base import Attack, Outcome
from comseclab.attack.harm import integrity
from comseclab.attack.spec import Seen

if TYPE_CHECKING:
    from comseclab.attack.scene import Scene


class MasterHijack(Attack):
    name = "master-hijack"
    title = "A stranger replaces the genuine publisher at the master, which sends the subscriber to him."
    success = "The subscriber is given a message of the attacker's."
    stride = "Spoofing"

    def act(self, scene: "Scene") -> None:
        scene.dialect.hijack(scene)

    def judge(self, seen: Seen) -> Outcome:
        return integrity(seen, seen.forged, "forged message")


ATTACKS = (MasterHijack(),)
