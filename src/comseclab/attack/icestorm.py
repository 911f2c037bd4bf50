"""A stranger who calls objects of Ice over TCP connections of its own: IceStorm's, and a subscriber's.

Ice 3.7: the side that accepts a connection speaks first, with a message ValidateConnection; the other waits for it.
A topic's object has the name `IceStorm/topic.<name>`, as the broker tells whoever asks.
"""

import socket
import ssl
import struct
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from comseclab.attack import icep, tcp
from comseclab.attack.icep import Identity, Reply
from comseclab.protection import tls
from comseclab.testbed.network import FILES
from comseclab.trial.spec import ProtectionSpec

if TYPE_CHECKING:
    from comseclab.attack.scene import Scene

WAIT_S = 0.2
"""For an answer: long beside a round trip, short beside an attack."""
MOST_BYTES = 1 << 20


@dataclass(frozen=True)
class Call:
    """One operation on an object, with its encoded parameters."""

    target: Identity
    operation: str
    parameters: bytes = b""
    idempotent: bool = False


def topic(scene: "Scene") -> Identity:
    """The attacked topic, as the administrator's object of it is called."""
    stream, codec = (
        scene.spec.trial.streams[0],
        scene.spec.trial.factors.codec if scene.spec.trial.streams[0].type else "opaque",
    )
    name = stream.topic if codec == "cdr" else f"{stream.topic}/{codec}"
    return Identity(f"topic.{name}", "IceStorm")


def ask(scene: "Scene", address: str, port: int, calls: Sequence[Call]) -> list[Reply] | None:
    """Make calls at a port in each way a stranger can; the replies to the first way that is let in, or None."""
    for way, context in _ways(scene):
        try:
            with closing(_enter(scene, address, port, context)) as connection:
                replies = [_call(scene, connection, number, call) for number, call in enumerate(calls, 1)]
        except (OSError, ValueError) as error:
            scene.note(f"{address}:{port} {way}: refused ({error})")
            continue
        answers = ", ".join(f"{call.operation}: {one.status}" for call, one in zip(calls, replies, strict=True))
        scene.note(f"{address}:{port} {way}: {answers}")
        return replies
    return None


def publisher(replies: Sequence[Reply] | None) -> Identity | None:
    """Whom the broker says to publish to, when it was asked for the topic's publisher; None where it does not say."""
    if replies and replies[0].status == "ok":
        return icep.take_identity(replies[0].results)[0]
    return None


def resend(scene: "Scene", address: str, port: int, recorded: Sequence[bytes]) -> None:
    """Send recorded bytes on a fresh connection, as they are, and wait for what becomes of them."""
    try:
        with closing(_enter(scene, address, port, None)) as connection:
            for content in recorded:
                scene.say(connection, content)
            scene.note(f"{len(recorded)} recorded messages sent to {address}:{port}")
            while _receive(connection):
                pass
    except (OSError, ValueError) as error:
        scene.note(f"recorded messages to {address}:{port}: {error}")


def _ways(scene: "Scene") -> Iterator[tuple[str, ssl.SSLContext | None]]:
    """In clear; where the stack speaks TLS also without a certificate, and with one of an authority of one's own."""
    yield "in clear", None
    if scene.spec.trial.protection.base == "none":
        return
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    yield "by TLS without a certificate", context
    party = tls.Party("outsider", scene.attacker.name, scene.attacker.address)
    own = ProtectionSpec(name="mtls", base="mtls")
    files = tls.prepare(own, [party], FILES / "outsider").files[party.name]
    context.load_cert_chain(files["certificate"], files["key"])
    yield "by TLS with a certificate of its own authority", context


def _enter(scene: "Scene", address: str, port: int, context: ssl.SSLContext | None) -> socket.socket:
    """A connection on which the other side has spoken first, or has kept silent. Raises OSError when it hangs up."""
    connection = scene.connect(address, port, WAIT_S)
    try:
        if context:
            connection = context.wrap_socket(connection)
        greeting = _receive(connection)
    except TimeoutError:
        return connection
    except BaseException:
        connection.close()
        raise
    if greeting[8] != icep.VALIDATE:
        connection.close()
        raise OSError("it does not greet as Ice does")
    return connection


def _call(scene: "Scene", connection: socket.socket, number: int, call: Call) -> Reply:
    made = icep.request(number, call.target, call.operation, call.parameters, idempotent=call.idempotent)
    scene.say(connection, made)
    return icep.reply(_receive(connection))


def _receive(connection: socket.socket) -> bytes:
    """The next message. Raises OSError when none comes and ValueError for what is none of Ice's."""
    header = tcp.exactly(connection, icep.HEADER_BYTES)
    if not header.startswith(icep.HEADER):
        raise ValueError(f"it answers {header[:5].hex()}, which is not Ice")
    (length,) = struct.unpack_from("<i", header, 10)
    if not icep.HEADER_BYTES <= length <= MOST_BYTES:
        raise ValueError(f"a message of {length} bytes")
    return header + tcp.exactly(connection, length - icep.HEADER_BYTES)
