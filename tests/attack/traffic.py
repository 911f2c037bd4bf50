"""What the path shows of each stack, made up as far as an attack looks at it."""

import struct
from collections.abc import Callable

from attack.scenes import MESSAGE, NONCE
from comseclab.attack import icep
from comseclab.attack import rtps_wire as wire
from comseclab.attack.frame import TCP_ACK, TCP_SYN, Frame, syn_frame, udp_frame
from comseclab.middleware.ros1 import MASTER_PORT
from comseclab.protection.proof import sentinels
from comseclab.protection.rtps import PARTICIPANTS
from comseclab.testbed.network import hardware_of

ROBOT, STATION = "10.77.0.1", "10.77.0.2"
RTPS = bytes.fromhex("5254505302010110")
"""How messages of Cyclone DDS begin, up to the prefix of the participant."""
WRITER = bytes.fromhex("00000103")
End = tuple[str, int]


def datagram(payload: bytes) -> Frame:
    """From the publisher to the subscriber."""
    return Frame(0, udp_frame((hardware_of(ROBOT), hardware_of(STATION)), (ROBOT, 7400), (STATION, 7401), payload))


def segment(payload: bytes, source: End = (ROBOT, 10001), to: End = (STATION, 40123), flags: int = TCP_ACK) -> Frame:
    """Of the connection by which messages come to the subscriber, unless other ends are named."""
    bare = bytearray(syn_frame((hardware_of(source[0]), hardware_of(to[0])), source, to, 7))
    struct.pack_into(">H", bare, 16, len(bare) - 14 + len(payload))
    bare[47] = flags
    return Frame(0, bytes(bare) + payload)


def announcement(prefix: bytes, place: End) -> Frame:
    """A participant that says by SPDP that it takes everything at a place."""
    at = wire.locator(*place)
    said = wire.parameter(wire.PID_METATRAFFIC_UNICAST, at) + wire.parameter(wire.PID_DEFAULT_UNICAST, at)
    content = b"\x00\x03\x00\x00" + said + b"\x01\x00\x00\x00"
    message = wire.Message(RTPS + prefix, (wire.data(PARTICIPANTS, 1, content),))
    ends = hardware_of(place[0]), "01:00:5e:7f:00:01"
    return Frame(1, udp_frame(ends, (place[0], 999), ("239.255.0.1", 7400), message.raw()))


ACCEPTED = segment(b"", flags=TCP_SYN | TCP_ACK)
ROBOTS = b"r" * wire.PREFIX_BYTES
PARTICIPANTS_SEEN = [announcement(ROBOTS, (ROBOT, 7410)), announcement(b"s" * wire.PREFIX_BYTES, (STATION, 7410))]
MASTER_ASKED = segment(b"", (STATION, 40124), (ROBOT, MASTER_PORT))
HELLO = datagram(b"\xc0" + bytes(1200))
SUBSCRIBER = icep.Identity("0", "station-subscriber")


def _rtps(number: int, content: bytes) -> Frame:
    return datagram(wire.Message(RTPS + ROBOTS, (wire.data(WRITER, number, content),)).raw())


OF_STACKS: dict[tuple[str, str], tuple[list[Frame], Callable[[int, bytes], Frame]]] = {
    ("own", "none"): ([], lambda _, content: datagram(content)),
    ("fastdds", "none"): (PARTICIPANTS_SEEN, _rtps),
    ("ice", "none"): ([ACCEPTED], lambda number, content: segment(icep.request(number, SUBSCRIBER, "push", content))),
    ("ros1", "none"): ([ACCEPTED, MASTER_ASKED], lambda _, content: segment(struct.pack("<I", MESSAGE) + content)),
    ("zenoh", "none"): ([ACCEPTED], lambda _, content: segment(content)),
    ("zenoh", "quic"): ([HELLO], lambda _, content: datagram(b"\x40" + content)),
}
"""By stack and protection: what comes first, and how a message travels, from its number and content."""


def recorded(stack: str, protection: str) -> list[Frame]:
    """What was seen before the attack."""
    return [*OF_STACKS[stack, protection][0], *messages(stack, protection, range(1, 11))]


def messages(stack: str, protection: str, numbers: range) -> list[Frame]:
    """Messages of the stream, each with another content."""
    mark = sentinels(NONCE)[0]
    carried = OF_STACKS[stack, protection][1]
    return [carried(number, mark.ljust(MESSAGE, bytes([number]))) for number in numbers]
