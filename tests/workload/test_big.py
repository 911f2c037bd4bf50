"""Big recordings need neither much memory nor much time: only the part a round needs is read."""

import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from recordings import FORMATS, ROS1, ROS2
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer as Writer2

TWIST = "geometry_msgs/msg/Twist"
MIB = 1 << 20
MEASURE = """
import resource, sys
from pathlib import Path
from comseclab.workload.recording import Recorded
from comseclab.workload.spool import Spools
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
before = peak()
spool = Spools(Path(sys.argv[2])).prepare(Recorded(Path(sys.argv[1]), "/cmd_vel"), 3.0)
print(spool.messages, peak() - before)
"""


def messages_and_memory(recording: Path, spools: Path) -> tuple[int, int]:
    """Messages in a spool of three seconds, and the bytes of memory that making it took, in a process of its own."""
    result = subprocess.run(
        [sys.executable, "-c", MEASURE, recording, spools], check=True, capture_output=True, text=True
    )
    messages, memory = result.stdout.split()
    return int(messages), int(memory)


def write_million(path: Path, kind: str) -> None:
    vectors = struct.pack("<6d", *range(6))
    if kind == "bag":
        with Writer1(path) as bag1:
            connection = bag1.add_connection("/cmd_vel", TWIST, typestore=ROS1)
            for time_ms in range(1_000_000):
                bag1.write(connection, time_ms * 1_000_000, vectors)
        return
    with Writer2(
        path, version=9, storage_plugin=StoragePlugin.MCAP if kind == "mcap" else StoragePlugin.SQLITE3
    ) as bag:
        connection = bag.add_connection("/cmd_vel", TWIST, typestore=ROS2)
        for time_ms in range(1_000_000):
            bag.write(connection, time_ms * 1_000_000, b"\0\1\0\0" + vectors)


@pytest.mark.parametrize("kind", FORMATS)
def test_a_million_messages(kind: str, tmp_path: Path) -> None:
    path = tmp_path / ("million.bag" if kind == "bag" else "million")
    write_million(path, kind)
    messages, memory = messages_and_memory(path, tmp_path / "spools")
    assert messages == 3000
    assert memory < 64 * MIB


def test_a_sparse_file_of_gigabytes(tmp_path: Path) -> None:
    path = tmp_path / "sparse.mcap"
    write_sparse_mcap(path, seconds=150, filler_bytes=8 * MIB)
    assert path.stat().st_size > 1 << 30
    messages, memory = messages_and_memory(path, tmp_path / "spools")
    assert messages == 30
    assert memory < 128 * MIB


def write_sparse_mcap(path: Path, seconds: int, filler_bytes: int) -> None:
    """An indexed MCAP file, a chunk a second: ten commands and one message of zeros that takes no room on the disk."""

    def text(value: str) -> bytes:
        return struct.pack("<I", len(value)) + value.encode()

    def record(op: int, content: bytes, more: int = 0) -> bytes:
        return struct.pack("<BQ", op, len(content) + more) + content

    schema = record(
        3, struct.pack("<H", 1) + text(TWIST) + text("ros2msg") + text(ROS2.generate_msgdef(TWIST, ros_version=2)[0])
    )
    channels = b"".join(
        record(4, struct.pack("<HH", number, 1) + text(topic) + text("cdr") + struct.pack("<I", 0))
        for number, topic in ((1, "/cmd_vel"), (2, "/zeros"))
    )
    twist = b"\0\1\0\0" + struct.pack("<6d", *range(6))
    chunks: list[bytes] = []
    with path.open("wb") as file:
        put: Callable[[bytes], int] = file.write
        put(b"\x89MCAP0\r\n" + record(1, text("ros2") + text("")) + schema + channels)
        for second in range(seconds):
            times = [second * 10**9 + tenth * 10**8 for tenth in range(10)]
            commands = b"".join(record(5, struct.pack("<HIQQ", 1, 0, time, time) + twist) for time in times)
            zeros = record(5, struct.pack("<HIQQ", 2, 0, times[-1], times[-1]), filler_bytes)
            size = len(commands) + len(zeros) + filler_bytes
            begin = file.tell()
            head = struct.pack("<QQQI", times[0], times[-1], size, 0) + text("") + struct.pack("<Q", size)
            put(record(6, head, size) + commands + zeros)
            file.seek(filler_bytes, 1)
            length, indexes, places = file.tell() - begin, b"", []
            for channel, entries in ((1, times), (2, times[-1:])):
                places.append((channel, file.tell() + len(indexes)))
                listed = b"".join(struct.pack("<QQ", time, 0) for time in entries)
                indexes += record(7, struct.pack("<HI", channel, len(listed)) + listed)
            put(indexes)
            offsets = b"".join(struct.pack("<HQ", *place) for place in places)
            chunks.append(
                record(
                    8,
                    struct.pack("<QQQQI", times[0], times[-1], begin, length, len(offsets)) + offsets
                    + struct.pack("<Q", len(indexes)) + text("") + struct.pack("<QQ", size, size),
                )
            )  # fmt: skip
        put(record(15, struct.pack("<I", 0)))
        summary = file.tell()
        put(schema + channels + b"".join(chunks))
        put(record(2, struct.pack("<QQI", summary, 0, 0)) + b"\x89MCAP0\r\n")
