"""The node's codecs against those of rosbags, by the bytes on the wire."""

import time
from contextlib import closing
from typing import Any

import numpy as np
import pytest

from comseclab.results.samples import RECEIPT, read_records
from comseclab.workload.types import standard_type
from node import messages
from node.lab import NONCE, TIMEOUT_S, Lab, Peer, spool, stream, wait_for

KINDS = ["scan", "twist", "tf", "joints", "cloud", "odometry", "battery"]
WRITER = 0 * 1000 + 0
"""Stream 0, round 0."""


def marked(message: Any, index: int) -> Any:
    """The message with the node's identity, as docs/formats.md says."""
    first = message.transforms[0] if hasattr(message, "transforms") else message
    if hasattr(first, "header"):
        first.header = messages.header(f"comseclab:{NONCE}", index, WRITER)
    else:
        head = b"comsecl\0" + bytes.fromhex(NONCE) + index.to_bytes(4, "little") + WRITER.to_bytes(4, "little")
        message.linear.x, message.linear.y, message.linear.z = np.frombuffer(head)
    return message


def encoded(message: Any, codec: str) -> bytes:
    body = messages.cdr(message)
    return body if codec == "cdr" else bytes(messages.STORE.cdr_to_ros1(body, message.__msgtype__))


def made(kind: str, count: int = 5) -> list[Any]:
    generator = np.random.default_rng(11)
    return [getattr(messages, kind)(generator) for _ in range(count)]


@pytest.fixture(params=["cdr", "ros1"])
def codec(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("kind", KINDS)
def test_a_publisher_sends_what_rosbags_would(lab: Lab, kind: str, codec: str) -> None:
    given = made(kind)
    name = given[0].__msgtype__
    lab.types |= standard_type(name).description
    one = stream(spool(lab.folder, name, [messages.cdr(message) for message in given]), codec=codec)
    with closing(Peer(lab, one)) as peer:
        program = lab.start(lab.config("writer", "publisher", [one]))
        try:
            wait_for([program], "ready")
            peer.hello("/topic0")
            wait_for([program], "matched")
            program.send({"command": "start", "round": 0, "at_ns": time.monotonic_ns()})
            for index, message in enumerate(given):
                assert peer.receive("/topic0") == encoded(marked(message, index), codec)
        finally:
            assert program.end(TIMEOUT_S) == 0


@pytest.mark.parametrize("kind", KINDS)
def test_an_echo_returns_the_same_bytes(lab: Lab, kind: str, codec: str) -> None:
    given = [marked(message, index) for index, message in enumerate(made(kind))]
    name = given[0].__msgtype__
    lab.types |= standard_type(name).description
    one = stream(spool(lab.folder, name, [messages.cdr(message) for message in given]), codec=codec)
    with closing(Peer(lab, one)) as peer:
        program = lab.start(lab.config("mirror", "echo", [one]))
        try:
            wait_for([program], "ready")
            peer.hello("/topic0/echo")
            wait_for([program], "matched")
            for message in given:
                peer.send("/topic0", encoded(message, codec))
                assert peer.receive("/topic0/echo") == encoded(message, codec)
        finally:
            assert program.end(TIMEOUT_S) == 0


def test_a_reader_survives_damaged_bytes(lab: Lab, codec: str) -> None:
    """Each message is recorded: as genuine, foreign or undecodable, whatever was done to it."""
    (message,) = made("cloud", 1)
    name = message.__msgtype__
    lab.types |= standard_type(name).description
    one = stream(spool(lab.folder, name, [messages.cdr(message)]), codec=codec)
    body = encoded(marked(message, 0), codec)
    generator = np.random.default_rng(3)
    with closing(Peer(lab, one)) as peer:
        program = lab.start(lab.config("reader", "subscriber", [one]))
        try:
            wait_for([program], "ready")
            for _ in range(300):
                damaged = np.frombuffer(body, np.uint8).copy()
                damaged[generator.integers(0, len(body), 4)] = generator.integers(0, 256, 4)
                peer.send("/topic0", damaged[: generator.integers(0, len(body) + 1)].tobytes())
            peer.send("/topic0", body)
            time.sleep(0.2)
        finally:
            assert program.end(TIMEOUT_S) == 0
    receipts = read_records(lab.records("reader") / "receipts.bin", RECEIPT)
    assert len(receipts) == 301
    assert receipts["flags"][-1] == 0
    assert (receipts["flags"] & 2).astype(bool).sum() > 200
    (closed,) = program.of("closed")
    assert closed["decode_failed"] == (receipts["flags"] & 2).astype(bool).sum()
