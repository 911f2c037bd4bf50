"""The Cyclone DDS transport behind the C interface: sizes, codecs, refusals, events. Real nodes in namespaces."""

import datetime
import os
import signal
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes

from comseclab.middleware.base import Material, Place
from comseclab.middleware.cyclonedds import MIDDLEWARE
from comseclab.protection import dds, documents
from comseclab.protection.authority import write_certificate
from comseclab.protection.keystore import load_certificate, load_key
from comseclab.protection.levels import LEVELS
from comseclab.protection.wire import frames
from comseclab.trial.spec import ProtectionSpec
from fastdds import lab
from fastdds.lab import Capture, Node, Run, places, settings_of
from fastdds.network import loopback, veth_pair

pytestmark = pytest.mark.usefixtures("_built")

STACK = MIDDLEWARE.name
exchange = partial(lab.exchange, stacks=(STACK, STACK))
trial_spec = partial(lab.trial_spec, stack=STACK)
RELIABLE = {"stream": {"reliable": 1}}


def prepared(
    level: str, folder: Path, where: tuple[Place, Place] | None = None, **of_spec: Any
) -> list[dict[str, Any]]:
    where, spec = where or places(), trial_spec(level, **of_spec)
    return settings_of(spec, MIDDLEWARE.prepare(spec, where, folder), where)


def plain(**settings: Any) -> dict[str, Any]:
    return MIDDLEWARE.node_settings(trial_spec("none", settings=settings), places()[0], Material())


@pytest.mark.parametrize("level", ["none", "all-encrypt"])
def test_reliable_9_mb_arrive_over_lo(tmp_path: Path, level: str) -> None:
    writer, reader = prepared(level, tmp_path, size=9_000_000)
    with loopback() as namespace:
        outcome = exchange(
            (namespace, writer), (namespace, reader), size=9_000_000, count=12, period_s=0.05, **RELIABLE
        )
    assert outcome.intact == list(range(12))
    assert outcome.published["statuses"] == [0] * 12


@pytest.mark.parametrize("size", [900_000, 9_000_000])
def test_large_messages_arrive_over_a_wire(tmp_path: Path, size: int) -> None:
    writer, reader = prepared("sros2-default", tmp_path, places(("10.9.0.1", "10.9.0.2")), size=size)
    with veth_pair() as (left, right):
        outcome = exchange((left, writer), (right, reader), size=size, count=6, period_s=0.05, **RELIABLE)
    assert outcome.intact == list(range(6))


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
        outcome = exchange((namespace, plain()), (namespace, plain()), stream={"codec": codec, "type": type_})
    assert outcome.intact == list(range(20))
    endpoints = [frame for frame in frames(capture.path) if name in frame]
    assert endpoints
    assert all(topic in frame for frame in endpoints)


@pytest.mark.parametrize("level", ["none", "payload-sign", "all-encrypt"])
@pytest.mark.parametrize("codec", ["cdr", "ros1"])
@pytest.mark.parametrize("size", [9001, 9002, 9003])
def test_any_size_arrives_as_sent(tmp_path: Path, codec: str, level: str, size: int) -> None:
    writer, reader = prepared(level, tmp_path, codec=codec)
    with loopback() as namespace:
        outcome = exchange((namespace, writer), (namespace, reader), stream={"codec": codec}, size=size, count=2)
    assert outcome.intact == [0, 1]
    assert [message[1] for message in outcome.subscribed["received"]] == [size, size]


def test_another_authority_never_matches_and_the_reason_is_told(tmp_path: Path, runs: dict[str, Run]) -> None:
    assert runs["auth"].outcome.intact, "the control: with one authority it matches"
    ours, _ = prepared("auth", tmp_path / "ours")
    _, theirs = prepared("auth", tmp_path / "theirs")
    with loopback() as namespace:
        outcome = exchange((namespace, ours), (namespace, theirs), timeout_s=4.0)
    assert outcome.published["matched"] is False
    assert outcome.subscribed["received"] == []
    # The one that answers the handshake sees the other's certificate first; which one that is, chance decides.
    ends = (outcome.published, outcome.subscribed)
    assert sum(end["statistics"]["refused"] for end in ends) > 0
    events = [event for end in ends for event in end["events"]]
    assert {event["kind"] for event in events} == {"rejected"}
    assert any("certificate signature failure" in event["text"] for event in events)


