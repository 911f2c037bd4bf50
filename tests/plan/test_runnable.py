"""What this machine cannot give a plan is said before anything starts."""

import os
from pathlib import Path

import pytest
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from comseclab.errors import LabError
from comseclab.places import native_programs
from comseclab.plan import check_runnable, expand, load_plan

CPUS = sorted(os.sched_getaffinity(0))
HERE = f"(this machine has CPU {', '.join(map(str, CPUS))})"


def check(folder: Path, text: str) -> None:
    (folder / "p.toml").write_text('[plan]\nname = "p"\n' + text)
    plan = load_plan(folder / "p.toml")
    check_runnable(plan, expand(plan))


def refusal(folder: Path, text: str) -> str:
    with pytest.raises(LabError) as caught:
        check(folder, text)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("node_cpus = {robot = [999]}", "node_cpus of robot: there is no CPU 999"),
        (f"node_cpus = {{station = [{CPUS[0]}, -1]}}", "node_cpus of station: there is no CPU -1"),
        ("node_cpus = {robot = []}", "node_cpus of robot: no CPU is named"),
        ("switch_cpu = 9999", "switch_cpu: there is no CPU 9999"),
    ],
)
def test_cpus_must_be_here_where_they_are_used(tmp_path: Path, setting: str, said: str) -> None:
    level = f"[settings.pinned]\n{setting}\n"
    assert refusal(tmp_path, level + '[factors]\nsettings = "pinned"') == f"[settings.pinned] {said} {HERE}"
    check(tmp_path, level)


def test_cpus_that_are_here_are_taken(tmp_path: Path) -> None:
    check(
        tmp_path,
        f'[factors]\nsettings = "s"\n[settings.s]\nnode_cpus = {{robot = {CPUS}}}\nswitch_cpu = {CPUS[-1]}',
    )


@pytest.mark.parametrize(
    ("library", "said"),
    [
        (".", "cannot be read: Is a directory (name a shared library)"),
        ("p.toml", "is no shared library with comseclab_transport_entry (docs/transports.md tells how to make one)"),
        ("/bin/true", "is no shared library with comseclab_transport_entry (docs/transports.md tells how to make one)"),
    ],
)
def test_a_transport_must_be_a_library_of_ours(tmp_path: Path, library: str, said: str) -> None:
    text = f'[transports.mine]\nlibrary = "{library}"\n[factors]\nmiddleware = "mine"'
    assert refusal(tmp_path, text).startswith("[transports.mine] library /")
    assert refusal(tmp_path, text).endswith(said)


def test_a_transport_that_is_one_is_taken(tmp_path: Path) -> None:
    library = native_programs() / "libcomseclab-fastdds.so"
    check(tmp_path, f'[transports.mine]\nlibrary = "{library}"\n[factors]\nmiddleware = "mine"')


def recording(folder: Path, times_ns: list[int]) -> str:
    """A workload of one recorded topic with messages at these times."""
    types = get_typestore(Stores.ROS2_HUMBLE)
    vector = types.types["geometry_msgs/msg/Vector3"](1.0, 2.0, 3.0)
    kind = "geometry_msgs/msg/Twist"
    with Writer(folder / "drive", version=9, storage_plugin=StoragePlugin.MCAP) as bag:
        connection = bag.add_connection("/cmd_vel", kind, typestore=types)
        for time_ns in times_ns:
            bag.write(connection, time_ns, types.serialize_cdr(types.types[kind](vector, vector), kind))
    return '[factors]\nworkload = "w"\n[[workloads.w.streams]]\nrecording = "drive"\ntopic = "/cmd_vel"\n'


@pytest.mark.parametrize("times_ns", [[5], [5, 5]])
def test_a_recorded_topic_needs_a_rate(tmp_path: Path, times_ns: list[int]) -> None:
    text = recording(tmp_path, times_ns)
    said = "recording drive has too few messages on /cmd_vel to know their rate: "
    assert refusal(tmp_path, text) == f"{said}{len(times_ns)} (give the stream a rate_hz)"
    check(tmp_path, text + "rate_hz = 10.0")


def test_a_recorded_topic_with_two_messages_has_one(tmp_path: Path) -> None:
    check(tmp_path, recording(tmp_path, [0, 100_000_000]))
