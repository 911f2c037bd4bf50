"""Recordings of every format become the same spools, at the messages' own times."""

import hashlib
import os
import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from recordings import FORMATS, ROS1, ROS2, Sent, Write

from comseclab.errors import LabError
from comseclab.workload.recording import Recorded, Recording
from comseclab.workload.spool import Spools
from comseclab.workload.types import SENTINEL_BYTES

TWIST = "geometry_msgs/msg/Twist"
JOINTS = "sensor_msgs/msg/JointState"
MS = 1_000_000


def header(frame: str) -> object:
    return ROS2.types["std_msgs/msg/Header"](ROS2.types["builtin_interfaces/msg/Time"](7, 8), frame)


def twist(value: float) -> dict[str, object]:
    vector = ROS2.types["geometry_msgs/msg/Vector3"]
    return {"linear": vector(value, 0.0, 0.0), "angular": vector(0.0, 0.0, -value)}


def joints(names: int, frame: str = "arm") -> dict[str, object]:
    numbers = np.arange(names, dtype=np.float64)
    return {
        "header": header(frame), "name": [f"joint{i}" for i in range(names)],
        "position": numbers, "velocity": numbers, "effort": numbers,
    }  # fmt: skip


def sample() -> list[Sent]:
    commands: list[Sent] = [("/cmd_vel", TWIST, 5_000 * MS + t * MS, twist(t)) for t in (0, 10, 25, 60)]
    states: list[Sent] = [("/joint_states", JOINTS, 5_001 * MS + t * MS, joints(1 + t // 10)) for t in (0, 20, 40)]
    return sorted(commands + states, key=lambda message: message[2])


def entries(spool: Path) -> list[tuple[int, bytes]]:
    """Offset and payload of every message, read as docs/formats.md says."""
    content = spool.read_bytes()
    magic, version, _, count, index, largest, _ = struct.unpack_from("<8sIIQQQQ", content)
    assert (magic, version) == (b"CSLSPOOL", 1)
    found = [struct.unpack_from("<qQII", content, index + 24 * place) for place in range(count)]
    assert all(offset % 8 == 0 and offset >= 64 for _, offset, _, _ in found)
    assert max(size for _, _, size, _ in found) == largest
    assert len(content) == index + 24 * count
    return [(time, content[offset : offset + size]) for time, offset, size, _ in found]


@pytest.mark.parametrize("kind", FORMATS)
def test_messages_keep_their_bytes_and_times(kind: str, write: Write, tmp_path: Path) -> None:
    spool = Spools(tmp_path / "spools").prepare(Recorded(write(kind, sample()), "/cmd_vel"), 0.03)
    found = entries(spool.path)
    assert [offset for offset, _ in found] == [0, 10 * MS, 25 * MS]
    assert [ROS2.deserialize_cdr(payload, TWIST).linear.x for _, payload in found] == [0, 10, 25]
    assert (spool.messages, spool.distinct, spool.rate_hz, spool.type) == (3, 3, 100, TWIST)
    assert spool.max_size == {"cdr": 52, "ros1": 48}
    assert spool.types == {
        TWIST: [["linear", "geometry_msgs/msg/Vector3"], ["angular", "geometry_msgs/msg/Vector3"]],
        "geometry_msgs/msg/Vector3": [["x", "float64"], ["y", "float64"], ["z", "float64"]],
    }
    assert spool.sha256 == hashlib.sha256(spool.path.read_bytes()).hexdigest()


@pytest.mark.parametrize("kind", FORMATS)
def test_a_file_within_a_rosbag2_folder_is_a_recording(kind: str, write: Write, tmp_path: Path) -> None:
    path = write(kind, sample())
    single = next(path.glob(f"*.{kind}")) if path.is_dir() else path
    spools = Spools(tmp_path / "spools")
    whole, alone = (spools.prepare(Recorded(one, "/joint_states"), 0.05) for one in (path, single))
    assert entries(whole.path) == entries(alone.path)
    assert hashlib.sha256(single.read_bytes()).hexdigest() in alone.origin


@pytest.mark.parametrize("kind", FORMATS)
def test_a_short_recording_is_played_again_one_mean_gap_later(kind: str, write: Write, tmp_path: Path) -> None:
    spool = Spools(tmp_path / "spools").prepare(Recorded(write(kind, sample()), "/joint_states"), 0.15)
    found = entries(spool.path)
    assert [offset // MS for offset, _ in found] == [0, 20, 40, 60, 80, 100, 120, 140]
    assert [payload for _, payload in found] == [found[place % 3][1] for place in range(8)]
    assert (spool.messages, spool.distinct) == (8, 3)


@pytest.mark.parametrize("kind", FORMATS)
def test_topics_of_one_recording_keep_step(kind: str, write: Write, tmp_path: Path) -> None:
    path = write(kind, sample())
    begin_ns = Recording.of(path).all_begun_ns(["/cmd_vel", "/joint_states"])
    assert begin_ns == 5_001 * MS
    spools = Spools(tmp_path / "spools")
    commands = entries(spools.prepare(Recorded(path, "/cmd_vel", begin_ns=begin_ns), 0.06).path)
    states = entries(spools.prepare(Recorded(path, "/joint_states", begin_ns=begin_ns), 0.06).path)
    assert [offset // MS for offset, _ in commands] == [9, 24, 59]
    assert [offset // MS for offset, _ in states] == [0, 20, 40]
    again = entries(spools.prepare(Recorded(path, "/cmd_vel", begin_ns=begin_ns), 0.2).path)
    assert [offset // MS for offset, _ in again] == [9, 24, 59, 84, 99, 134, 159, 174]


@pytest.mark.parametrize("kind", FORMATS)
def test_a_rate_replaces_the_recorded_times(kind: str, write: Write, tmp_path: Path) -> None:
    spool = Spools(tmp_path / "spools").prepare(Recorded(write(kind, sample()[:1]), "/cmd_vel", 50.0), 0.1)
    assert [offset // MS for offset, _ in entries(spool.path)] == [0, 20, 40, 60, 80]


@pytest.mark.parametrize("kind", FORMATS)
def test_sizes_are_those_of_messages_with_the_sentinel(kind: str, write: Write, tmp_path: Path) -> None:
    sent: Sequence[Sent] = [("/joint_states", JOINTS, t, joints(t, "a frame")) for t in (1, 2, 3)]
    spool = Spools(tmp_path / "spools").prepare(Recorded(write(kind, sent), "/joint_states"), 3e-9)
    message = ROS2.types[JOINTS](**joints(3, "x" * SENTINEL_BYTES))
    cdr = ROS2.serialize_cdr(message, JOINTS)
    assert spool.max_size == {"cdr": len(cdr), "ros1": len(ROS2.cdr_to_ros1(cdr, JOINTS))}
    assert ROS1.deserialize_ros1(ROS2.cdr_to_ros1(cdr, JOINTS), JOINTS).header.seq == 0
    assert "seq" not in dict(spool.types["std_msgs/msg/Header"])


def test_big_endian_messages_are_turned_round(tmp_path: Path) -> None:
    from rosbags.rosbag2 import StoragePlugin, Writer  # noqa: PLC0415

    message = ROS2.types[TWIST](**twist(3))
    with Writer(tmp_path / "r", version=9, storage_plugin=StoragePlugin.MCAP) as bag:
        connection = bag.add_connection("/cmd_vel", TWIST, typestore=ROS2)
        bag.write(connection, 0, bytes(ROS2.serialize_cdr(message, TWIST, little_endian=False)))
    spool = Spools(tmp_path / "spools").prepare(Recorded(tmp_path / "r", "/cmd_vel", 1.0), 1.0)
    assert entries(spool.path) == [(0, bytes(ROS2.serialize_cdr(message, TWIST, little_endian=True)))]


def refused(path: Path, topic: str, folder: Path) -> str:
    with pytest.raises(LabError) as caught:
        Spools(folder / "spools").prepare(Recorded(path, topic), 1.0)
    assert not list((folder / "spools").glob("*")) if (folder / "spools").exists() else True
    return str(caught.value)


@pytest.mark.parametrize("kind", FORMATS)
def test_bad_recordings_are_refused(kind: str, write: Write, tmp_path: Path) -> None:
    path = write(kind, sample())
    file = next(path.glob(f"*.{kind}")) if path.is_dir() else path
    assert "has no messages on /cmd (it has /cmd_vel, /joint_states)" in refused(path, "/cmd", tmp_path)
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    assert "cannot be read: " in refused(file, "/cmd_vel", tmp_path)
    file.write_bytes(b"")
    assert "cannot be read: " in refused(file, "/cmd_vel", tmp_path)
    file.unlink()
    assert f"no recording {file}" in refused(file, "/cmd_vel", tmp_path)


@pytest.mark.parametrize("kind", FORMATS)
def test_recordings_without_messages_or_rate_are_refused(kind: str, write: Write, tmp_path: Path) -> None:
    assert "too few messages on /cmd_vel to know their rate: 1" in refused(
        write(kind, sample()[:1]), "/cmd_vel", tmp_path
    )


@pytest.mark.parametrize("kind", FORMATS)
def test_an_empty_recording_is_refused(kind: str, write: Write, tmp_path: Path) -> None:
    assert "holds no messages" in refused(write(kind, []), "/cmd_vel", tmp_path)


@pytest.mark.parametrize("kind", FORMATS)
def test_types_without_room_for_the_identity_are_refused(kind: str, write: Write, tmp_path: Path) -> None:
    text: list[Sent] = [("/chatter", "std_msgs/msg/String", t, {"data": "x" * 50}) for t in (0, 1000)]
    recording = Recording.of(write(kind, text))
    with pytest.raises(LabError, match=r"type std_msgs/msg/String has no room for a message's identity"):
        recording.type("/chatter").check_identity()


@pytest.mark.parametrize("kind", FORMATS)
def test_an_empty_sequence_of_headers_is_refused(kind: str, write: Write, tmp_path: Path) -> None:
    path = "nav_msgs/msg/Path"
    status = "diagnostic_msgs/msg/DiagnosticArray"
    markers = "visualization_msgs/msg/MarkerArray"
    good: list[Sent] = [("/path", path, t, {"header": header("map"), "poses": []}) for t in (0, 1000)]
    bad: list[Sent] = [("/markers", markers, t, {"markers": []}) for t in (0, 1000)]
    also: list[Sent] = [("/diagnostics", status, t, {"header": header(""), "status": []}) for t in (0, 1000)]
    recording = write(kind, good + also + bad)
    assert "a visualization_msgs/msg/MarkerArray has an empty markers" in refused(recording, "/markers", tmp_path)
    for topic in ("/path", "/diagnostics"):
        Spools(tmp_path / "spools").prepare(Recorded(recording, topic), 1e-6)


def test_unknown_formats_and_types_are_refused(tmp_path: Path, write: Write) -> None:
    (tmp_path / "notes.txt").touch()
    assert "notes.txt is of no known format" in refused(tmp_path / "notes.txt", "/scan", tmp_path)
    (tmp_path / "folder").mkdir()
    assert "has no metadata.yaml" in refused(tmp_path / "folder", "/scan", tmp_path)
    path = write("mcap", sample())
    file = next(path.glob("*.mcap"))
    content = file.read_bytes()
    file.write_bytes(content.replace(b"ros2msg", b"cobol60"))
    assert "cannot be read: " in refused(path, "/cmd_vel", tmp_path)


def test_a_type_nobody_defined_is_refused(tmp_path: Path) -> None:
    import sqlite3  # noqa: PLC0415

    database = sqlite3.connect(tmp_path / "old.db3")
    database.executescript(
        "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT, type TEXT, serialization_format TEXT);"
        "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, data BLOB);"
        "INSERT INTO topics VALUES (1, '/odd', 'acme_msgs/msg/Odd', 'cdr');"
        "INSERT INTO topics VALUES (2, '/cmd_vel', 'geometry_msgs/msg/Twist', 'cdr');"
    )
    raw = bytes(ROS2.serialize_cdr(ROS2.types[TWIST](**twist(1)), TWIST))
    rows = [(topic, time_ns, raw) for time_ns in (0, 10 * MS) for topic in (1, 2)]
    database.executemany("INSERT INTO messages(topic_id, timestamp, data) VALUES (?, ?, ?)", rows)
    database.commit()
    database.close()
    assert "no definition of type acme_msgs/msg/Odd" in refused(tmp_path / "old.db3", "/odd", tmp_path)
    assert Spools(tmp_path / "s").prepare(Recorded(tmp_path / "old.db3", "/cmd_vel"), 0.1).messages == 10


@pytest.mark.skipif("COMSECLAB_RECORDINGS" not in os.environ, reason="COMSECLAB_RECORDINGS is not set")
def test_real_bags(tmp_path: Path) -> None:
    folder = Path(os.environ["COMSECLAB_RECORDINGS"])
    laser = Recorded(folder / "laser/jarvis_complex_path_fast.bag", "/driver_laser_navigation/laser_scan")
    spool = Spools(tmp_path).prepare(laser, 3.0)
    scans = [ROS2.deserialize_cdr(payload, spool.type) for _, payload in entries(spool.path)]
    assert len(scans) == 25
    assert {len(scan.ranges) for scan in scans} == {1440}
    cloud = Recorded(folder / "cloud/perception_tutorial.bag", "/camera/depth_registered/points", 18.0)
    spool = Spools(tmp_path).prepare(cloud, 3.0)
    assert (spool.messages, spool.distinct) == (54, 1)
    assert 9_800_000 < spool.max_size["cdr"] < 9_900_000
