"""ROS 1's graph as anybody may use it: the master's and the nodes' APIs ask nobody who he is.

XML-RPC over HTTP; Master API and Slave API of the ROS 1 documentation. An answer is (code, text, value); 1 is success.
"""

from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from socket import socket
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from xml.parsers.expat import ExpatError
from xmlrpc.client import Error, dumps, loads

from comseclab.attack.frame import TCP
from comseclab.errors import LabError
from comseclab.middleware.ros1 import MASTER_PORT

if TYPE_CHECKING:
    from comseclab.attack.scene import Scene

CALLER = "/attacker"
"""The name under which the attacker calls; any will do."""
End = tuple[str, int]
Answer = Callable[..., tuple[int, str, Any]]


@dataclass(frozen=True)
class Topic:
    """The attacked topic as the master describes it, and the APIs of those at its two ends."""

    name: str
    type: str
    master: End
    publisher: str
    publisher_api: End
    subscriber_api: End


def learn(scene: "Scene") -> Topic:
    """Ask the master, found by its port on the path. Raises LabError when it does not know the topic."""
    attacked = scene.spec.trial.streams[0].topic
    master = next(
        (f.destination for f in list(scene.path.seen) if f.protocol == TCP and f.destination[1] == MASTER_PORT), None
    )
    if master is None:
        raise LabError("nobody spoke to a ROS master")
    publishers, subscribers, _ = call(scene, master, "getSystemState", CALLER)
    types = dict(call(scene, master, "getTopicTypes", CALLER))
    names = [name for name, _ in publishers if name == attacked or name.startswith(f"{attacked}/")]
    if not names:
        raise LabError(f"the ROS master knows no topic {attacked}")
    name = names[0]
    publisher, publisher_api = _node_at(scene, master, dict(publishers)[name], scene.writer.address)
    _, subscriber_api = _node_at(scene, master, dict(subscribers).get(name, []), scene.reader.address)
    return Topic(name, types[name], master, publisher, publisher_api, subscriber_api)


def _node_at(scene: "Scene", master: End, nodes: list[str], address: str) -> tuple[str, End]:
    """Which of these nodes runs at an address, and the port of its API."""
    for node in nodes:
        end = urlsplit(call(scene, master, "lookupNode", CALLER, node))
        if end.hostname == address and end.port:
            return node, (address, end.port)
    raise LabError(f"no node of the topic runs at {address}")


def uri(end: End) -> str:
    """How ROS 1 writes the address of an API."""
    return f"http://{end[0]}:{end[1]}/"


def call(scene: "Scene", end: End, method: str, *arguments: Any) -> Any:
    """Call the API of the master or a node, and return the value it answers. Raises LabError when it does not."""
    body = dumps(arguments, method).encode()
    host = f"Host: {end[0]}:{end[1]}"
    try:
        with scene.connect(*end) as connection:
            scene.say(connection, _http("POST / HTTP/1.1", body, host))
            response = HTTPResponse(connection)
            response.begin()
            answered: Any = loads(response.read())[0]
            code, text, value = answered[0]
    except (OSError, HTTPException, Error, ExpatError, ValueError, IndexError) as failure:
        raise LabError(f"{method} at {end[0]}:{end[1]} was not answered: {failure}") from failure
    if code != 1:
        raise LabError(f"{method} at {end[0]}:{end[1]} was refused: {text}")
    return value


def answer(scene: "Scene", connection: socket, methods: dict[str, Answer]) -> None:
    """Answer one call that comes in on a connection, as a node does. Raises on what is no call."""
    with connection.makefile("rb") as reader:
        length = 0
        while (line := reader.readline(1000)).strip():
            field, _, content = line.partition(b":")
            if field.lower() == b"content-length":
                length = int(content)
        arguments, method = loads(reader.read(length))
    answers = methods[method](*arguments) if method in methods else (-1, f"no method {method}", 0)
    body = dumps((answers,), methodresponse=True).encode()
    scene.say(connection, _http("HTTP/1.1 200 OK", body))


def _http(first: str, body: bytes, *fields: str) -> bytes:
    head = (first, *fields, "Content-Type: text/xml", f"Content-Length: {len(body)}", "", "")
    return "\r\n".join(head).encode() + body