def test_a_plain_node_never_matches_a_secured_one(tmp_path: Path) -> None:
    _, secured = prepared("auth", tmp_path)
    with loopback() as namespace:
        outcome = exchange((namespace, plain()), (namespace, secured), timeout_s=3.0)
    assert outcome.published["matched"] is False
    assert outcome.subscribed["received"] == []


@pytest.mark.parametrize("without", ["write", "read"])
def test_without_permission_there_is_no_endpoint(tmp_path: Path, without: str) -> None:
    topic, other, none = frozenset({"rt/scan"}), frozenset({"rt/other"}), frozenset[str]()
    participants = [
        dds.Participant(lab.PUBLISHER, "robot", other if without == "write" else topic, none),
        dds.Participant(lab.SUBSCRIBER, "station", none, other if without == "read" else topic),
    ]
    material = dds.prepare(ProtectionSpec(name="auth", base="auth"), participants, 0, tmp_path)
    writer, reader = settings_of(trial_spec("auth"), material, places())
    with loopback() as namespace:
        outcome = exchange((namespace, writer), (namespace, reader), timeout_s=2.0)
    refused = outcome.published if without == "write" else outcome.subscribed
    alone = outcome.subscribed if without == "write" else outcome.published
    assert "rt/scan denied by default rule" in refused["error"]
    assert alone["matched"] is False


def test_reliabilities_that_do_not_fit_are_reported() -> None:
    with loopback() as namespace:
        outcome = exchange((namespace, plain()), (namespace, plain()), subscriber_config=RELIABLE, timeout_s=2.0)
    assert outcome.published["matched"] is False
    events = outcome.published["events"] + outcome.subscribed["events"]
    assert {event["text"] for event in events} == {"the other end's reliability does not fit"}


def test_a_full_reliable_history_pushes_back() -> None:
    stream = {"reliable": 1, "max_size": 1 << 20, "rate_hz": 1.0}
    settings = plain(history_size=64 << 10, publish_timeout_ms=50)
    with loopback() as namespace:
        reader = Node(namespace, "subscribe", settings, stack=STACK, stream=stream, count=40, timeout_s=60.0)
        writer = Node(namespace, "publish", settings, stack=STACK, stream=stream, count=40, period_s=0.1)
        writer.wait_matched()
        os.kill(reader.process.pid, signal.SIGSTOP)  # nsenter executes the program in its own place
        writer.wait_sent()
        os.kill(reader.process.pid, signal.SIGCONT)
        received, sent = reader.end(), writer.end()
    assert 1 in sent["statuses"]
    taken = [index for index, status in enumerate(sent["statuses"]) if status == 0]
    assert [message[0] for message in received["received"]] == taken


@pytest.mark.parametrize(
    ("settings", "cause"),
    [
        ({"max_mesage_size": 9000}, 'unknown setting "max_mesage_size" for cyclonedds'),
        ({"domain": "one"}, "the settings for cyclonedds are not understood"),
        ({"configuration": ["<CycloneDDS><Domain><Generel/></Domain></CycloneDDS>"]}, "Generel: unknown element"),
        ({"configuration": ["<CycloneDDS><Dom"]}, "did not accept its configuration: config:"),
    ],
)
def test_wrong_settings_are_named(settings: dict[str, Any], cause: str) -> None:
    with loopback() as namespace:
        assert cause in Node(namespace, "subscribe", settings, stack=STACK).end()["error"]


def test_an_address_of_no_interface_is_an_error() -> None:
    elsewhere = places(("10.99.0.1", "10.99.0.1"))[0]
    settings = MIDDLEWARE.node_settings(trial_spec("none"), elsewhere, Material())
    with loopback() as namespace:
        error = Node(namespace, "subscribe", settings, stack=STACK).end()["error"]
    assert "10.99.0.1: does not match an available interface" in error


