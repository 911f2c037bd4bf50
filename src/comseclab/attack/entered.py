"""What the frames show that hosts sent into the switch: who sent how much, who sent anything, and a capture of them."""

import math
import struct
from collections.abc import Iterable, Sequence
from pathlib import Path

from comseclab.attack.frame import Frame

_PCAP_HEADER = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 1 << 18, 1)
"""Of a classic capture of Ethernet frames, times in microseconds."""


def between(frames: Iterable[Frame], begin_ns: float, end_ns: float) -> list[Frame]:
    """Those that came in within a time."""
    return [frame for frame in frames if begin_ns <= frame.at_ns < end_ns]


def bytes_sent(frames: Iterable[Frame], ports: set[int], to: str | None = None) -> int:
    """Bytes of the UDP and TCP frames that entered the switch at some ports; `to`: those to this address.

    Error messages of a sender's kernel (ICMP) are none of the stack's.
    """
    return sum(
        len(frame.raw)
        for frame in frames
        if frame.port in ports and frame.protocol and to in (None, frame.destination[0])
    )


def active(frames: Sequence[Frame], lives: Sequence[tuple[int, bool]]) -> int:
    """How many of the nodes on one host did anything on the network, by the frames that entered at its port.

    `lives`: of each node, in order, when it was started (ns) and whether it said that it had opened. One that was
    refused while it opened has sent from a UDP or TCP port of its own, before the next was started; one that failed for
    a reason of its own has sent nothing.
    """
    count, known = 0, set[tuple[str, int]]()
    starts = [begun_ns for begun_ns, _ in lives]
    for (begun_ns, opened), end_ns in zip(lives, [*starts[1:], math.inf], strict=False):
        own = {frame.source for frame in between(frames, begun_ns, end_ns) if frame.protocol} - known
        known |= own
        count += opened or bool(own)
    return count


def without(frames: Iterable[Frame], ports: set[int], addresses: set[str]) -> list[Frame]:
    """The frames that neither entered at one of the ports nor go to one of the addresses."""
    return [frame for frame in frames if frame.port not in ports and frame.destination[0] not in addresses]


def write_capture(path: Path, frames: Iterable[Frame]) -> None:
    """Write a classic pcap file."""
    with path.open("wb") as file:
        file.write(_PCAP_HEADER)
        for frame in frames:
            seconds, rest_ns = divmod(frame.at_ns, 1_000_000_000)
            size = len(frame.raw)
            file.write(struct.pack("<IIII", seconds, rest_ns // 1000, size, size) + frame.raw)
