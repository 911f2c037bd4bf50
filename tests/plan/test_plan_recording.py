"""A recording takes the place of a plan's workloads."""

import json
from pathlib import Path

import pytest
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from comseclab.errors import LabError
from comseclab.places import shipped_plan
from comseclab.plan import Plan, Trials, expand, load_plan, only, with_recording
from comseclab.workload.spool import Spools

ROS2 = get_typestore(Stores.ROS2_HUMBLE)
TWIST = "geometry_msgs/msg/Twist"
TOPICS = "/arm/cmd/vel, /arm/cmd_vel, /chatter, /cmd_vel, odd name"


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """Commands on /cmd_vel and two topics below /arm, text on /chatter, and a name ROS 2 does not know."""
    vector = ROS2.types["geometry_msgs/msg/Vector3"](1.0, 2.0, 3.0)
    twist = bytes(ROS2.serialize_cdr(ROS2.types[TWIST](vector, vector), TWIST))
    text = bytes(ROS2.serialize_cdr(ROS2.types["std_msgs/msg/String"]("hello"), "std_msgs/msg/String"))
    topics = {
        "/cmd_vel": TWIST,
        "/arm/cmd_vel": TWIST,
        "/arm/cmd/vel": TWIST,
        "/chatter": "std_msgs/msg/String",
        "odd name": TWIST,
    }
    with Writer(tmp_path / "my drive", version=9, storage_plugin=StoragePlugin.MCAP) as bag:
        for topic, kind in topics.items():
            connection = bag.add_connection(topic, kind, typestore=ROS2)
            for time_ns in (0, 100_000_000):
                bag.write(connection, time_ns, twist if kind == TWIST else text)
    return tmp_path / "my drive"


def test_topics_become_streams_of_one_workload(recording: Path, tmp_path: Path) -> None:
    plan = with_recording(load_plan(shipped_plan("demo")), recording, ["/cmd_vel", "/arm/cmd_vel"])
    cases = expand(plan)
    assert [(case.factors.protection, case.factors.link, case.factors.workload) for case in cases] == [
        (protection, link, "my-drive")
        for protection in ("none", "sros2-default")
        for link in ("localhost", "ethernet", "wifi")
    ]
    spec = Trials(plan, Spools(tmp_path / "s"), "switch", tmp_path).spec(
        cases[0], number=1, pair=0, seed=1, nonce="0" * 16
    )
    assert [(stream.id, stream.topic, stream.messages) for stream in spec.streams] == [
        (0, "/cmd_vel", 25),
        (1, "/arm/cmd_vel", 25),
    ]
    assert "SHA-256" in spec.streams[0].source
    assert spec.streams[0].source.endswith("/cmd_vel from 0 ns on; 2 messages in turn")


def test_each_topic_becomes_a_workload(recording: Path) -> None:
    plan = with_recording(load_plan(shipped_plan("demo")), recording, ["/cmd_vel", "/arm/cmd_vel"], each_topic=True)
    assert list(plan.workloads) == ["cmd-vel", "arm-cmd-vel"]
    assert len(expand(plan)) == 12
    assert len(only(plan, expand(plan), ["workload=cmd-vel"])) == 6


def test_topics_with_similar_names_stay_apart(recording: Path) -> None:
    topics = ["/arm/cmd_vel", "/arm/cmd/vel", "/cmd_vel"]
    plan = with_recording(load_plan(shipped_plan("demo")), recording, topics, each_topic=True)
    sent = {name: [stream.topic for stream in workload.streams] for name, workload in plan.workloads.items()}
    assert sent == {"arm-cmd-vel": ["/arm/cmd_vel"], "arm-cmd-vel-2": ["/arm/cmd/vel"], "cmd-vel": ["/cmd_vel"]}


def test_a_plan_with_a_recording_survives_json(recording: Path) -> None:
    plan = with_recording(load_plan(shipped_plan("demo")), recording, ["/cmd_vel"])
    assert Plan.model_validate(json.loads(plan.model_dump_json())) == plan


@pytest.mark.parametrize(
    ("topics", "said"),
    [
        ([], f"recording my drive has several topics (choose with --topic: {TOPICS})"),
        (["/scan"], f'recording my drive has no messages on "/scan" (it has {TOPICS})'),
        ([""], f'recording my drive has no messages on "" (it has {TOPICS})'),
        (["/chatter"], "type std_msgs/msg/String has no room for a message's identity"),
        (["odd name"], 'recording my drive: "odd name" is no ROS topic'),
    ],
)
def test_topics_that_cannot_be_sent_are_refused(recording: Path, topics: list[str], said: str) -> None:
    with pytest.raises(LabError) as caught:
        with_recording(load_plan(shipped_plan("demo")), recording, topics)
    assert said in str(caught.value)


def test_a_recording_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"no recording .*none\.mcap"):
        with_recording(load_plan(shipped_plan("demo")), tmp_path / "none.mcap", ["/scan"])
