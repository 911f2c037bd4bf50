"""Hosts joined by the switch, inside a network and mount namespace of their own, and what measures and counts there.

The standard library alone, so that any user can run it.
"""

import ctypes
import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

PROGRAMS, FOLDER = Path(sys.argv[2]), Path(sys.argv[3])
NETNS = Path("/run/netns")
PATIENCE_S = 20
PROBE_BYTES = 200
FIXED = {"kind": "emulated", "jitter": "fifo", "distribution": "normal"}


def shell(*words: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(words)}: {done.stderr}"
    return done.stdout


def enter(host: str) -> None:
    with (NETNS / host).open() as file:
        assert ctypes.CDLL(None).setns(file.fileno(), 0) == 0


def add_namespace(name: str) -> None:
    """A namespace whose interfaces say nothing of themselves."""
    shell("ip", "netns", "add", name)
    shell("ip", "netns", "exec", name, "sysctl", "-qw", "net.ipv6.conf.default.disable_ipv6=1")


class Network:
    """Hosts 10.9.0.1, 10.9.0.2, ... on the ports of one switch."""

    def __init__(self, profiles: dict[str, dict[str, object]], offloads: bool = False, **config: object) -> None:
        self.hosts = list(profiles)
        add_namespace("switch")
        for number, (host, profile) in enumerate(profiles.items(), start=1):
            self._plug(number, host, str(profile.get("mtu", 1500)), offloads)
        ports = [
            {"host": host, "interface": f"port-{host}", "profile": {"name": host, **FIXED, **profile}}
            for host, profile in profiles.items()
        ]
        content = {"version": 1, "seed": 1, "fifo_priority": 20, "cpu": None, "spin_ns": 60_000, "ports": ports}
        file = FOLDER / "switch.json"
        file.write_text(json.dumps({**content, **config}))
        self.before = {host: self.statistics(host) for host in profiles}
        command = ["ip", "netns", "exec", "switch", str(PROGRAMS / "comseclab-switch"), str(file)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.event()["event"] == "ready"

    def _plug(self, number: int, host: str, mtu: str, offloads: bool) -> None:
        add_namespace(host)
        port = f"port-{host}"
        shell("ip", "link", "add", port, "netns", "switch", "mtu", mtu, "type", "veth", "peer", "eth0", "netns", host)
        for namespace, interface in (("switch", port), (host, "eth0")):
            shell("ip", "-n", namespace, "link", "set", interface, "mtu", mtu, "up")
            if not offloads:
                settings = [word for name in ("tx", "tso", "gso", "gro", "sg") for word in (name, "off")]
                shell("ip", "netns", "exec", namespace, "ethtool", "-K", interface, *settings)
        shell("ip", "-n", host, "address", "add", f"10.9.0.{number}/24", "brd", "+", "dev", "eth0")
        shell("ip", "-n", host, "link", "set", "lo", "up")

    def event(self) -> dict:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def counters(self) -> dict:
        assert self.process.stdin is not None
        self.process.stdin.write("counters\n")
        self.process.stdin.flush()
        return self.event()

    def stop(self) -> dict:
        assert self.process.stdin is not None
        self.process.stdin.write("stop\n")
        self.process.stdin.flush()
        last = self.event()
        assert self.process.wait(PATIENCE_S) == 0
        return last

    def statistics(self, host: str) -> dict[str, int]:
        """What the kernel counts at the switch's end of a host's cable."""
        (link,) = json.loads(shell("ip", "-n", "switch", "-s", "-j", "link", "show", f"port-{host}"))
        counted = link["stats64"]
        return {f"{way}_{what}": counted[way][what] for way in ("rx", "tx") for what in ("packets", "bytes")}

    def agree(self, counters: dict) -> None:
        """Every frame and byte the kernel counted, the switch counted."""
        for host in self.hosts:
            after, before = self.statistics(host), self.before[host]
            port = counters["ports"][host]
            counted = {
                "rx_packets": port["in_frames"] + port["oversized"] + port["checksum_missing"],
                "tx_packets": port["out_frames"],
                "tx_bytes": port["out_bytes"],
            }
            if not port["oversized"] + port["checksum_missing"]:
                counted["rx_bytes"] = port["in_bytes"]
            assert counted == {key: after[key] - before[key] for key in counted}, (host, counted, before, after)

    def socket(self, host: str, kind: int = socket.SOCK_DGRAM, protocol: int = 0) -> socket.socket:
        enter(host)
        opened = socket.socket(socket.AF_INET, kind, protocol)
        opened.settimeout(PATIENCE_S)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        return opened


def address(number: int) -> str:
    return f"10.9.0.{number}"


def probe(source: str, target: str, numbers: tuple[int, int] = (1, 2), **options: int) -> list[dict]:
    settings: dict[str, object] = {"count": 100, "interval-us": 1000, "size": PROBE_BYTES, **options}
    for end, host, number in (("from", source, numbers[0]), ("to", target, numbers[1])):
        settings |= {end: NETNS / host, f"{end}-address": address(number)}
    words = [word for name, value in settings.items() for word in (f"--{name}", str(value))]
    return json.loads(shell(str(PROGRAMS / "comseclab-probe"), *words))["directions"]


def settled(network: Network, done: Callable[[dict], bool]) -> dict:
    """The counters as soon as they fulfil a condition."""
    for _ in range(PATIENCE_S * 20):
        counters = network.counters()
        if done(counters):
            return counters
        time.sleep(0.05)
    raise AssertionError(f"never came true: {counters}")


def alone(owned: str) -> None:
    """A host without a cable."""
    add_namespace("alone")
    shell("ip", "-n", "alone", "link", "set", "lo", "up")
    shell("ip", "-n", "alone", "address", "add", owned, "dev", "lo")
