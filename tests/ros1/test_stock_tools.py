"""What our node publishes is what ROS 1's own programs on the same master read, and the other way round."""

import csv
import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rosbags.rosbag1 import Reader
from rosbags.typesys import Stores, get_typestore

from comseclab.middleware.ros1 import definition
from comseclab.testbed.program import Program
from comseclab.workload.types import standard_type
from fastdds.lab import library
from node import lab as nodes
from node import messages
from ros1.lab import READY_S, Master, system_python

SCANS = [messages.scan(np.random.default_rng(seed)) for seed in range(5)]
NOETIC = get_typestore(Stores.ROS1_NOETIC)
STOCK_MD5 = """
import importlib, json, sys
def md5sum(name):
    package, _, kind = name.split("/")
    return getattr(importlib.import_module(package + ".msg"), kind)._md5sum
print(json.dumps({name: md5sum(name) for name in sys.argv[1:]}))
"""


class Publisher:
    """Our node with SCANS on a topic."""

    def __init__(self, master: Master, folder: Path, topic: str) -> None:
        spool = nodes.spool(folder, SCANS[0].__msgtype__, [messages.cdr(scan) for scan in SCANS], rate_hz=20)
        shared = nodes.Lab(folder, library("ros1"), nodes.calibration(), 0, spool.types)
        config = shared.config("robot-publisher", "publisher", [
            nodes.stream(spool, codec="ros1") | {"topic": topic, "reliable": True}
        ])  # fmt: skip
        config["transports"] = [{"library": str(library("ros1")), "settings": master.settings()}]
        path = folder / "node.json"
        path.write_text(json.dumps(config))
        command = master.namespace.within([str(nodes.PROGRAM), str(path)])
        self.program = Program("robot-publisher", command, folder / "node.log")

    def publish(self, subscribers: int) -> None:
        """Send everything once so many have subscribed."""
        nodes.wait_for([self.program], "ready")
        count = {"event": "matched", "stream": 0, "count": subscribers}

        def matched() -> bool:
            return any(event | count == event for event in self.program.of("matched"))

        assert nodes.wait_until([self.program], matched, READY_S), "the tools did not subscribe"
        self.program.send({"command": "start", "round": 0, "at_ns": time.monotonic_ns() + 50_000_000})
        nodes.wait_for([self.program], "finished")

    def end(self) -> None:
        assert self.program.end(READY_S) == 0


def test_rostopic_and_rosbag_read_what_our_node_publishes(master: Master, tmp_path: Path) -> None:
    bag = tmp_path / "scan.bag"
    publisher = Publisher(master, tmp_path, "/scan")
    record = master.tool("rosbag", "record", "--output-name", str(bag), "/scan")
    echo = master.tool("rostopic", "echo", "-p", "-n", str(len(SCANS)), "/scan")
    try:
        publisher.publish(subscribers=2)
        printed = echo.communicate(timeout=READY_S)[0]
        publisher.end()
    finally:
        echo.kill()
        end_recording(record)
    check_printed(printed)
    check_recorded(bag)


def end_recording(record: "subprocess.Popen[str]") -> None:
    record.send_signal(signal.SIGINT)
    try:
        record.communicate(timeout=READY_S)
    except subprocess.TimeoutExpired:
        record.kill()
        raise


def check_printed(printed: str) -> None:
    rows = list(csv.DictReader(line for line in printed.splitlines() if "," in line))
    assert len(rows) == len(SCANS)
    for index, (row, scan) in enumerate(zip(rows, SCANS, strict=True)):
        assert int(row["field.header.stamp"]) == index * 10**9
        assert row["field.header.frame_id"] == f"comseclab:{nodes.NONCE}"
        assert float(row["field.range_max"]) == scan.range_max
        assert [float(row[f"field.ranges{beam}"]) for beam in range(len(scan.ranges))] == scan.ranges.tolist()


def check_recorded(bag: Path) -> None:
    with Reader(bag) as reader:
        (connection,) = reader.connections
        recorded = [NOETIC.deserialize_ros1(raw, connection.msgtype) for *_, raw in reader.messages()]
    assert (connection.topic, connection.msgtype) == ("/scan", "sensor_msgs/msg/LaserScan")
    assert connection.digest == "90c7ef2dc6895d81024acba2ac42f369"
    assert connection.msgdef.data.startswith("std_msgs/Header header\nfloat32 angle_min\n")
    assert [message.header.stamp.sec for message in recorded] == list(range(len(SCANS)))
    first = recorded[0].header.seq
    assert [message.header.seq for message in recorded] == [first + index for index in range(len(SCANS))]
    for message, scan in zip(recorded, SCANS, strict=True):
        assert np.array_equal(message.intensities, scan.intensities)


def test_our_reader_takes_what_rostopic_publishes(master: Master) -> None:
    reader = master.peer("subscribe", "/stock", count=3, stream={"codec": "ros1"})
    fields = "{header: {frame_id: laser}, ranges: [1.0, 2.0, 3.0]}"
    stock = master.tool("rostopic", "pub", "-r", "20", "/stock", "sensor_msgs/LaserScan", fields)
    try:
        reader.process.wait(timeout=READY_S)
        received = reader.end()["received"]
    finally:
        stock.kill()
        stock.wait()
    assert len(received) >= 3
    header, numbers, sequences = 4 + 8 + 4 + len("laser"), 7 * 4, 4 + 3 * 4 + 4
    assert {size for _, size, *_ in received} == {header + numbers + sequences}


def test_types_are_those_of_ros_1s_own_packages() -> None:
    kinds = ("LaserScan", "Image", "PointCloud2", "Imu", "CameraInfo", "CompressedImage", "JointState", "BatteryState")
    names = [f"sensor_msgs/msg/{kind}" for kind in kinds]
    names += ["geometry_msgs/msg/TwistStamped", "std_msgs/msg/Float64MultiArray"]
    ours: dict[str, Any] = {name: definition(name, standard_type(name).description) for name in names}
    assert {name: known["md5sum"] for name, known in ours.items()} == system_python(STOCK_MD5, *names)


@pytest.mark.parametrize("name", ["visualization_msgs/msg/Marker", "lifecycle_msgs/msg/State"])
def test_a_type_that_ros_1_has_otherwise_or_not_at_all_is_not_taken_for_it(name: str) -> None:
    assert definition(name, standard_type(name).description) is None
