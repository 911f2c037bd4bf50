"""Speak on the writer's behalf."""

from dataclasses import replace
from typing import TYPE_CHECKING

from comseclab.attack.base import Attack, Effect, Outcome
from comseclab.attack.frame import Frame
from comseclab.attack.harm import availability
from comseclab.attack.spec import Seen
from comseclab.testbed.network import hardware_of

if TYPE_CHECKING:
    from comseclab.attack.scene import Scene

LEAST_SHARE = 0.5


class Relay(Attack):
    """Identity theft without a key: the receiver hears the writer's words from somebody else's place on the network."""

    name = "relay"
    title = (
        "Somebody on the path takes every message off it and sends it, unchanged, from the attacker's own port with "
        "the attacker's hardware address."
    )
    success = (
        f"The subscriber takes at least {LEAST_SHARE:.0%} of the messages sent meanwhile as the writer's, although the "
        "capture shows them reach it from the attacker; messages that came past the attacker do not count."
    )
    stride = "Spoofing"

    def act(self, scene: "Scene") -> None:
        attacker = scene.port_of(scene.attacker)
        address = bytes.fromhex(hardware_of(scene.attacker.address).replace(":", ""))

        def relay(frame: Frame) -> list[tuple[float, Frame]]:
            return [(0.0, replace(frame, port=attacker, raw=frame.raw[:6] + address + frame.raw[12:]))]

        scene.on_messages(relay)

    def judge(self, seen: Seen) -> Outcome:
        """What was not relayed has come past the attacker; a message takes as many frames as before the attack."""
        relayed = min(seen.relayed, seen.targeted) / seen.frames_a_message
        past = max(0, round(seen.during.sent - relayed))
        taken = max(0, seen.during.delivered - past)
        share = taken / seen.during.sent if seen.during.sent else 0.0
        text = f"{taken} of {seen.during.sent} messages taken from the attacker's port as the writer's"
        if taken and share >= LEAST_SHARE:
            return Outcome(Effect.SUCCEEDED, text, {"taken_share": share})
        return availability(seen, text)


ATTACKS = (Relay(),)
