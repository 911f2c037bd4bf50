"""The Zenoh transport behind the C interface: sizes, keys, matching, congestion, refusals. Real nodes in namespaces."""

import ctypes as c
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import fastdds.peer
from comseclab.middleware.zenoh import MIDDLEWARE
from comseclab.protection.wire import frames
from fastdds.lab import PUBLISHER, SUBSCRIBER, Capture
from fastdds.network import loopback, veth_pair
from zenoh.lab import LIBRARY, Node, exchange, place, places, settings_of, trial_spec

pytestmark = pytest.mark.usefixtures("_built")

BIG = {"size": 9_000_000, "count": 18, "period_s": 0.055}
IMAGES = {"size": 900_000, "count": 30, "period_s": 0.03}


@pytest.mark.parametrize(
    ("level", "sizes"),
    [("none", BIG), ("mtls-acl", BIG), ("quic-mtls-acl", BIG), ("none", IMAGES)],
    ids=["none", "mtls-acl", "quic-mtls-acl", "images"],
)
def test_large_messages_arrive(tmp_path: Path, level: str, sizes: dict[str, Any]) -> None:
    writer, reader = settings_of(trial_spec(level), places(("10.9.0.1", "10.9.0.2")), tmp_path)
    with veth_pair() as (left, right):
        outcome = exchange((left, writer), (right, reader), **sizes)
    assert outcome.intact == list(range(sizes["count"]))
    assert outcome.subscribed["statistics"]["readers"]["0"]["put_together"] == sizes["count"]


@pytest.mark.parametrize("size", [1, 8, 65_000, 65_535, 66_000])
def test_any_size_arrives_as_sent(tmp_path: Path, size: int) -> None:
    writer, reader = settings_of(trial_spec("none"), places(), tmp_path)
    with loopback() as namespace:
        # The index is four bytes after the first four; a shorter message could not be told from others.
        outcome = exchange((namespace, writer), (namespace, reader), size=max(size, 8), count=3)
    assert outcome.intact == [0, 1, 2]
    assert all(received == max(size, 8) for _index, received, *_ in outcome.subscribed["received"])


@pytest.mark.parametrize(("codec", "key"), [("cdr", b"/scan"), ("ros1", b"/scan/ros1"), ("opaque", b"/scan/opaque")])
def test_keys_on_the_wire(tmp_path: Path, codec: str, key: bytes) -> None:
    writer, reader = settings_of(trial_spec("none", codec="ros1" if codec == "ros1" else "cdr"), places(), tmp_path)
    with loopback() as namespace, Capture(namespace, "lo", tmp_path / "capture.pcapng") as capture:
        outcome = exchange((namespace, writer), (namespace, reader), stream={"codec": codec})
    assert outcome.intact == list(range(20))
    said = b"".join(frames(capture.path))
    tokens = [f"@comseclab/{end}/0".encode() + key for end in (f"writer/{PUBLISHER}", f"reader/{SUBSCRIBER}")]
    assert all(token in said for token in tokens)
    assert (b"/scan/ros1" in said) == (codec == "ros1")
    assert (b"/scan/opaque" in said) == (codec == "opaque")


def test_codecs_do_not_meet(tmp_path: Path) -> None:
    writer, reader = settings_of(trial_spec("none"), places(), tmp_path)
    with loopback() as namespace, Node(namespace, "subscribe", reader, stream={"codec": "ros1"}, timeout_s=2) as other:
        with Node(namespace, "publish", writer, timeout_s=2) as node:
            assert node.end()["matched"] is False
        assert other.end()["received"] == []


