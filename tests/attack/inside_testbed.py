"""Builds a testbed in the namespaces it is started in, and tries there what an adversary may and may not do.

`inside_testbed.py DESCRIPTOR...` prints, for each try, the error it ended with or null. The descriptors are open
network namespaces of the machine's. `inside_testbed.py --alone` tries what needs no testbed.
"""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from attack.scenes import STATION, away, frame_to, scene_on
from comseclab.attack import fence
from comseclab.attack.path import OnPath
from comseclab.errors import LabError
from comseclab.testbed import network
from comseclab.testbed.host import Host
from comseclab.testbed.namespaces import inside, ip, mount_tmpfs
from comseclab.testbed.profile import LinkProfile

ROUTE_OUT = "default via 10.77.0.1 dev eth0"
found: dict[str, str | None] = {}


def attempt(name: str, act: Callable[[], Any]) -> None:
    """Note what becomes of a try."""
    try:
        act()
        found[name] = None
    except LabError as error:
        found[name] = str(error)


def enter(host: Host) -> None:
    with fence.within(host):
        pass


def in_a_child() -> None:
    """A process that the testbed's own has forked."""
    reader, writer = os.pipe()
    if child := os.fork():
        os.close(writer)
        os.waitpid(child, 0)
        if text := os.read(reader, 1000):
            raise LabError(text.decode())
        return
    try:
        enter(hosts["attacker"])
    except LabError as error:
        os.write(writer, str(error).encode())
    os._exit(0)


def in_a_thread() -> None:
    """Raises what the thread did."""
    failed: list[LabError] = []

    def work() -> None:
        try:
            enter(hosts["attacker"])
        except LabError as error:
            failed.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]


def with_added(change: str, undo: str) -> Callable[[], None]:
    """Enter the attacker's host after it got something that leads out of the testbed."""

    def act() -> None:
        attacker = hosts["attacker"]
        with inside(attacker.namespace):
            ip([change])
        try:
            enter(attacker)
        finally:
            with inside(attacker.namespace):
                ip([undo])

    return act


if __name__ == "__main__":
    mount_tmpfs("/run", "755")
    attempt("fresh namespaces", fence.check_fresh)
    if sys.argv[1:] == ["--alone"]:
        print(json.dumps(found))
        sys.exit()

    names = ["robot", "station", "attacker", "bystander"]
    hosts = network.build(names, LinkProfile(name="attack", mtu=16384), "switch").hosts
    attacker = hosts["attacker"]
    adversary = network.FILES / "adversary.sock"
    attempt("a host before the testbed is enclosed", lambda: enter(attacker))
    attempt("the path before the testbed is enclosed", lambda: OnPath(adversary))

    # A namespace that looks like a host of ours, and is none.
    ip(["netns add foreign", "link add one type veth peer name two", "link set one netns foreign name eth0"])
    with inside(Path("/run/netns/foreign")):
        ip(["link set lo up", f"address add {attacker.address}/24 dev eth0", "link set eth0 up"])
    foreign = replace(attacker, namespace=Path("/run/netns/foreign"))
    machines = [replace(attacker, namespace=Path(f"/proc/self/fd/{number}")) for number in sys.argv[1:]]
    for number, machine in enumerate(machines):
        attempt(f"enclosing a namespace of the machine, {number}", lambda host=machine: fence.enclose([host]))
    attempt("enclosing the switch's own namespace", lambda: fence.enclose([
        replace(attacker, namespace=Path("/proc/self/ns/net"))
    ]))  # fmt: skip

    attempt("enclosing a host under another's address", lambda: fence.enclose([
        replace(attacker, namespace=hosts["robot"].namespace)
    ]))  # fmt: skip
    attempt("enclosing the testbed", lambda: fence.enclose(list(hosts.values())))
    attempt("enclosing another", lambda: fence.enclose([foreign]))
    attempt("the path", lambda: OnPath(adversary))
    attempt("the attacker's host", lambda: enter(attacker))
    attempt("the attacker's host from a thread", in_a_thread)
    attempt("the attacker's host from a child", in_a_child)
    attempt("a foreign namespace", lambda: enter(foreign))
    attempt("no namespace", lambda: enter(replace(attacker, namespace=Path("/run/netns/nothing"))))
    attempt("the switch's own namespace", lambda: enter(replace(attacker, namespace=Path("/proc/self/ns/net"))))
    for number, machine in enumerate(machines):
        attempt(f"a namespace of the machine, {number}", lambda host=machine: enter(host))
    attempt("a host with a route out", with_added(f"route add {ROUTE_OUT}", f"route del {ROUTE_OUT}"))
    address = "192.0.2.7/32 dev lo"
    attempt("a host with a foreign address", with_added(f"address add {address}", f"address del {address}"))

    scene, path = scene_on(hosts, network.FILES / "injected.hex")
    for address in away():
        attempt(f"connect {address}", lambda to=address: scene.connect(to, 80))
        if address.count(".") == 3 and ":" not in address:
            attempt(f"inject {address}", lambda to=address: scene.inject(frame_to(to)))
            attempt(
                f"inject_on_path {address}", lambda to=address: scene.inject_on_path(replace(STATION, raw=frame_to(to)))
            )
    fragment = bytearray(frame_to("192.0.2.1"))
    fragment[20:22] = b"\x20\x01"
    attempt("inject fragment", lambda: scene.inject(bytes(fragment)))
    attempt("inject IPv6", lambda: scene.inject(bytes(12) + b"\x86\xdd" + bytes(40)))
    attempt("inject a piece", lambda: scene.inject(bytes(12) + b"\x08\x00" + bytes(10)))
    for name, address in (("nobody's", "10.77.0.9"), ("a closed", attacker.address)):
        spent = scene.budget.frames
        with suppress(OSError):
            scene.connect(address, 9, 0.3)
        found[f"spent on {name} port"] = str(scene.budget.frames - spent)
    sent = attacker.counters().tx_frames
    attempt("inject", lambda: scene.inject(STATION.raw))
    found["frames sent"] = str(attacker.counters().tx_frames - sent)
    attempt("inject_on_path", lambda: scene.inject_on_path(STATION))
    found["frames on the path"] = str(len(path.injected))

    listener: socket.socket = scene.listen()
    with inside(attacker.namespace):
        peer = socket.create_connection(listener.getsockname())
    found["listening at"] = listener.getsockname()[0]
    reached = subprocess.run(["ss", "-Hltn"], capture_output=True, text=True, check=True).stdout
    found["listening outside"] = reached.strip()
    scene.end()
    attempt("inject after the end", lambda: scene.inject(STATION.raw))
    attempt("say after the end", lambda: scene.say(peer, b"text"))
    found["listener after the end"] = str(listener.fileno())
    print(json.dumps(found))
