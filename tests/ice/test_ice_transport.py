"""The Ice transport behind the C interface, over a real IceStorm: sizes, names, limits, refusals."""

from pathlib import Path
from typing import Any

import pytest

from comseclab.protection.wire import frames
from fastdds.lab import Capture
from fastdds.network import loopback, veth_pair
from ice.lab import brokered, node, trial_spec

LIMITED = {"message_size_max_kb": 1024}
NOWHERE: dict[str, Any] = {"broker_address": "127.0.0.1", "broker_port": 10000, "address": "127.0.0.1"}


@pytest.mark.parametrize(
    ("protection", "reliable", "size", "count"),
    [
        ("none", 1, 9000, 20),
        ("none", 0, 9_000_000, 5),
        ("mtls", 0, 900_000, 10),
        ("mtls", 1, 9_000_000, 5),
    ],
)
def test_messages_arrive_over_lo(tmp_path: Path, protection: str, reliable: int, size: int, count: int) -> None:
    with loopback() as namespace, brokered(namespace, tmp_path, trial_spec(protection, size=size)) as bed:
        outcome = bed.exchange(size=size, count=count, stream={"reliable": reliable})
    assert outcome.intact == list(range(count))
    assert outcome.published["statuses"] == [0] * count


@pytest.mark.parametrize(("protection", "size", "count"), [("none", 9_000_000, 5), ("mtls", 900_000, 10)])
def test_large_messages_arrive_over_a_wire(tmp_path: Path, protection: str, size: int, count: int) -> None:
    addresses, spec = ("10.9.0.1", "10.9.0.2"), trial_spec(protection, size=size)
    with veth_pair() as (left, right), brokered(left, tmp_path, spec, addresses) as bed:
        outcome = bed.exchange(right, size=size, count=count)
    assert outcome.intact == list(range(count))


@pytest.mark.parametrize(
    ("codec", "type_", "topic"),
    [
        ("cdr", "sensor_msgs/msg/LaserScan", b"/scan"),
        ("ros1", "sensor_msgs/msg/LaserScan", b"/scan/ros1"),
        ("opaque", "", b"/scan/opaque"),
    ],
)
def test_names_on_the_wire(tmp_path: Path, codec: str, type_: str, topic: bytes) -> None:
    with (
        loopback() as namespace,
        brokered(namespace, tmp_path, trial_spec("none")) as bed,
        Capture(namespace, "lo", tmp_path / "capture.pcapng") as capture,
    ):
        outcome = bed.exchange(stream={"codec": codec, "type": type_}, count=3)
    assert outcome.intact == [0, 1, 2]
    asked = [frame for frame in frames(capture.path) if b"\x08retrieve" in frame]
    assert asked
    # A string of the Ice protocol is its length and its characters; here it is a request's only parameter, so the last.
    assert all(frame.endswith(bytes([len(topic)]) + topic) for frame in asked)


@pytest.mark.parametrize("reliable", [0, 1])
def test_a_message_above_the_limit_is_lost_and_a_smaller_one_is_not(tmp_path: Path, reliable: int) -> None:
    stream = {"reliable": reliable, "max_size": 2_000_000}
    with loopback() as namespace, brokered(namespace, tmp_path, trial_spec("none", settings=LIMITED)) as bed:
        small = bed.exchange(size=1_000_000, count=3, stream=stream)
        reader = node(namespace, "subscribe", bed.reader, size=2_000_000, stream=stream)
        writer = node(namespace, "publish", bed.writer, size=2_000_000, count=3, stream=stream)
        writer.wait_sent()
        published, subscribed = writer.end(), reader.end()
    assert small.intact == [0, 1, 2]
    assert subscribed["matched"]
    assert published["matched"]
    assert subscribed["received"] == []
    assert published["statuses"] == [3, 3, 3] or not reliable
    assert "MemoryLimitException" in bed.log.read_text()
    texts = [event["text"] for event in published["events"] if event["kind"] == "rejected"]
    assert texts == ["IceStorm refuses messages above message_size_max_kb, 1024 kB; this stream's reach 2000000 bytes"]


def test_a_subscriber_that_was_killed_may_come_back(tmp_path: Path) -> None:
    with loopback() as namespace, brokered(namespace, tmp_path, trial_spec("none")) as bed:
        first = node(namespace, "subscribe", bed.reader)
        writer = node(namespace, "publish", bed.writer, count=0)
        writer.wait_matched()
        first.process.kill()
        first.process.communicate()
        writer.end()
        outcome = bed.exchange()
    assert outcome.intact == list(range(20))


def test_the_users_environment_does_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path / "hostile.conf"
    config.write_text("Ice.MessageSizeMax=1\nIce.Default.Protocol=ws\nIce.Override.Timeout=1\nIce.StdErr=/nowhere/x\n")
    with loopback() as namespace, brokered(namespace, tmp_path, trial_spec("none")) as bed:
        monkeypatch.setenv("ICE_CONFIG", str(config))
        outcome = bed.exchange()
    assert outcome.intact == list(range(20))


def test_without_a_broker_the_endpoint_and_the_remedy_are_named() -> None:
    with loopback() as namespace:
        error = node(namespace, "subscribe", NOWHERE).end()["error"]
    assert error == (
        "no IceStorm at tcp -h 127.0.0.1 -p 10000 (connection refused: Connection refused):"
        " start icebox with it there, or correct broker_address and broker_port"
    )


@pytest.mark.parametrize(
    ("settings", "cause"),
    [
        (NOWHERE | {"message_size": 9000}, 'unknown setting "message_size" for ice'),
        (NOWHERE | {"broker_port": "ten"}, "the settings for ice are not understood"),
        ({"address": "127.0.0.1"}, "ice needs the setting broker_address"),
        (NOWHERE | {"tls": {"identity_ca": "/nowhere.pem"}}, "identity_ca /nowhere.pem cannot be read"),
    ],
)
def test_wrong_settings_are_named(settings: dict[str, Any], cause: str) -> None:
    with loopback() as namespace:
        assert cause in node(namespace, "subscribe", settings).end()["error"]


def test_an_address_of_no_interface_is_an_error(tmp_path: Path) -> None:
    with loopback() as namespace, brokered(namespace, tmp_path, trial_spec("none")) as bed:
        error = node(namespace, "subscribe", bed.reader | {"address": "10.99.0.1"}).end()["error"]
    assert "Cannot assign requested address" in error
