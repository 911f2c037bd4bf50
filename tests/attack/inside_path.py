"""Joins hosts by the real switch with somebody on the path, in the namespaces it is started in, and tries rules there.

`inside_path.py SWITCH` prints what arrived under each rule. Everything is sent from `robot` to `station`.
"""

import itertools
import json
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from comseclab.attack import fence, limits
from comseclab.attack.frame import Frame, udp_frame
from comseclab.attack.path import OnPath, passes
from comseclab.errors import LabError
from comseclab.testbed import network
from comseclab.testbed.host import Host
from comseclab.testbed.namespaces import inside, mount_tmpfs
from comseclab.testbed.profile import LinkProfile
from comseclab.testbed.program import Program, wait_until

PROFILE = LinkProfile(name="attack", mtu=16384)
NAMES = ["robot", "station", "attacker"]
PORT = 7401
LONG_S, SOON_S = 10.0, 0.3
HELD_S = 0.2
SENTINEL = b"hello"


def start_switch(program: Path, adversary: Path) -> Program:
    config = network.FILES / "switch.json"
    ports = [{"host": name, "interface": f"port-{name}", "profile": PROFILE.model_dump()} for name in NAMES]
    config.write_text(json.dumps({
        "version": 1, "seed": 1, "fifo_priority": None, "cpu": None, "spin_ns": 0, "ports": ports, "capture": None,
        "adversary": str(adversary),
    }))  # fmt: skip
    switch = Program("switch", [program, config], network.FILES / "switch.log")
    assert wait_until([switch], lambda: bool(switch.of("ready")), 10)
    return switch


def bound(host: Host) -> socket.socket:
    with inside(host.namespace):
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.bind((host.address, PORT))
    return made


def arrived(expected: int = 1) -> list[str]:
    """So many messages, as payload and sender, and those that come soon after them."""
    found: list[str] = []
    while True:
        station.settimeout(LONG_S if len(found) < expected else SOON_S)
        try:
            payload, sender = station.recvfrom(65536)
        except TimeoutError:
            return found
        found.append(f"{payload[:20].decode(errors='replace')} of {len(payload)} from {sender[0]}")


def under(
    rule: Callable[[Frame], Iterable[tuple[float, Frame]]], *payloads: bytes, expected: int = 1
) -> dict[str, Any]:
    """What arrives of these messages under a rule, and what went wrong."""
    path.failure = None
    path.follow(lambda frame: rule(frame) if frame.destination[1] == PORT else passes(frame))
    for payload in payloads or (SENTINEL,):
        robot.sendto(payload, (hosts["station"].address, PORT))
    found = arrived(expected)
    path.follow(passes)
    failure = path.failure
    kind = "LabError" if isinstance(failure, LabError) else type(failure).__name__
    return {"arrived": found, "failure": f"{kind}: {failure}" if failure else None}


def one_held(frame: Frame) -> list[tuple[float, Frame]]:
    return [(HELD_S if frame.payload == b"first" else 0.0, frame)]


def failing(frame: Frame) -> list[tuple[float, Frame]]:
    raise ValueError(f"a rule fails at port {frame.port}")


def held() -> dict[str, Any]:
    """How long a held frame takes at least."""
    times: list[float] = []

    def rule(frame: Frame) -> list[tuple[float, Frame]]:
        times.append(time.monotonic())
        return [(HELD_S, frame)]

    path.follow(rule)
    robot.sendto(SENTINEL, (hosts["station"].address, PORT))
    station.settimeout(LONG_S)
    station.recv(65536)
    late = time.monotonic() - times[0] >= HELD_S
    path.follow(passes)
    return {"late": late}


def exchanged() -> dict[str, Any]:
    """Whether a rule that is at work ends before another takes its place."""
    begun, ended = threading.Event(), threading.Event()

    def slow(frame: Frame) -> list[tuple[float, Frame]]:
        begun.set()
        time.sleep(0.1)
        ended.set()
        return [(0.0, frame)]

    path.follow(slow)
    robot.sendto(SENTINEL, (hosts["station"].address, PORT))
    begun.wait(10)
    path.follow(passes)
    return {"ended": ended.is_set(), "arrived": arrived()}


def forged(port: int, expected: int = 1) -> dict[str, Any]:
    """A datagram in robot's name that enters at a port of the switch."""
    ends = tuple(network.hardware_of(hosts[name].address) for name in ("robot", "station"))
    raw = udp_frame(ends, (hosts["robot"].address, 9), (hosts["station"].address, PORT), b"forged")
    path.inject(Frame(port, raw))
    return {"arrived": arrived(expected)}


if __name__ == "__main__":
    mount_tmpfs("/run", "755")
    hosts = network.build(NAMES, PROFILE, "switch").hosts
    fence.enclose(list(hosts.values()))
    path = OnPath(network.FILES / "adversary.sock")
    path.start()
    switch = start_switch(Path(sys.argv[1]), path.path)
    robot, station = bound(hosts["robot"]), bound(hosts["station"])
    far = udp_frame(("02:00:0a:4d:00:01", "02:00:0a:4d:00:02"), ("10.77.0.1", 9), ("192.0.2.1", PORT), SENTINEL)
    many = limits.MOST_FOR_ONE + 1
    found = {
        "looks": under(passes),
        "drops": under(lambda _: [], expected=0),
        "alters": under(lambda frame: [(0.0, frame.with_payload(b"other"))]),
        "alters and shortens": under(lambda frame: [(0.0, frame.with_payload(b"hi"))]),
        "alters and lengthens": under(lambda frame: [(0.0, frame.with_payload(b"x" * 9001))]),
        "repeats": under(lambda frame: [(0.0, frame), (0.0, frame)], expected=2),
        "lets overtake": under(one_held, b"first", b"second", expected=2),
        "sends from elsewhere": under(lambda frame: [(0.0, replace(frame, port=2))]),
        "fails": under(failing, SENTINEL, SENTINEL, expected=2),
        "multiplies": under(lambda frame: [(0.0, frame)] * many),
        "multiplies without end": under(lambda frame: itertools.repeat((0.0, frame))),
        "holds for too long": under(lambda frame: [(limits.MOST_HELD_S + 1, frame)]),
        "sends away": under(lambda frame: [(0.0, replace(frame, raw=far))]),
        "held": held(),
        "exchanged": exchanged(),
        "forged at its port": forged(0),
        "forged at the attacker's": forged(2),
        "forged at the receiver's": forged(1, expected=0),
    }
    seen = next(frame for frame in path.seen if frame.payload == SENTINEL)
    found["seen"] = {"port": seen.port, "source": seen.source[0], "destination": list(seen.destination)}
    path.stop()
    robot.sendto(b"afterwards", (hosts["station"].address, PORT))
    found["left"] = {"arrived": arrived()}
    switch.end(5)
    print(json.dumps(found))
