"""A stranger who calls objects of Ice over TCP connections of its own: IceStorm's, and a subscriber's.

Ice 3.7: the side that accepts a connection speaks first, with a message ValidateConnection; the other waits for it.
A topic's object has the name `IceStorm/topic.<name>`, as the broker tells whoever asks.
"""

import socket
import ssl
import struct
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from comseclab.attack import icep, tcp
from comseclab.attack.icep import Identity, Reply
from comseclab.errors import LabError
from comseclab.protection import tls
from comseclab.testbed.network import FILES
from comseclab.trial.spec import ProtectionSpec

if TYPE_CHECKING:
    from comseclab.attack.scene import Scene

WAIT_S = 0.2
"""For what may never come, as a greeting from who waits for TLS: long beside a round trip, short beside an attack."""
ANSWER_S = 1.0
"""For what the other side owes whoever it lets in, and does not refuse: a connection, a handshake, a reply."""
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
    """Make calls at a port in each way a stranger can; the replies to the first way that is let in, or None.

    Raises LabError when nobody answers in time: that is no refusal.
    """
    for way, context in _ways(scene):
        try:
            with closing(_enter(scene, address, port, context)) as connection:
                replies = [_call(scene, connection, number, call) for number, call in enumerate(calls, 1)]
        except TimeoutError as error:
            raise LabError(f"{address}:{port} {way}: no answer in {ANSWER_S:g} s") from error
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
    """Send recorded bytes on a fresh connection, as they are, and wait a little for what becomes of them.

    Raises LabError when they could not be sent in time.
    """
    try:
        with closing(_enter(scene, address, port, None)) as connection:
            for content in recorded:
                scene.say(connection, content)
            scene.note(f"{len(recorded)} recorded messages sent to {address}:{port}")
            connection.settimeout(WAIT_S)
            with suppress(TimeoutError):
                while _receive(connection):
                    pass
    except TimeoutError as error:
        raise LabError(f"{address}:{port} takes nothing in {ANSWER_S:g} s") from error
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
    """A connection on which the other side has spoken first, or has kept silent.

    Raises OSError when it hangs up, TimeoutError when there is no connection or no end of the handshake in time.
    """
    connection = scene.connect(address, port, ANSWER_S)
    try:
        if context:
            connection = context.wrap_socket(connection)  # which closes the connection where it fails
        connection.settimeout(WAIT_S)
        with suppress(TimeoutError):
            if _receive(connection)[icep.KIND_AT] != icep.VALIDATE:
                raise OSError("it does not greet as Ice does")
        connection.settimeout(ANSWER_S)
    except BaseException:
        connection.close()
        raise
    return connection


def _call(scene: "Scene", connection: socket.socket, number: int, call: Call) -> Reply:
    made = icep.request(number, call.target, call.operation, call.parameters, idempotent=call.idempotent)
    scene.say(connection, made)
    while (received := _receive(connection))[icep.KIND_AT] == icep.VALIDATE:
        pass  # a greeting that comes late
    return icep.reply(received)


def _receive(connection: socket.socket) -> bytes:
    """The next message. Raises OSError when none comes and ValueError for what is none of Ice's."""
    header = tcp.exactly(connection, icep.HEADER_BYTES)
    if not header.startswith(icep.HEADER):
        raise ValueError(f"it answers {header[:5].hex()}, which is not Ice")
    (length,) = struct.unpack_from("<i", header, 10)
    if not icep.HEADER_BYTES <= length <= MOST_BYTES:
        raise ValueError(f"a message of {length} bytes")
    return header + tcp.exactly(connection, length - icep.HEADER_BYTES)
