"""Runs in the guest: builds a testbed on the kernel's netem for each profile and sends probes through it.

`measure_links.py JOBS.json`: a list of `{"profile", "count", "interval_us", "size"}`; prints one JSON list, an entry
a job: `{"qdiscs": as tc shows them, "directions": [{"sent", "delays_ns": [[probe, delay], ...]}, ...]}`.
"""

import json
import select
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from comseclab.testbed import network
from comseclab.testbed.host import Host
from comseclab.testbed.namespaces import inside, ip
from comseclab.testbed.profile import LinkProfile

HOSTS = ("robot", "station")
PORT = 7777
SO_RCVBUFFORCE = 33
DRAIN_NS = 500_000_000


def endpoint(host: Host) -> socket.socket:
    with inside(host.namespace):
        end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        end.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 24)
        end.bind((host.address, PORT))
        return end


def exchange(one: Host, other: Host, job: dict[str, Any]) -> list[dict[str, Any]]:
    """Probes both ways at once, an interval or more apart; each carries its number and its time of sending."""
    ends = [endpoint(one), endpoint(other)]
    targets = [(other.address, PORT), (one.address, PORT)]
    arrivals: list[list[tuple[int, int]]] = [[], []]

    def receive_until(moment: int) -> None:
        while (left := moment - time.monotonic_ns()) > 0:
            for end in select.select(ends, [], [], left / 1e9)[0]:
                probe, sent = struct.unpack_from("<qq", end.recv(1 << 16))
                arrivals[1 - ends.index(end)].append((probe, time.monotonic_ns() - sent))

    padding = bytes(job["size"] - 16)
    for probe in range(job["count"]):
        for end, target in zip(ends, targets, strict=True):
            end.sendto(struct.pack("<qq", probe, time.monotonic_ns()) + padding, target)
        receive_until(time.monotonic_ns() + job["interval_us"] * 1000)
    receive_until(time.monotonic_ns() + DRAIN_NS)
    for end in ends:
        end.close()
    return [{"sent": job["count"], "delays_ns": delays} for delays in arrivals]


def measure(job: dict[str, Any]) -> dict[str, Any]:
    robot, station = network.build(HOSTS, LinkProfile.model_validate(job["profile"]), "kernel").hosts.values()
    qdiscs = json.loads(subprocess.run(["tc", "-j", "qdisc", "show"], check=True, capture_output=True).stdout)
    directions = exchange(robot, station, job)
    ip(f"netns delete {host}" for host in HOSTS)
    ip(f"link delete {name}" for _, name in socket.if_nameindex() if name.startswith("x"))
    ip(f"link delete {name}" for _, name in socket.if_nameindex() if name != "lo")
    return {"qdiscs": qdiscs, "directions": directions}


json.dump([measure(job) for job in json.loads(Path(sys.argv[1]).read_text())], sys.stdout)