def test_a_writer_counts_its_readers_as_they_come_and_go(tmp_path: Path) -> None:
    second = place("station-subscriber-2", "127.0.0.1", reads="/scan")
    writer, *readers = settings_of(trial_spec("none"), places(("127.0.0.1",) * 2, second), tmp_path)
    with (
        loopback() as namespace,
        Node(namespace, "subscribe", readers[0], count=5) as first,
        Node(namespace, "subscribe", readers[1], node="station-subscriber-2", count=10_000) as other,
        Node(namespace, "publish", writer, count=60, period_s=0.05) as node,
    ):
        node.wait_for("matched")
        first.process.wait()  # it closes when it has five
        other.process.kill()
        node.wait_for("sent")
        counts = [event["count"] for event in node.end()["events"]]
    assert max(counts) == 2
    assert counts[-1] == 0
    assert all(abs(after - before) == 1 for before, after in zip([0, *counts], counts, strict=False))


def flood(folder: Path, *, reliable: int) -> tuple[int, list[int]]:
    """Send 60 MB/s over a wire of 25 MB/s: how many messages, and the indices of those that arrived."""
    writer, reader = settings_of(trial_spec("none"), places(("10.9.0.1", "10.9.0.2")), folder)
    config = {"size": 600_000, "count": 60, "period_s": 0.01, "stream": {"reliable": reliable}}
    with veth_pair() as (left, right):
        shape = ["rate", "200mbit", "burst", "100kb", "limit", "400kb"]
        left.run("tc", "qdisc", "add", "dev", "wire", "root", "tbf", *shape)
        with Node(right, "subscribe", reader, **config) as receiver, Node(left, "publish", writer, **config) as sender:
            sender.wait_for("sent")
            received, sent = receiver.end(), sender.end()
    assert sent["statuses"] == [0] * 60
    return len(sent["statuses"]), [index for index, _size, intact, _sender in received["received"] if intact]


def test_under_overload_reliable_waits_and_best_effort_drops(tmp_path: Path) -> None:
    sent, arrived = flood(tmp_path / "reliable", reliable=1)
    assert arrived == list(range(sent))
    sent, arrived = flood(tmp_path / "best effort", reliable=0)
    assert 0 < len(arrived) < sent
    assert arrived == sorted(set(arrived))


@pytest.mark.parametrize("level", ["mtls", "quic"])
def test_closing_does_not_wait_for_a_reader_that_has_stopped(tmp_path: Path, level: str) -> None:
    writer, reader = settings_of(trial_spec(level), places(), tmp_path)
    config: dict[str, Any] = {"size": 1_000_000, "count": 9, "stream": {"reliable": 0}}
    with (
        loopback() as namespace,
        Node(namespace, "subscribe", reader, **config) as other,
        Node(namespace, "publish", writer, **config) as node,
    ):
        node.wait_for("matched")
        other.process.send_signal(signal.SIGSTOP)
        node.wait_for("sent")
        assert node.process.stdin is not None
        node.process.stdin.close()
        # Far below the ten seconds that Zenoh allows itself, far above what ours takes.
        assert node.process.wait(timeout=8) == 0


def test_a_session_can_follow_another(tmp_path: Path) -> None:
    """In one process, whose threads Zenoh keeps; and the process ends as it should."""
    writer, _ = settings_of(trial_spec("none"), places(), tmp_path)
    config = {"role": "publish", "settings": writer, "stream": {"topic": "/scan", "type": "", "max_size": 9}}
    program = f"""
import sys
sys.path.insert(0, {str(Path(str(fastdds.peer.__file__)).parent)!r})
from peer import Peer
for _ in range(2):
    peer = Peer({str(LIBRARY)!r}, {config!r})
    peer.open()
    peer.api.close(peer.transport)
"""
    with loopback() as namespace:
        subprocess.run(namespace.within([sys.executable, "-c", program]), check=True)


