"""ROS 2's names on the wire of DDS. The native transports map streams to topics by the same rules."""

ECHO = "/echo"
"""Appended to a topic by the echo role, see docs/formats.md."""


def dds_topic(topic: str, *, opaque: bool, codec: str) -> str:
    """The DDS topic of a ROS topic: `/scan` -> `rt/scan`.

    Bytes that are not CDR of a ROS type have a topic of their own: `rt/scan/opaque` for a payload without a type,
    `rt/scan/ros1` for another codec.
    """
    path = "rt/" + topic.removeprefix("/")
    if opaque:
        return f"{path}/opaque"
    return path if codec == "cdr" else f"{path}/{codec}"
