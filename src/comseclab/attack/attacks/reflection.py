"""Have a victim send to somebody who never asked."""

from typing import TYPE_CHECKING

from comseclab.attack.base import Attack, Effect, Outcome
from comseclab.attack.harm import availability
from comseclab.attack.spec import Seen

if TYPE_CHECKING:
    from comseclab.attack.scene import Scene


class Reflection(Attack):
    name = "reflection"
    title = "A stranger sends one message that has a victim send to a third party, a bystander that has asked nobody."
    success = (
        "While the attack lasts, the victims send the bystander more bytes in frames of UDP and TCP than the "
        "attacker's host sends in all, asking and connecting; the harm is how many times more."
    )
    stride = "Denial of service"

    def act(self, scene: "Scene") -> None:
        scene.dialect.reflect(scene)

    def judge(self, seen: Seen) -> Outcome:
        if not seen.bytes_in:
            return availability(seen, "no message could be sent")
        factor = seen.bytes_out / seen.bytes_in
        text = f"{seen.bytes_out} bytes to the bystander for {seen.bytes_in} of the attacker's"
        if factor > 1:
            return Outcome(Effect.SUCCEEDED, text, {"amplification": factor})
        return availability(seen, text)


ATTACKS = (Reflection(),)
