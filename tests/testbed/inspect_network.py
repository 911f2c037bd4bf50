"""Builds a testbed in the namespaces it is started in, and prints what is there: `inspect_network.py HOSTS PROFILE`."""

import json
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from comseclab.testbed import network
from comseclab.testbed.host import Host
from comseclab.testbed.namespaces import inside, mount_tmpfs
from comseclab.testbed.profile import LinkProfile

OFFLOADS = (
    "tx-checksumming", "rx-checksumming", "scatter-gather", "tx-tcp-segmentation", "tx-tcp6-segmentation",
    "generic-segmentation-offload", "generic-receive-offload",
)  # fmt: skip


def output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def reaches(host: Host, other: Host) -> bool:
    """Whether a datagram comes through."""
    with inside(other.namespace):
        receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with inside(host.namespace):
        sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with receiver, sender:
        receiver.bind((other.address, 0))
        receiver.settimeout(0.5)
        for _ in range(3):  # a port of a bridge takes a moment to forward
            sender.sendto(b"here", receiver.getsockname())
            with suppress(TimeoutError):
                return receiver.recv(4) == b"here"
    return False


if __name__ == "__main__":
    mount_tmpfs("/run", "755")
    hosts, link = sys.argv[1].split(","), LinkProfile.model_validate_json(sys.argv[2])
    built = network.build(hosts, link, "switch")
    found = {}
    for name, host in built.hosts.items():
        with inside(host.namespace):
            before = host.counters()
            reached = {other.name: reaches(host, other) for other in built.hosts.values()}
            found[name] = {
                "namespace": str(host.namespace),
                "interfaces": {about["ifname"]: about["mtu"] for about in json.loads(output("ip", "-j", "link"))},
                "addresses": output("ip", "-o", "address"),
                "neighbours": output("ip", "neighbour"),
                "routes": output("ip", "route"),
                "offloads": [
                    line.strip()
                    for line in output("ethtool", "-k", host.interface).splitlines()
                    if line.strip().split(":")[0] in OFFLOADS and ": on" in line
                ],
                "reached": reached,
                "frames": host.counters().tx_frames - before.tx_frames,
            }  # fmt: skip
    print(json.dumps({
        "hosts": found,
        "sysctls": built.sysctls,
        "switch": output("ip", "-o", "address"),
        "switch_ipv6": Path("/proc/sys/net/ipv6/conf/all/disable_ipv6").read_text().strip(),
    }))  # fmt: skip
