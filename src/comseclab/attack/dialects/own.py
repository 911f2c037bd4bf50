"""Transports of the user's own: nothing is known of their messages but what the laboratory itself put into them."""

from functools import partial
from typing import TYPE_CHECKING

from comseclab.attack import forged
from comseclab.attack.dialect import NONE, OWN, Dialect, Prepared, Setting
from comseclab.attack.frame import UDP, Frame, udp_frame
from comseclab.middleware.base import Material
from comseclab.testbed.network import hardware_of
from comseclab.trial.spec import Factors

if TYPE_CHECKING:
    from comseclab.attack.scene import Scene

FORGED_MESSAGES = 10


class Own(Dialect):
    stacks = (OWN,)

    def refuse(self, attack: str, factors: Factors) -> str | None:
        if attack in ("insider-publish", "self-signed-permissions"):
            return "comseclab knows no rights of a transport of your own"
        if attack == "replay-resequenced":
            return "comseclab does not know how a transport of your own numbers its messages"
        if attack == "reflection":
            return "comseclab knows no message that a transport of your own answers to a third party"
        return super().refuse(attack, factors)

    def prepare(self, setting: Setting) -> Prepared:
        """A rogue has the same library, opened as without protection unless it holds the right."""
        spec, middleware = setting.spec, setting.middleware
        plain = spec.model_copy(update={"protection": NONE})
        rogues = {
            rogue: middleware.node_settings(spec if rogue.credentials == "permitted" else plain, place, Material())
            for rogue, place in setting.rogues.items()
        }
        return Prepared(middleware.prepare(spec, setting.places, setting.folder), rogues)

    def forge(self, scene: "Scene") -> None:
        """Send the writer's datagrams again, the attacker's nonce in the place of the trial's where that is in clear.

        And have the attacker's own node learn of the subscriber, by a copy of each datagram that goes to the writer.
        """
        for frame in scene.messages()[-FORGED_MESSAGES:]:
            payload = forged.with_nonce(frame.payload, scene.spec.trial.nonce, scene.spec.forged_nonce)
            if frame.protocol == UDP and payload != frame.payload:
                scene.inject_on_path(frame.with_payload(payload))
        scene.follow(partial(_introduce, scene))


def _introduce(scene: "Scene", frame: Frame) -> list[tuple[float, Frame]]:
    """A datagram from the subscriber to the writer also goes to the attacker, in the subscriber's name."""
    if (
        frame.protocol == UDP
        and frame.source[0] == scene.reader.address
        and frame.destination[0] == scene.writer.address
    ):
        hardware = hardware_of(scene.reader.address), hardware_of(scene.attacker.address)
        copy = udp_frame(hardware, frame.source, (scene.attacker.address, frame.destination[1]), frame.payload)
        scene.inject_on_path(Frame(frame.port, copy))
    return [(0.0, frame)]


DIALECT = Own()
