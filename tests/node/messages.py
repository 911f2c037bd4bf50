"""Messages of ROS types made by rosbags, the oracle of the node's codec."""

from typing import Any

import numpy as np
from rosbags.typesys import Stores, get_typestore

STORE = get_typestore(Stores.ROS2_HUMBLE)


def cdr(message: Any) -> bytes:
    return bytes(STORE.serialize_cdr(message, message.__msgtype__))


def make(kind: str, /, **fields: Any) -> Any:
    return STORE.types[kind](**fields)


def header(frame: str = "laser_link_of_no_special_length", sec: int = 0, nanosec: int = 0) -> Any:
    stamp = make("builtin_interfaces/msg/Time", sec=sec, nanosec=nanosec)
    return make("std_msgs/msg/Header", stamp=stamp, frame_id=frame)


def scan(generator: np.random.Generator, beams: int = 1081) -> Any:
    ranges, intensities = generator.random((2, beams)).astype(np.float32)
    return make(
        "sensor_msgs/msg/LaserScan", header=header(), angle_min=-1.0, angle_max=1.0, angle_increment=0.25,
        time_increment=0.5, scan_time=0.025, range_min=0.5, range_max=30.0, ranges=ranges, intensities=intensities,
    )  # fmt: skip


def vector(generator: np.random.Generator) -> Any:
    x, y, z = generator.random(3)
    return make("geometry_msgs/msg/Vector3", x=x, y=y, z=z)


def twist(generator: np.random.Generator) -> Any:
    return make("geometry_msgs/msg/Twist", linear=vector(generator), angular=vector(generator))


def transform(generator: np.random.Generator, child: str) -> Any:
    x, y, z, w = generator.random(4)
    return make(
        "geometry_msgs/msg/TransformStamped", header=header("odom"), child_frame_id=child,
        transform=make("geometry_msgs/msg/Transform", translation=vector(generator),
                       rotation=make("geometry_msgs/msg/Quaternion", x=x, y=y, z=z, w=w)),
    )  # fmt: skip


def tf(generator: np.random.Generator) -> Any:
    return make("tf2_msgs/msg/TFMessage", transforms=[transform(generator, child) for child in ("base", "wheel_left")])


def joints(generator: np.random.Generator) -> Any:
    """Sequences of strings, and an empty sequence of doubles between others."""
    return make(
        "sensor_msgs/msg/JointState", header=header(""), name=["a", "", "elbow"], position=generator.random(3),
        velocity=np.empty(0), effort=generator.random(1),
    )  # fmt: skip


def cloud(generator: np.random.Generator) -> Any:
    fields = [
        make("sensor_msgs/msg/PointField", name=name, offset=4 * place, datatype=7, count=1)
        for place, name in enumerate(("x", "y", "z", "intensity"))
    ]
    data = generator.integers(0, 255, 160, dtype=np.uint8)
    return make(
        "sensor_msgs/msg/PointCloud2", header=header("velodyne"), height=1, width=10, fields=fields, is_bigendian=False,
        point_step=16, row_step=160, data=data, is_dense=True,
    )  # fmt: skip


def odometry(generator: np.random.Generator) -> Any:
    """Arrays of 36 doubles behind strings of odd lengths."""

    def pose() -> Any:
        place = vector(generator)
        x, y, z, w = generator.random(4)
        return make(
            "geometry_msgs/msg/Pose", position=make("geometry_msgs/msg/Point", x=place.x, y=place.y, z=place.z),
            orientation=make("geometry_msgs/msg/Quaternion", x=x, y=y, z=z, w=w),
        )  # fmt: skip

    return make(
        "nav_msgs/msg/Odometry", header=header("odom"), child_frame_id="ab",
        pose=make("geometry_msgs/msg/PoseWithCovariance", pose=pose(), covariance=generator.random(36)),
        twist=make("geometry_msgs/msg/TwistWithCovariance", twist=twist(generator), covariance=generator.random(36)),
    )  # fmt: skip


def battery(generator: np.random.Generator) -> Any:
    """Small integers, a bool and strings among floats."""
    return make(
        "sensor_msgs/msg/BatteryState", header=header("b"), voltage=12.5, temperature=20.0, current=-1.5, charge=2.0,
        capacity=3.0, design_capacity=4.0, percentage=0.5, power_supply_status=1, power_supply_health=2,
        power_supply_technology=3, present=True, cell_voltage=generator.random(5).astype(np.float32),
        cell_temperature=np.empty(0, np.float32), location="slot", serial_number="x1",
    )  # fmt: skip
