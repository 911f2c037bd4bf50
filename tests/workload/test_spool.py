"""Spools of synthetic sensors; reuse, progress and a full disk."""

import json
import os
import zlib
from itertools import pairwise
from pathlib import Path

import pytest
from recordings import ROS2
from test_recording import entries

from comseclab.errors import LabError
from comseclab.workload import spool as spool_module
from comseclab.workload.spool import Spools, schedule
from comseclab.workload.synthetic import SENSORS, Synthetic
from comseclab.workload.types import MessageType, standard_type

EXPECTED_BYTES = {"scan": (8_700, 8_800), "image": (921_600, 921_700), "points": (9_000_000, 9_300_000)}


@pytest.mark.parametrize("name", SENSORS)
def test_sensors_have_the_study_s_sizes_and_rates(name: str, tmp_path: Path) -> None:
    sensor = SENSORS[name]
    spool = Spools(tmp_path).prepare(Synthetic(name, sensor.rate_hz, 1), 1.0)
    found = entries(spool.path)
    low, high = EXPECTED_BYTES[name]
    assert low < spool.max_size["cdr"] < high
    assert spool.messages == len(found) == spool.rate_hz == sensor.rate_hz
    assert all(abs((b - a) * sensor.rate_hz / 1e9 - 1) < 1e-6 for (a, _), (b, _) in pairwise(found))
    assert len({payload for _, payload in found}) == spool.distinct == sensor.distinct
    assert schedule(spool.path) == [at_ns for at_ns, _ in found]
    assert found[0][1] == found[sensor.distinct][1]
    message = ROS2.deserialize_cdr(found[0][1], sensor.type)
    message.header.frame_id = "x" * 26
    assert len(ROS2.serialize_cdr(message, sensor.type)) == spool.max_size["cdr"]
    assert len(ROS2.cdr_to_ros1(ROS2.serialize_cdr(message, sensor.type), sensor.type)) == spool.max_size["ros1"]


@pytest.mark.parametrize("name", SENSORS)
def test_sensors_are_seeded_and_hard_to_compress(name: str, tmp_path: Path) -> None:
    one, same, other = (
        Spools(tmp_path / str(place)).prepare(Synthetic(name, 1.0, seed), 1.0) for place, seed in enumerate((1, 1, 2))
    )
    assert one.sha256 == same.sha256 != other.sha256
    payload = entries(one.path)[0][1]
    assert len(zlib.compress(payload, 1)) > 0.6 * len(payload)


@pytest.mark.parametrize("size", [24, 1000, 3_000_000])
def test_opaque_messages_have_the_size_asked_for(size: int, tmp_path: Path) -> None:
    spool = Spools(tmp_path).prepare(Synthetic("opaque", 100.0, 1, size), 0.1)
    assert {len(payload) for _, payload in entries(spool.path)} == {size}
    assert (spool.type, spool.types, spool.max_size) == ("", {}, {"cdr": size, "ros1": size})


def test_too_small_or_too_many_messages_are_refused(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="opaque messages of 23 bytes have no room"):
        Synthetic("opaque", 1.0, 1, 23)
    with pytest.raises(LabError, match=r"a round would have 3600000000 messages \(at most"):
        Spools(tmp_path).prepare(Synthetic("opaque", 1e6, 1, 24), 3600.0)
    assert not list(tmp_path.iterdir())


def test_a_spool_present_is_used_again(tmp_path: Path) -> None:
    source = Synthetic("scan", 40.0, 1)
    first = Spools(tmp_path).prepare(source, 1.0)
    written = first.path.stat().st_mtime_ns
    assert Spools(tmp_path).prepare(source, 1.0) == first
    assert first.path.stat().st_mtime_ns == written
    assert Spools(tmp_path).prepare(source, 2.0).path != first.path
    first.path.with_suffix(".json").write_text("{")
    assert Spools(tmp_path).prepare(source, 1.0) == first
    assert first.path.stat().st_mtime_ns > written
    first.path.unlink()
    assert Spools(tmp_path).prepare(source, 1.0).path.is_file()
    assert {path.suffix for path in tmp_path.iterdir()} == {".spool", ".json"}
    assert json.loads(first.path.with_suffix(".json").read_text())["messages"] == 40


def test_progress_ends_at_one(tmp_path: Path) -> None:
    shares: list[float] = []
    Spools(tmp_path, lambda _what, share: shares.append(share)).prepare(Synthetic("points", 18.0, 1), 1.0)
    assert shares == sorted(shares)
    assert len(shares) > 3
    assert shares[-1] == 1.0


def test_no_room_on_the_disk_is_found_before_writing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool_module, "RESERVE_BYTES", 1 << 62)
    with pytest.raises(LabError, match=r"the disk that holds .* is full \(free some space"):
        Spools(tmp_path).prepare(Synthetic("scan", 40.0, 1), 1.0)
    assert not list(tmp_path.iterdir())


def test_a_disk_that_fills_up_leaves_nothing_half_written(tmp_path: Path) -> None:
    source = Synthetic("image", 32.0, 1)
    spool = Spools(tmp_path).prepare(source, 1.0)
    for path in tmp_path.iterdir():
        path.unlink()
    spool.path.with_suffix(".part").symlink_to("/dev/full")
    with pytest.raises(LabError, match=r"the disk that holds .* is full \(free some space"):
        Spools(tmp_path).prepare(source, 1.0)
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_no_right_to_write_is_said(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(LabError, match=r"cannot write .*: Permission denied"):
        Spools(tmp_path).prepare(Synthetic("scan", 40.0, 1), 1.0)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("std_msgs/msg/Header", ()),
        ("sensor_msgs/msg/Image", ("header",)),
        ("visualization_msgs/msg/MarkerArray", ("markers", "header")),
        ("geometry_msgs/msg/Twist", None),
    ],
)
def test_the_first_header_is_found_depth_first(name: str, path: tuple[str, ...] | None) -> None:
    kind = standard_type(name)
    assert kind.header_path == path
    kind.check_identity()


@pytest.mark.parametrize(
    ("fields", "fits"),
    [
        ("float64[3] a\nstring b", True),
        ("float64 a\nfloat64 b\nfloat32 c\nstring d", False),
        ("float64[] a", False),
        ("uint8[24] a", True),
        ("uint8[23] a", False),
        ("geometry_msgs/Point a\nstring b", True),
        ("geometry_msgs/Point[2] a", True),
        ("string a\nfloat64[9] b", False),
    ],
)
def test_unstamped_types_need_24_leading_bytes(fields: str, fits: bool) -> None:
    from rosbags.typesys import get_types_from_msg  # noqa: PLC0415

    store = standard_type("geometry_msgs/msg/Point").store
    store.register(get_types_from_msg(fields, "own_msgs/msg/Own"))
    kind = MessageType("own_msgs/msg/Own", store)
    if fits:
        kind.check_identity()
    else:
        with pytest.raises(LabError, match="no room"):
            kind.check_identity()
