"""Flood a victim's ports with small packets, within bounds."""

import random
import struct
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from comseclab.attack.base import Attack, Effect, Outcome
from comseclab.attack.frame import TCP_ACK, TCP_SYN, UDP, Frame, syn_frame, udp_frame
from comseclab.attack.harm import LATE_NS, LOST_SHARE, harmed, lost
from comseclab.attack.spec import Seen
from comseclab.testbed.host import Host
from comseclab.testbed.network import hardware_of

if TYPE_CHECKING:
    from comseclab.attack.scene import Scene

RATE_HZ = 3000
LASTS_S = 1.0
FRAMES = round(RATE_HZ * LASTS_S)
DATAGRAM_BYTES = 64
TURN_S = 0.01
"""Frames go out in bursts of so long."""
FIRST_PORT, LAST_PORT = 20_000, 60_000
"""Of the sender: each frame comes from another."""


class Flood(Attack):
    """Its verdict is about the harm at this rate, and about nothing else: a faster flood harms everybody."""

    name = "flood"
    title = (
        f"A stranger sends {RATE_HZ} packets a second for {LASTS_S:g} s to the ports at which writer and subscriber "
        f"were seen to listen: UDP datagrams of {DATAGRAM_BYTES} random bytes, and requests for TCP connections."
    )
    success = (
        f"More than {LOST_SHARE:.0%} of the messages sent meanwhile are lost, or those delivered are older than "
        f"{LATE_NS / 1e6:.0f} ms (median), and nothing tells the application; the harm is that share and how many "
        "times older messages are than before. It says what this rate does, not what a faster flood would."
    )
    stride = "Denial of service"

    def act(self, scene: "Scene") -> None:
        frames = _frames(scene)
        scene.note(
            f"{FRAMES} frames to {', '.join(sorted({_end(frame) for frame in frames})) or 'nobody: no port seen'}"
        )
        if frames:
            # The switch alone carries the flood: the harm must be the victim's, not that of our own way through here.
            scene.path.leave()
            scene.apart(_flood, scene, frames)

    def tried(self, seen: Seen) -> bool:
        return seen.injected_frames >= FRAMES // 2

    def judge(self, seen: Seen) -> Outcome:
        if not self.tried(seen):
            return Outcome(Effect.NOTHING, f"only {seen.injected_frames} of {FRAMES} packets could be sent")
        older_ns = seen.age_during_ns or 0.0
        share = seen.during.lost_share
        harm = {"lost_share": share, "times_older": older_ns / seen.age_before_ns if seen.age_before_ns else 1.0}
        text = (
            f"{lost(seen.during)} lost and the others "
            f"{older_ns / 1e6:.1f} ms old (before: {(seen.age_before_ns or 0) / 1e6:.1f} ms) at {RATE_HZ} packets/s"
        )
        return harmed(seen, text, harm, reached=share > LOST_SHARE or older_ns > LATE_NS)


def _end(frame: bytes) -> str:
    parsed = Frame(0, frame)
    return f"{'UDP' if parsed.protocol == UDP else 'TCP'} {parsed.destination[0]}:{parsed.destination[1]}"


def _frames(scene: "Scene") -> list[bytes]:
    """One frame for each port that the path has shown open."""
    seen = list(scene.path.seen)
    dice = random.Random(scene.spec.trial.seed)
    made = []
    for victim in (scene.reader, scene.writer):
        ends = hardware_of(scene.attacker.address), hardware_of(victim.address)
        own = scene.attacker.address, FIRST_PORT
        for port in _udp_ports(seen, victim):
            made.append(udp_frame(ends, own, (victim.address, port), dice.randbytes(DATAGRAM_BYTES)))
        for port in _tcp_ports(seen, victim):
            made.append(syn_frame(ends, own, (victim.address, port), dice.getrandbits(32)))
    return made


def _udp_ports(seen: Sequence[Frame], victim: Host) -> list[int]:
    to = {frame.destination for frame in seen if frame.protocol == UDP}
    return sorted(port for address, port in to if address == victim.address)


def _tcp_ports(seen: Sequence[Frame], victim: Host) -> list[int]:
    """Those from which a connection was accepted."""
    accepting = {frame.source for frame in seen if frame.tcp_flags & (TCP_SYN | TCP_ACK) == TCP_SYN | TCP_ACK}
    return sorted(port for address, port in accepting if address == victim.address)


def _flood(scene: "Scene", frames: Sequence[bytes]) -> None:
    """Send all frames in turn, at the rate, until there were enough or the attack has ended."""
    dice = random.Random(scene.spec.trial.seed + 1)
    begin, sent = time.monotonic(), 0
    while sent < FRAMES and not scene.ended.wait(TURN_S):
        due = min(FRAMES, round((time.monotonic() - begin) * RATE_HZ))
        for number in range(sent, due):
            scene.inject(_fresh(frames[number % len(frames)], dice))
        sent = due


def _fresh(raw: bytes, dice: random.Random) -> bytes:
    """The frame from another port of the sender, so that requests for connections are not one request repeated."""
    changed = bytearray(raw)
    struct.pack_into(">H", changed, 34, dice.randrange(FIRST_PORT, LAST_PORT))
    frame = Frame(0, bytes(changed))
    return frame.with_payload(frame.payload).raw


ATTACKS = (Flood(),)
