"""The ROS 1 transport behind the C interface: sizes, types, limits, refusals. Real ends on a real roscore."""

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from fastdds.lab import Node
from fastdds.network import loopback, veth_pair
from ros1 import lab
from ros1.lab import Master

BEST_EFFORT: dict[str, Any] = {"reliable": 0}
RMEM_DEFAULT = int(Path("/proc/sys/net/core/rmem_default").read_text())
UNKNOWN = {"codec": "ros1", "type": "lab_msgs/msg/Unknown"}


@pytest.mark.parametrize(("size", "count"), [(9_000, 20), (900_000, 20), (9_000_000, 4)])
def test_tcpros_carries_any_size_over_lo(master: Master, size: int, count: int) -> None:
    outcome = master.exchange(f"/lo{size}", size=size, count=count, period_s=0.03)
    assert outcome.intact == list(range(count))
    assert outcome.published["statuses"] == [0] * count


def test_messages_arrive_over_a_wire(tmp_path: Path) -> None:
    with veth_pair() as (left, right), lab.master(left, tmp_path, "10.9.0.1") as master:
        there = (right, master.settings("10.9.0.2"))
        cloud = master.exchange("/cloud", subscriber=there, size=9_000_000, count=4, period_s=0.1)
        scan = master.exchange("/scan", subscriber=there, stream=BEST_EFFORT, period_s=0.02)
    assert cloud.intact == list(range(4))
    assert scan.intact == list(range(20))


@pytest.mark.parametrize("size", [1488, 1489])
def test_udpros_arrives_as_sent_around_a_datagrams_size(master: Master, size: int) -> None:
    outcome = master.exchange(f"/udp{size}", stream=BEST_EFFORT, size=size, sentinel="", count=10)
    assert outcome.intact == list(range(10))


@pytest.mark.skipif(RMEM_DEFAULT != 212_992, reason="the kernel's default for socket buffers is another")
@pytest.mark.parametrize(("size", "arrives"), [(135_000, True), (150_000, False)])
def test_udpros_waits_for_its_reader_as_long_as_the_sockets_buffer_lasts(
    master: Master, size: int, arrives: bool
) -> None:
    given: dict[str, Any] = {"stream": BEST_EFFORT | {"max_size": size}, "size": size, "count": 1}
    reader = master.peer("subscribe", f"/burst{size}", **given)
    writer = master.peer("publish", f"/burst{size}", **given)
    writer.wait_matched()
    os.kill(reader.process.pid, signal.SIGSTOP)
    writer.wait_sent()
    time.sleep(0.2)  # roscpp's own thread sends
    os.kill(reader.process.pid, signal.SIGCONT)
    assert len(reader.end()["received"]) == arrives
    writer.end()


@pytest.mark.parametrize(
    ("stream", "topic"),
    [
        ({"codec": "cdr"}, "/names/cdr"),
        (UNKNOWN, "/names/ros1"),
    ],
)
def test_other_bytes_go_as_octets_on_a_topic_of_their_own(master: Master, stream: dict[str, Any], topic: str) -> None:
    outcome = master.exchange("/names", stream=stream, count=3)
    assert outcome.intact == [0, 1, 2]
    about = outcome.published["statistics"]["writers"]["0"]
    assert (about["topic"], about["type"]) == (topic, "comseclab/Octets")


def test_another_type_of_the_same_topic_never_matches(master: Master) -> None:
    settings = master.settings()
    settings["types"] = {name: known | {"md5sum": "0" * 32} for name, known in settings["types"].items()}
    outcome = master.exchange("/typed", subscriber=(master.namespace, settings), stream={"codec": "ros1"},
                              timeout_s=2.0)  # fmt: skip
    assert outcome.published["matched"] is False
    assert outcome.subscribed["received"] == []


def test_ends_count_each_other_as_they_come_and_go(master: Master) -> None:
    reader = master.peer("subscribe", "/come", count=1)
    writer = master.peer("publish", "/come", count=1)
    writer.wait_sent()
    received = reader.end()
    counts = [event["count"] for event in writer.end()["events"] if event["kind"] == "matched"]
    assert [message[0] for message in received["received"]] == [0]
    assert counts[0] == 1
    assert counts[-1] == 0, "the subscriber that closed is still counted"


def test_senders_are_told_apart_by_their_names(master: Master) -> None:
    def sender(name: str) -> str:
        with_name = {"subscriber_config": {"node": "subscriber"}, "node": name}
        settings = (master.namespace, master.settings())
        outcome = lab.lab.exchange(settings, settings, stacks=("ros1", "ros1"), count=3,
                                   stream={"topic": f"/{name}", "reliable": 1}, **with_name)  # fmt: skip
        senders = {message[3] for message in outcome.subscribed["received"]}
        assert len(senders) == 1
        return senders.pop()

    one, other = sender("one"), sender("a_much_longer_name_than_fits")
    assert one != other
    assert "0" * 32 not in (one, other)


def test_tcpros_goes_on_without_its_master(tmp_path: Path) -> None:
    with loopback() as namespace, lab.master(namespace, tmp_path) as master:
        reader = master.peer("subscribe", "/alone", count=60)
        writer = master.peer("publish", "/alone", count=60, period_s=0.02)
        writer.wait_matched()
        master.process.kill()
        writer.wait_sent()
        received = reader.end()["received"]
        ended = writer.end()
    assert [message[0] for message in received] == list(range(60))
    assert ended["statuses"] == [0] * 60


def test_the_queue_takes_what_its_setting_says_and_is_bounded_in_bytes(master: Master) -> None:
    def size(max_size: int, **settings: Any) -> int:
        stream = {"topic": f"/queue{max_size}", "reliable": 1, "max_size": max_size}
        writer = Node(master.namespace, "publish", master.settings(**settings), stack="ros1", stream=stream,
                      timeout_s=0.0)  # fmt: skip
        return int(writer.end()["statistics"]["writers"]["0"]["queue_size"])

    assert size(9_000) == 100
    assert size(9_000_000) == 29
    assert size(9_000, queue_size=1) == 1


def error(settings: dict[str, Any], **config: Any) -> str:
    with loopback() as namespace:
        return str(Node(namespace, "publish", settings, stack="ros1", **config).end()["error"])


def test_no_master_is_told_in_a_line() -> None:
    told = error({"master": "127.0.0.1", "master_port": 11311, "address": "127.0.0.1"})
    assert told == "no ROS master answers at http://127.0.0.1:11311: start roscore there"


@pytest.mark.parametrize(
    ("settings", "cause"),
    [
        ({"queue_sise": 1}, 'unknown setting "queue_sise" for ros1'),
        ({"queue_size": "many"}, "the settings for ros1 are not understood"),
        ({"master": "robot"}, "master is an IPv4 address, not robot"),
    ],
)
def test_wrong_settings_are_named(settings: dict[str, Any], cause: str) -> None:
    assert cause in error(settings)


def test_what_udpros_cannot_number_is_refused(master: Master) -> None:
    stream = {"topic": "/beyond", "reliable": 0, "max_size": 100_000_000}
    refused = Node(master.namespace, "publish", master.settings(), stack="ros1", stream=stream).end()["error"]
    assert refused == (
        "/beyond has messages of 100000000 bytes, and UDPROS carries 97778212: send smaller ones, or raise"
        " max_datagram_size"
    )
