"""A publisher on the attacker's host that is no node: it sends what it is given, recorded or forged.

TCPROS and UDPROS as roscpp speaks them (ROS 1 documentation, TCPROS; roscpp's transport_udp.h): a header of fields,
then messages, each after its length in four bytes. UDPROS cuts that into datagrams with a header of eight bytes.
"""

import struct
from collections.abc import Callable, Mapping, Sequence
from socket import SHUT_WR, socket
from typing import TYPE_CHECKING, Any
from xmlrpc.client import Binary

from comseclab.attack.dialects import ros1_graph as graph
from comseclab.attack.frame import udp_frame
from comseclab.testbed.network import hardware_of

if TYPE_CHECKING:
    from comseclab.attack.scene import Scene

UDPROS = struct.Struct("<IBBH")
"""Connection, operation, message, block; the block of the first datagram is their number."""
FIRST, FURTHER = 0, 1
CONNECTION, PORT = 7, 40_000
"""Of the attacker's own UDPROS stream."""
PATIENCE_S = 0.5
"""For what a peer that has connected owes."""


class Impostor:
    """Serves messages, their lengths before them, to every subscriber that is sent here, at the stream's rate."""

    def __init__(self, scene: "Scene", messages: Sequence[bytes]) -> None:
        self._scene, self._messages = scene, messages
        self._pause_s = 1 / scene.spec.trial.streams[0].rate_hz
        self._data = self._serve(self._publish)
        self.api = self._serve(lambda peer: graph.answer(scene, peer, {"requestTopic": self._request_topic}))

    def register(self, topic: graph.Topic) -> None:
        """Announce it at the master, which tells the subscribers."""
        graph.call(
            self._scene, topic.master, "registerPublisher", graph.CALLER, topic.name, topic.type, graph.uri(self.api)
        )
        self._scene.note(f"registered at the master as a publisher of {topic.name}")

    def _serve(self, talk: Callable[[socket], None]) -> graph.End:
        listener = self._scene.listen()

        def accept() -> None:
            while not self._scene.ended.is_set():
                try:
                    peer, _ = listener.accept()
                except TimeoutError:
                    continue
                except OSError:
                    return
                self._scene.apart(self._talk, talk, peer)

        self._scene.apart(accept)
        host, port = listener.getsockname()
        return host, port

    def _talk(self, talk: Callable[[socket], None], peer: socket) -> None:
        peer.settimeout(PATIENCE_S)
        try:
            with peer:
                talk(peer)
        except TimeoutError:
            raise
        except Exception as failure:  # a peer that talks nonsense ends its own connection only
            self._scene.note(f"a connection of the attacker's ended: {failure}")

    def _request_topic(self, caller: str, topic: str, protocols: list[list[Any]]) -> tuple[int, str, Any]:
        """How the subscriber gets the messages: by the first protocol it names."""
        self._scene.note(f"{caller} asks the attacker for {topic}")
        if protocols[0][0] == "TCPROS":
            return 1, "", ["TCPROS", *self._data]
        _, header, host, port, size = protocols[0]
        self._scene.apart(self._publish_datagrams, (host, port), size)
        own = Binary(_reply(header.data))
        return 1, "", ["UDPROS", self._scene.attacker.address, PORT, CONNECTION, size, own]

    def _publish(self, peer: socket) -> None:
        with peer.makefile("rb") as reader:
            (length,) = struct.unpack("<I", reader.read(4))
            reply = _reply(reader.read(length))
        self._scene.say(peer, struct.pack("<I", len(reply)) + reply)
        self._paced(lambda _, message: self._scene.say(peer, message))
        peer.shutdown(SHUT_WR)

    def _publish_datagrams(self, to: graph.End, size: int) -> None:
        scene = self._scene
        own = scene.attacker.address
        hardware = hardware_of(own), hardware_of(to[0])

        def send(number: int, message: bytes) -> None:
            for datagram in datagrams(message, CONNECTION, number % 256, size):
                scene.inject(udp_frame(hardware, (own, PORT), to, datagram))

        self._paced(send)

    def _paced(self, send: Callable[[int, bytes], None]) -> None:
        for number, message in enumerate(self._messages):
            if self._scene.ended.wait(self._pause_s):
                return
            send(number, message)


def datagrams(message: bytes, connection: int, number: int, size: int) -> list[bytes]:
    """A message, its length before it, in datagrams of up to `size` bytes."""
    step = size - UDPROS.size
    parts = [message[at : at + step] for at in range(0, len(message), step)]
    heads = [UDPROS.pack(connection, FURTHER if at else FIRST, number, at or len(parts)) for at in range(len(parts))]
    return [head + part for head, part in zip(heads, parts, strict=True)]


def _reply(header: bytes) -> bytes:
    """A publisher's header of fields to a subscriber's: the attacker says what the subscriber wants to hear."""
    asked = fields(header)
    wanted: dict[str, str] = {name: asked[name] for name in ("md5sum", "topic", "type") if name in asked}
    return header_of({"callerid": graph.CALLER, "latching": "0", "message_definition": "", **wanted})


def header_of(said: Mapping[str, str]) -> bytes:
    """A header of these fields, without the length that goes before it in TCPROS."""
    lines = [f"{name}={content}".encode() for name, content in said.items()]
    return b"".join(struct.pack("<I", len(line)) + line for line in lines)


def fields(header: bytes) -> dict[str, str]:
    """The fields of a header. Raises ValueError for what is none."""
    found: dict[str, str] = {}
    at = 0
    while at < len(header):
        length = int.from_bytes(header[at : at + 4], "little")
        if len(header) < at + 4 + length or not length:
            raise ValueError("a header of fields was cut off")
        name, _, content = header[at + 4 : at + 4 + length].decode().partition("=")
        found[name] = content
        at += 4 + length
    return found
