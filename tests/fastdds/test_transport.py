"""The Fast DDS transport behind the C interface: sizes, codecs, refusals, events. Real nodes in namespaces."""

import os
import signal
import socket
from pathlib import Path
from typing import Any

import pytest

from comseclab.middleware.base import Place
from comseclab.middleware.fastdds import MIDDLEWARE
from comseclab.protection import dds
from comseclab.protection.wire import frames
from comseclab.trial.spec import ProtectionSpec
from fastdds.lab import Capture, Node, Run, exchange, places, settings_of, trial_spec
from fastdds.network import loopback, veth_pair

pytestmark = pytest.mark.usefixtures("_built")

PLAIN: dict[str, Any] = {"addresses": ["127.0.0.1"]}
RELIABLE = {"stream": {"reliable": 1}}


def prepared(level: str, folder: Path, where: tuple[Place, Place] | None = None) -> list[dict[str, Any]]:
    where, spec = where or places(), trial_spec(level)
    return settings_of(spec, MIDDLEWARE.prepare(spec, where, folder), where)


@pytest.mark.parametrize("level", ["none", "sros2-default"])
@pytest.mark.parametrize(("size", "count"), [(900_000, 30), (9_000_000, 6)])
def test_large_messages_arrive_over_lo(tmp_path: Path, size: int, count: int, level: str) -> None:
    spec = trial_spec(level, size=size)
    writer, reader = settings_of(spec, MIDDLEWARE.prepare(spec, places(), tmp_path), places())
    with loopback() as namespace:
        outcome = exchange((namespace, writer), (namespace, reader), size=size, count=count, period_s=0.05, **RELIABLE)
    assert outcome.intact == list(range(count))
    assert outcome.published["statuses"] == [0] * count


@pytest.mark.parametrize(("size", "count"), [(900_000, 30), (9_000_000, 6)])
def test_large_messages_arrive_over_a_wire(tmp_path: Path, size: int, count: int) -> None:
    where, spec = places(("10.9.0.1", "10.9.0.2")), trial_spec("none", size=size)
    writer, reader = settings_of(spec, MIDDLEWARE.prepare(spec, where, tmp_path), where)
    with veth_pair() as (left, right):
        outcome = exchange((left, writer), (right, reader), size=size, count=count, period_s=0.05, **RELIABLE)
    assert outcome.intact == list(range(count))


def test_best_effort_9_mb_arrives_where_buffers_can_be_raised(tmp_path: Path) -> None:
    if not may_force_buffers():
        pytest.skip("the kernel's limit on socket buffers holds for all but root")
    spec = trial_spec("none", size=9_000_000)
    writer, reader = settings_of(spec, MIDDLEWARE.prepare(spec, places(), tmp_path), places())
    with loopback() as namespace:
        outcome = exchange((namespace, writer), (namespace, reader), size=9_000_000, count=6, period_s=0.1)
    assert outcome.intact == list(range(6))
    assert outcome.subscribed["statistics"]["receive_buffer"] >= 18_000_000


def may_force_buffers() -> bool:
    so_rcvbufforce = 33  # socket(7)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.setsockopt(socket.SOL_SOCKET, so_rcvbufforce, 18_000_000)
        except PermissionError:
            return False
    return True


@pytest.mark.parametrize(
    ("codec", "type_", "topic", "name"),
    [
        ("cdr", "sensor_msgs/msg/LaserScan", b"rt/scan\0", b"sensor_msgs::msg::dds_::LaserScan_\0"),
        ("ros1", "sensor_msgs/msg/LaserScan", b"rt/scan/ros1\0", b"comseclab::msg::dds_::Octets_\0"),
        ("opaque", "", b"rt/scan/opaque\0", b"comseclab::msg::dds_::Octets_\0"),
    ],
)
def test_names_on_the_wire(tmp_path: Path, codec: str, type_: str, topic: bytes, name: bytes) -> None:
    with loopback() as namespace, Capture(namespace, "lo", tmp_path / "capture.pcapng") as capture:
        stream = {"codec": codec, "type": type_}
        outcome = exchange((namespace, PLAIN), (namespace, PLAIN), stream=stream)
    assert outcome.intact == list(range(20))
    endpoints = [frame for frame in frames(capture.path) if name in frame]
    assert endpoints
    assert all(topic in frame for frame in endpoints)