@pytest.mark.parametrize(
    ("document", "before", "after", "cause"),
    [
        ("governance", "ENCRYPT", "NONE", "signature failure"),
        ("permissions", "rt/scan", "rt/scam", "signature failure"),
        ("certificate", "BEGIN", "START", ""),
    ],
)
def test_altered_documents_are_refused_with_a_reason(
    tmp_path: Path, document: str, before: str, after: str, cause: str
) -> None:
    spec = trial_spec("sros2-default")
    material = MIDDLEWARE.prepare(spec, places(), tmp_path)
    altered = material.files[lab.SUBSCRIBER][document]
    altered.write_text(altered.read_text().replace(before, after, 1))
    _, reader = settings_of(spec, material, places())
    with loopback() as namespace:
        error = Node(namespace, "subscribe", reader, stack=STACK).end()["error"]
    start = "Cyclone DDS made no participant: "
    assert error.startswith(start)
    assert cause in error
    assert len(error) > len(start)
    assert "\n" not in error


def test_the_users_configuration_is_used(tmp_path: Path) -> None:
    users = tmp_path / "mine.xml"
    users.write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n<CycloneDDS xmlns="https://cdds.io/config"><Domain Id="any"><General>'
        "<MaxMessageSize>4000B</MaxMessageSize></General></Domain></CycloneDDS>"
    )
    settings = plain(configuration=str(users))
    with loopback() as namespace, Capture(namespace, "lo", tmp_path / "capture.pcapng") as capture:
        outcome = exchange((namespace, settings), (namespace, settings))
    assert outcome.intact == list(range(20))
    assert 3000 < max(len(frame) for frame in frames(capture.path)) < 4100


@pytest.mark.parametrize(
    ("settings", "hint"),
    [
        ({"max_mesage_size": 1400}, 'did you mean "max_message_size"?'),
        ({"history_size": 0}, "history_size is a whole number from 1024"),
        ({"configuration": "/nowhere.xml"}, "configuration is a well-formed XML file"),
        ({"configuration": __file__}, "configuration is a well-formed XML file"),
        ({"history_depth": 10, "publish_timeout_ms": 0}, None),
    ],
)
def test_settings_are_refused_when_the_plan_is_read(settings: dict[str, object], hint: str | None) -> None:
    answer = MIDDLEWARE.refuse(trial_spec("none").factors, settings)
    assert (answer is None) if hint is None else (answer is not None and hint in answer)


def test_an_expired_certificate_is_named(tmp_path: Path) -> None:
    spec = trial_spec("auth")
    material = MIDDLEWARE.prepare(spec, places(), tmp_path)
    certificate = material.files[lab.SUBSCRIBER]["certificate"]
    valid = load_certificate(certificate)
    then = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=1)
    builder = x509.CertificateBuilder(valid.issuer, valid.subject, valid.public_key(), valid.serial_number)
    expired = builder.not_valid_before(then - datetime.timedelta(days=1)).not_valid_after(then)
    authority = load_key(tmp_path / "keystore" / "private" / "ca.key.pem")
    write_certificate(certificate, expired.sign(authority, hashes.SHA256()))
    _, reader = settings_of(spec, material, places())
    with loopback() as namespace:
        error = Node(namespace, "subscribe", reader, stack=STACK).end()["error"]
    assert "certificate has expired" in error


def test_documents_of_the_users_own_are_used(tmp_path: Path) -> None:
    governance, permissions = tmp_path / "governance.xml", tmp_path / "robot.xml"
    governance.write_text(documents.governance(LEVELS["payload-sign"], 0))
    permissions.write_text(documents.permissions("CN=arm,O=X", ["rt/scan"], [], 0))
    own = ProtectionSpec(name="mine", base="payload-sign", governance=governance, permissions={"robot": permissions})
    spec = trial_spec(own)
    writer, reader = settings_of(spec, MIDDLEWARE.prepare(spec, places(), tmp_path / "trial"), places())
    with loopback() as namespace:
        outcome = exchange((namespace, writer), (namespace, reader))
    assert outcome.intact == list(range(20))
