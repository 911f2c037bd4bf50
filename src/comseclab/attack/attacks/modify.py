"""Alter messages in flight."""

from typing import TYPE_CHECKING

from comseclab.attack.base import Attack, Outcome
from comseclab.attack.frame import Frame
from comseclab.attack.harm import integrity
from comseclab.attack.spec import Seen
from comseclab.protection.proof import sentinels

if TYPE_CHECKING:
    from comseclab.attack.scene import Scene

EVERY = 4
"""One message in so many is altered: if the others are lost too, the stream is."""


class Modify(Attack):
    name = "modify"
    title = (
        "Somebody on the path alters every fourth message, the sentinel where it is in clear and the middle else, and "
        "corrects the checksums."
    )
    success = "The subscriber is given a message whose bytes its writer did not send."
    stride = "Tampering"

    def act(self, scene: "Scene") -> None:
        text, binary = sentinels(scene.spec.trial.nonce)
        seen = 0

        def alter(frame: Frame) -> list[tuple[float, Frame]]:
            nonlocal seen
            seen += 1
            if seen % EVERY:
                return [(0.0, frame)]
            payload = bytearray(frame.payload)
            place = next((at for at in (payload.find(text), payload.find(binary)) if at >= 0), len(payload) // 2)
            for number in range(place, place + 4):
                payload[number] ^= 0x01
            return [(0.0, frame.with_payload(bytes(payload)))]

        scene.on_messages(alter)

    def judge(self, seen: Seen) -> Outcome:
        return integrity(seen, seen.altered, "altered message")


ATTACKS = (Modify(),)