@pytest.mark.parametrize("level", ["none", "payload-sign", "payload-encrypt", "metadata-sign"])
@pytest.mark.parametrize("codec", ["cdr", "ros1"])
@pytest.mark.parametrize("size", [9000, 9001, 9002, 9003])
def test_any_size_arrives_as_sent(tmp_path: Path, codec: str, level: str, size: int) -> None:
    spec = trial_spec(level, codec=codec)
    writer, reader = settings_of(spec, MIDDLEWARE.prepare(spec, places(), tmp_path), places())
    with loopback() as namespace:
        outcome = exchange((namespace, writer), (namespace, reader), stream={"codec": codec}, size=size, count=2)
    assert outcome.intact == [0, 1]


@pytest.mark.parametrize("codec", ["cdr", "ros1"])
def test_permissions_cover_the_topics_of_the_codec(tmp_path: Path, codec: str) -> None:
    spec = trial_spec("sros2-default", codec=codec)
    writer, reader = settings_of(spec, MIDDLEWARE.prepare(spec, places(), tmp_path), places())
    with loopback() as namespace:
        outcome = exchange((namespace, writer), (namespace, reader), stream={"codec": codec})
    assert outcome.intact == list(range(20))


def test_another_authority_never_matches(tmp_path: Path, runs: dict[str, Run]) -> None:
    assert runs["auth"].outcome.intact, "the control: with one authority it matches"
    ours, _ = prepared("auth", tmp_path / "ours")
    _, theirs = prepared("auth", tmp_path / "theirs")
    with loopback() as namespace:
        outcome = exchange((namespace, ours), (namespace, theirs), timeout_s=5.0)
    assert outcome.published["matched"] is False
    assert outcome.subscribed["received"] == []
    # The one that answers the handshake sees the other's certificate first; which one that is, chance decides.
    refusals = [end["statistics"]["participants_refused"] for end in (outcome.published, outcome.subscribed)]
    assert sum(refusals) > 0
    events = outcome.published["events"] + outcome.subscribed["events"]
    assert {event["text"] for event in events} == {"a participant failed authentication"}


def test_a_plain_node_never_matches_a_secured_one(tmp_path: Path) -> None:
    _, secured = prepared("auth", tmp_path)
    with loopback() as namespace:
        outcome = exchange((namespace, PLAIN), (namespace, secured), timeout_s=4.0)
    assert outcome.published["matched"] is False
    assert outcome.subscribed["received"] == []


@pytest.mark.parametrize("without", ["write", "read"])
def test_without_permission_there_is_no_endpoint(tmp_path: Path, without: str) -> None:
    topic = frozenset({"rt/scan"})
    other, none = frozenset({"rt/other"}), frozenset[str]()
    participants = [
        dds.Participant("robot-publisher", "robot", other if without == "write" else topic, none),
        dds.Participant("station-subscriber", "station", none, other if without == "read" else topic),
    ]
    spec = trial_spec("auth")
    material = dds.prepare(ProtectionSpec(name="auth", base="auth"), participants, 0, tmp_path)
    writer, reader = settings_of(spec, material, places())
    with loopback() as namespace:
        outcome = exchange((namespace, writer), (namespace, reader), timeout_s=4.0)
    refused = outcome.published if without == "write" else outcome.subscribed
    alone = outcome.subscribed if without == "write" else outcome.published
    assert refused["error"].startswith("no " + {"write": "writer", "read": "reader"}[without] + " for rt/scan")
    assert alone["matched"] is False


def test_reliabilities_that_do_not_fit_are_reported() -> None:
    with loopback() as namespace:
        outcome = exchange((namespace, PLAIN), (namespace, PLAIN), subscriber_config=RELIABLE, timeout_s=4.0)
    assert outcome.published["matched"] is False
    texts = {event["text"] for event in outcome.subscribed["events"]}
    assert texts == {"the other end's reliability does not fit"}


