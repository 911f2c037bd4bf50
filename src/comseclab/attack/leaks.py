"""What the capture of a trial shows: in clear to whoever listens, and who sent what to whom."""

import re
from collections.abc import Iterator
from pathlib import Path

from comseclab.attack.frame import Frame
from comseclab.protection.proof import sentinels
from comseclab.protection.wire import crossings, frames
from comseclab.testbed.network import hardware_of
from comseclab.trial.spec import TrialSpec

IDENTITY = re.compile(rb"BEGIN CERTIFICATE|<subject_name>|\x06\x03\x55\x04\x03[\x0c\x13]")
"""A certificate as PEM, the subject name in a permissions document, or the attribute commonName (2.5.4.3) of an X.509
name in DER, as TLS before 1.3 shows it."""
PERMISSIONS = re.compile(rb"<permissions\b|<grant\b")
"""The root or a grant of a permissions document of DDS Security 1.1, 9.4.1.3."""


def find(capture: Path, spec: TrialSpec) -> list[str]:
    """Which of `payload`, `topic name`, `identity`, `permissions` stand in some frame, in this order."""
    signs = {
        "payload": re.compile(b"|".join(map(re.escape, sentinels(spec.nonce)))),
        "topic name": topic_sign(spec.streams[0].topic),
        "identity": IDENTITY,
        "permissions": PERMISSIONS,
    }
    found = set()
    for frame in frames(capture) if capture.exists() else ():
        found |= {what for what, sign in signs.items() if what not in found and sign.search(frame)}
    return [what for what in signs if what in found]


def count(capture: Path) -> int:
    """How many frames there are to look into."""
    return sum(1 for _ in frames(capture)) if capture.exists() else 0


def topic_sign(topic: str) -> re.Pattern[bytes]:
    """The attacked topic's name as stacks spell it, and no longer name that holds it.

    `/scan` (ROS 1, Ice), `rt/scan` (DDS), and with its length before it `scan` (Zenoh); `/ros1` or `/opaque` may
    follow, see comseclab.middleware.names.
    """
    name = topic.removeprefix("/").encode()
    kind = rb"(?:/ros1|/opaque)?(?![\w/])"
    counted = b"|".join(
        re.escape(bytes([len(name) + len(ending)]) + name + ending) for ending in (b"", b"/ros1", b"/opaque")
    )
    return re.compile(rb"(?<![\w/])(?:rt)?/" + re.escape(name) + kind + rb"|(?:" + counted + rb")(?![\w/])", re.DOTALL)


def leaving(capture: Path, port: int, sender: str) -> Iterator[Frame]:
    """The frames that left the switch at a port and bear the hardware address of the host with the address `sender`."""
    hardware = bytes.fromhex(hardware_of(sender).replace(":", ""))
    for crossing in crossings(capture) if capture.exists() else ():
        if crossing.direction == "outbound" and crossing.interface == port and crossing.frame[6:12] == hardware:
            yield Frame(port, crossing.frame)
