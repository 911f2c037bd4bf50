"""Synthetic sensors: the sizes of Martin et al. 2018, section "Experimental setup", at the rates of common devices.

A LaserScan of about 9 kB, an Image of 900 kB and a PointCloud of 9 MB. Content looks like a sensor's: a scene
with noise in every number, so that compression on the way would find little.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from comseclab.errors import LabError
from comseclab.workload.source import Message, most_messages
from comseclab.workload.types import IDENTITY_BYTES, MessageType, standard_type

SECOND_NS = 1_000_000_000
DISTINCT_BYTES = 40_000_000


@dataclass(frozen=True)
class Sensor:
    topic: str
    type: str
    rate_hz: float
    distinct: int
    """Different messages made; the stream sends them in turn."""
    build: Callable[[dict[str, Any], np.random.Generator], object]


@dataclass(frozen=True)
class Synthetic:
    """Messages of one of SENSORS, or opaque ones of `opaque_bytes` where `sensor` is "opaque", evenly paced."""

    sensor: str
    rate_hz: float
    seed: int
    opaque_bytes: int = 0

    def __post_init__(self) -> None:
        if self.sensor == "opaque" and self.opaque_bytes < IDENTITY_BYTES:
            raise LabError(
                f"opaque messages of {self.opaque_bytes} bytes have no room for their identity",
                f"give at least opaque_bytes = {IDENTITY_BYTES}",
            )

    @property
    def type(self) -> MessageType | None:
        return standard_type(SENSORS[self.sensor].type) if self.sensor in SENSORS else None

    @property
    def origin(self) -> str:
        what = f"opaque {self.opaque_bytes} B" if self.sensor == "opaque" else self.sensor
        return f"synthetic {what}, {self.rate_hz:g} Hz, seed {self.seed}"

    def messages(self, duration_ns: int) -> Iterator[Message]:
        count = most_messages(ceil(duration_ns * self.rate_hz / SECOND_NS), self.origin)
        made = min(count, SENSORS[self.sensor].distinct if self.sensor in SENSORS else self._opaque_distinct())
        for index in range(count):
            payload = self._payload(index) if index < made else None
            yield Message(round(index * SECOND_NS / self.rate_hz), index % made, payload, count)

    def _opaque_distinct(self) -> int:
        return max(1, min(8, DISTINCT_BYTES // self.opaque_bytes))

    def _payload(self, index: int) -> bytes:
        generator = np.random.default_rng([self.seed, index])
        if self.sensor == "opaque":
            return generator.bytes(self.opaque_bytes)
        sensor = SENSORS[self.sensor]
        store = standard_type(sensor.type).store
        return bytes(store.serialize_cdr(sensor.build(store.types, generator), sensor.type, little_endian=True))


def _header(types: dict[str, Any], frame: str) -> object:
    stamp = types["builtin_interfaces/msg/Time"](sec=0, nanosec=0)
    return types["std_msgs/msg/Header"](stamp=stamp, frame_id=frame)


def _laser_scan(types: dict[str, Any], generator: np.random.Generator) -> object:
    """1081 beams over 270 degrees in a room of walls, with range noise of 3 cm: a UTM-30LX, 8.7 kB."""
    beams = 1081
    angles = np.linspace(-0.75 * np.pi, 0.75 * np.pi, beams)
    walls = np.minimum(4.0 / np.maximum(abs(np.cos(angles)), 0.2), 3.0 / np.maximum(abs(np.sin(angles)), 0.2))
    ranges = walls + generator.normal(0, 0.03, beams)
    intensities = 3000 / walls + generator.normal(0, 50, beams)
    return types["sensor_msgs/msg/LaserScan"](
        header=_header(types, "laser"),
        angle_min=float(angles[0]),
        angle_max=float(angles[-1]),
        angle_increment=float(angles[1] - angles[0]),
        time_increment=1.736e-5,
        scan_time=0.025,
        range_min=0.1,
        range_max=30.0,
        ranges=ranges.astype(np.float32),
        intensities=intensities.astype(np.float32),
    )


def _image(types: dict[str, Any], generator: np.random.Generator) -> object:
    """640 x 480 rgb8: smooth shading with a camera's noise, 921.6 kB."""
    height, width = 480, 640
    row, column = np.mgrid[0:height, 0:width].astype(np.float32)
    shade = np.stack([60 + row / 4, 60 + column / 5, 200 - (row + column) / 10], axis=-1)
    noisy = shade + generator.normal(0, 12, shade.shape)
    return types["sensor_msgs/msg/Image"](
        header=_header(types, "camera"),
        height=height,
        width=width,
        encoding="rgb8",
        is_bigendian=0,
        step=3 * width,
        data=np.clip(noisy, 0, 255).astype(np.uint8).reshape(-1),
    )


POINT = np.dtype([
    ("x", "<f4"), ("y", "<f4"), ("z", "<f4"), ("intensity", "<f4"), ("t", "<u4"),
    ("reflectivity", "<u2"), ("ring", "<u2"), ("ambient", "<u4"), ("range", "<u4"),
])  # fmt: skip
POINT_DATATYPES = {np.dtype("<f4"): 7, np.dtype("<u4"): 6, np.dtype("<u2"): 4}
"""sensor_msgs/msg/PointField's FLOAT32, UINT32 and UINT16."""


def _point_cloud(types: dict[str, Any], generator: np.random.Generator) -> object:
    """288 000 points of 32 bytes, 64 rings of 4500: a rotating lidar, 9.2 MB."""
    rings, columns = 64, 4500
    elevation, azimuth = np.meshgrid(np.linspace(-0.4, 0.4, rings), np.linspace(0, 2 * np.pi, columns), indexing="ij")
    distance = (8 + 3 * np.cos(3 * azimuth) + generator.normal(0, 0.03, azimuth.shape)).astype(np.float32)
    points = np.zeros((rings, columns), POINT)
    points["x"] = distance * np.cos(elevation) * np.cos(azimuth)
    points["y"] = distance * np.cos(elevation) * np.sin(azimuth)
    points["z"] = distance * np.sin(elevation)
    points["intensity"] = generator.gamma(2.0, 20.0, azimuth.shape)
    points["t"] = generator.integers(0, 500, azimuth.shape) + (azimuth * 1e7).astype(np.uint32)
    points["reflectivity"] = generator.integers(0, 2**12, azimuth.shape)
    points["ring"] = np.arange(rings)[:, None]
    points["ambient"] = generator.integers(0, 2**16, azimuth.shape)
    points["range"] = distance * 1000
    return types["sensor_msgs/msg/PointCloud2"](
        header=_header(types, "lidar"),
        height=rings,
        width=columns,
        fields=[
            types["sensor_msgs/msg/PointField"](name=name, offset=offset, datatype=POINT_DATATYPES[kind], count=1)
            for name, (kind, offset, *_) in (POINT.fields or {}).items()
        ],
        is_bigendian=False,
        point_step=POINT.itemsize,
        row_step=POINT.itemsize * columns,
        data=points.reshape(-1).view(np.uint8),
        is_dense=True,
    )


SENSORS = {
    "scan": Sensor("/scan", "sensor_msgs/msg/LaserScan", 40.0, 8, _laser_scan),
    "image": Sensor("/image_raw", "sensor_msgs/msg/Image", 32.0, 8, _image),
    "points": Sensor("/points", "sensor_msgs/msg/PointCloud2", 18.0, 4, _point_cloud),
}
