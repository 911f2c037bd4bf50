"""Small recordings in every format, written by rosbags."""

from collections.abc import Callable, Sequence
from pathlib import Path

from rosbags.interfaces import Connection
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer as Writer2
from rosbags.typesys import Stores, get_typestore

ROS1 = get_typestore(Stores.ROS1_NOETIC)
ROS2 = get_typestore(Stores.ROS2_HUMBLE)
FORMATS = ("mcap", "db3", "bag")

Sent = tuple[str, str, int, dict[str, object]]
"""Topic, type, time in ns, fields (nested ones as objects of ROS 2's types without the header's `seq`)."""
Write = Callable[[str, Sequence[Sent]], Path]


def writer(folder: Path) -> Write:
    """A function that writes messages as a recording of one of FORMATS, and returns what a user would name."""

    def write(kind: str, sent: Sequence[Sent]) -> Path:
        path = folder / f"recording-{kind}"
        if kind == "bag":
            path = path.with_suffix(".bag")
            _write1(path, sent)
            return path
        _write2(path, StoragePlugin.MCAP if kind == "mcap" else StoragePlugin.SQLITE3, sent)
        return path

    return write


def _write2(path: Path, plugin: StoragePlugin, sent: Sequence[Sent]) -> None:
    connections: dict[str, Connection] = {}
    with Writer2(path, version=9, storage_plugin=plugin) as bag:
        for topic, kind, time_ns, fields in sent:
            if topic not in connections:
                connections[topic] = bag.add_connection(topic, kind, typestore=ROS2)
            bag.write(connections[topic], time_ns, ROS2.serialize_cdr(ROS2.types[kind](**fields), kind))


def _write1(path: Path, sent: Sequence[Sent]) -> None:
    connections: dict[str, Connection] = {}
    with Writer1(path) as bag:
        for topic, kind, time_ns, fields in sent:
            if topic not in connections:
                connections[topic] = bag.add_connection(topic, kind, typestore=ROS1)
            cdr = ROS2.serialize_cdr(ROS2.types[kind](**fields), kind)
            bag.write(connections[topic], time_ns, ROS2.cdr_to_ros1(cdr, kind))