def test_the_users_environment_changes_nothing(tmp_path: Path) -> None:
    writer, reader = settings_of(trial_spec("none"), places(), tmp_path)
    theirs = tmp_path / "theirs.json5"
    theirs.write_text('{"mode": "client", "connect": {"endpoints": ["tcp/192.0.2.1:7447"]}}')
    environment = {"ZENOH_CONFIG": str(theirs), "RUST_LOG": "trace", "ZENOH_RUNTIME": "nonsense"}
    with (
        loopback() as namespace,
        Node(namespace, "subscribe", reader, environment=environment) as other,
        Node(namespace, "publish", writer, environment=environment) as node,
    ):
        node.wait_for("matched")  # which also finds nothing on standard output but the peer's own lines
        other.process.wait()
        assert len(other.end()["received"]) == 20
        assert node.end()["statuses"] == [0] * 20


def test_a_message_above_the_limit_is_refused(tmp_path: Path) -> None:
    settings, too_large = {"max_message_size": 200_000}, 2
    writer, reader = settings_of(trial_spec("none", settings=settings), places(), tmp_path)
    with loopback() as namespace:
        largest = exchange((namespace, writer), (namespace, reader), size=200_000, count=2)
    assert largest.intact == [0, 1]
    with (
        loopback() as namespace,
        Node(namespace, "subscribe", reader) as other,
        Node(namespace, "publish", writer, count=2, size=200_001) as node,
    ):
        node.wait_for("sent")
        assert node.end()["statuses"] == [too_large] * 2
        assert other.end()["received"] == []


def test_a_port_in_use_is_named(tmp_path: Path) -> None:
    writer, _ = settings_of(trial_spec("none"), places(), tmp_path)
    with (
        loopback() as namespace,
        Node(namespace, "publish", writer, timeout_s=2) as first,
        Node(namespace, "publish", writer, timeout_s=2) as second,
    ):
        (error,) = [error for node in (first, second) if (error := node.end().get("error"))]
    assert "127.0.0.1:7447" in error
    assert "Address already in use" in error
    assert ".rs" not in error


@pytest.mark.parametrize(
    ("settings", "cause"),
    [
        ({}, "settings: missing field `config`"),
        ({"config": "/nowhere.json", "express": True, "max_message_size": 9}, "/nowhere.json is no configuration of"),
        ({"config": "", "expres": True}, "settings: unknown field `expres`"),
    ],
)
def test_wrong_settings_are_named(settings: dict[str, Any], cause: str) -> None:
    with loopback() as namespace, Node(namespace, "subscribe", settings) as node:
        assert cause in node.end()["error"]


def test_an_unknown_key_of_zenoh_is_named(tmp_path: Path) -> None:
    writer, _ = settings_of(trial_spec("none"), places(), tmp_path)
    config = json.loads(Path(writer["config"]).read_text()) | {"modus": "peer"}
    Path(writer["config"]).write_text(json.dumps(config))
    with loopback() as namespace, Node(namespace, "publish", writer) as node:
        assert "modus" in node.end()["error"]


def test_the_interface_checks_what_it_is_given() -> None:
    entry = c.CDLL(str(LIBRARY)).comseclab_transport_entry
    entry.restype = c.POINTER(fastdds.peer.Api)
    api = entry().contents
    assert (api.name, api.version.decode()) == (b"zenoh", MIDDLEWARE.version())
    failed, error, handle = 3, fastdds.peer.Error(), c.c_void_p()
    short = fastdds.peer.Limits(struct_size=4)
    assert api.limits(c.byref(short)) == failed
    request = fastdds.peer.Open(8, None, None, fastdds.peer.OnEvent(), None)
    assert api.open(c.byref(request), c.byref(handle), c.byref(error)) == failed
    assert b"shorter than in ABI version 1" in error.text
    request = fastdds.peer.Open(c.sizeof(fastdds.peer.Open), b"node", b"\xff", fastdds.peer.OnEvent(), None)
    assert api.open(c.byref(request), c.byref(handle), c.byref(error)) == failed
    assert error.text == b"a string is not UTF-8"
    assert api.publish(None, b"x", 1, c.byref(error)) == failed
    assert error.text == b"a handle is missing"
