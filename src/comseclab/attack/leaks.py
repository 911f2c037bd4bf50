"""What the capture of a trial shows: in clear to whoever listens, and who sent what to whom."""

from collections.abc import Iterator
from pathlib import Path

from comseclab.attack.frame import TCP, UDP, Frame
from comseclab.protection.proof import sentinels
from comseclab.protection.wire import crossings, frames
from comseclab.testbed.network import hardware_of
from comseclab.trial.spec import TrialSpec


def find(capture: Path, spec: TrialSpec) -> list[str]:
    """Which of `payload`, `topic name`, `identity`, `permissions` stand in some frame, in this order."""
    topic = spec.streams[0].topic.encode()
    signs = {
        "payload": sentinels(spec.nonce),
        "topic name": (topic, topic.removeprefix(b"/") + b"\0", topic.removeprefix(b"/") + b"/"),
        "identity": (b"BEGIN CERTIFICATE", *(b"CN=/" + host.encode() for host in spec.hosts)),
        "permissions": (b"<permissions", b"<subject_name"),
    }
    found = set()
    if capture.exists():
        for frame in frames(capture):
            for what, marks in signs.items():
                if what not in found and any(mark in frame for mark in marks):
                    found.add(what)
    return [what for what in signs if what in found]


def bytes_to(capture: Path, address: str, senders: set[int]) -> int:
    """Bytes of the UDP and TCP frames to an address that entered the switch at the ports of `senders`.

    Not what leaves it, for frames to an address of which nothing was heard yet leave at every port. Error messages of a
    sender's kernel (ICMP) are none of the stack's.
    """
    to = bytes(map(int, address.split(".")))
    return sum(
        len(crossing.frame)
        for crossing in (crossings(capture) if capture.exists() else ())
        if crossing.direction == "inbound" and crossing.interface in senders and _goes_to(crossing.frame, to)
    )


def _goes_to(frame: bytes, address: bytes) -> bool:
    return frame[12:14] == b"\x08\x00" and frame[23:24] in (bytes([UDP]), bytes([TCP])) and frame[30:34] == address


def leaving(capture: Path, port: int, sender: str) -> Iterator[Frame]:
    """The frames that left the switch at a port and bear the hardware address of the host with the address `sender`."""
    hardware = bytes.fromhex(hardware_of(sender).replace(":", ""))
    for crossing in crossings(capture) if capture.exists() else ():
        if crossing.direction == "outbound" and crossing.interface == port and crossing.frame[6:12] == hardware:
            yield Frame(port, crossing.frame)