def test_a_full_reliable_history_pushes_back() -> None:
    # 64 MiB at most: room for the least number of samples, four.
    stream = {"reliable": 1, "max_size": 64 << 20, "rate_hz": 1.0}
    with loopback() as namespace:
        reader = Node(namespace, "subscribe", PLAIN, stream=stream, count=40, timeout_s=60.0)
        writer = Node(namespace, "publish", PLAIN | {"publish_timeout_ms": 50}, stream=stream, count=40, period_s=0.1)
        writer.wait_matched()
        os.kill(child_of(reader), signal.SIGSTOP)
        writer.wait_sent()
        os.kill(child_of(reader), signal.SIGCONT)
        received, sent = reader.end(), writer.end()
    assert 1 in sent["statuses"]
    taken = [index for index, status in enumerate(sent["statuses"]) if status == 0]
    assert [message[0] for message in received["received"]] == taken


def child_of(node: Node) -> int:
    """nsenter executes the program in its own place, so that its process is the node's."""
    return node.process.pid


@pytest.mark.parametrize(
    ("settings", "cause"),
    [
        ({"max_mesage_size": 9000}, 'unknown setting "max_mesage_size" for fastdds'),
        ({"publish_mode": "later"}, 'publish_mode is synchronous or asynchronous, not "later"'),
        ({"qos_profile": "/nowhere.xml"}, "qos_profile /nowhere.xml cannot be read"),
        ({"domain": "one"}, "the settings for fastdds are not understood"),
        ({"security": {"identity_ca": "/nowhere.pem"}}, "identity_ca /nowhere.pem cannot be read"),
    ],
)
def test_wrong_settings_are_named(settings: dict[str, Any], cause: str) -> None:
    with loopback() as namespace:
        assert cause in Node(namespace, "subscribe", settings).end()["error"]


def test_an_address_of_no_interface_is_an_error() -> None:
    with loopback() as namespace:
        error = Node(namespace, "subscribe", {"addresses": ["10.99.0.1"]}).end()["error"]
    assert "no interface of the addresses given" in error


def test_altered_governance_is_refused_with_a_reason(tmp_path: Path) -> None:
    _, reader = prepared("sros2-default", tmp_path)
    governance = Path(reader["security"]["governance"])
    governance.write_text(governance.read_text().replace("ENCRYPT", "NONE", 1))
    with loopback() as namespace:
        error = Node(namespace, "subscribe", reader).end()["error"]
    assert error.startswith("Fast DDS made no participant: ")
    assert len(error) > len("Fast DDS made no participant: ")


def test_the_users_profile_decides_on_qos(tmp_path: Path) -> None:
    profile = tmp_path / "profile.xml"
    deadline = "<qos><deadline><period><sec>0</sec><nanosec>100000000</nanosec></period></deadline></qos>"
    profile.write_text(
        '<profiles xmlns="http://www.eprosima.com/XMLSchemas/fastRTPS_Profiles">'
        f'<data_reader profile_name="/scan">{deadline}</data_reader>'
        f'<data_writer profile_name="any" is_default_profile="true">{deadline}</data_writer></profiles>'
    )
    settings = PLAIN | {"qos_profile": str(profile)}
    with loopback() as namespace:
        outcome = exchange((namespace, settings), (namespace, settings), count=3, period_s=0.5)
    assert len(outcome.subscribed["received"]) == 3
    assert outcome.subscribed["statistics"]["readers"]["0"]["deadlines_missed"] > 0
    assert outcome.published["statistics"]["writers"]["0"]["deadlines_missed"] > 0


def test_a_broken_profile_is_refused(tmp_path: Path) -> None:
    profile = tmp_path / "profile.xml"
    profile.write_text("<profiles><data_reader>")
    with loopback() as namespace:
        error = Node(namespace, "subscribe", PLAIN | {"qos_profile": str(profile)}).end()["error"]
    assert f"the QoS profile {profile} is refused" in error


def test_the_claimed_sender_is_the_writers_guid(runs: dict[str, Run]) -> None:
    received = runs["none"].outcome.subscribed["received"]
    senders = {sender for _index, _size, _intact, sender in received}
    assert len(senders) == 1
    assert senders.pop().endswith("00000103")
