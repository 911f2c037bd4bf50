"""What the capture of a trial shows in clear to whoever listens."""

from pathlib import Path

from comseclab.attack.frame import Frame
from comseclab.protection.proof import sentinels
from comseclab.protection.wire import frames
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


def bytes_to(capture: Path, address: str) -> int:
    """Bytes of the frames in the capture that go to an address, each counted where it entered the switch."""
    return sum(len(raw) for raw in frames(capture) if Frame(0, raw).destination[0] == address) // 2
