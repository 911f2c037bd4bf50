"""Runs in the guest: sends probes through the laboratory's kernel link and notes what became of each.

`send_probes.py JOBS.json`: a list of `{"name", "profile", "count", "interval_ns", "size"}`, `size` being the whole
frame. Writes NAME.sent (i64 a probe: when it was handed to the link) and NAME.received (i64 triples: probe, arrival,
position of the one flipped bit or -1) beside the job file. Times are nanoseconds of the guest's clock, which ticks
every 256 ns and does not advance while the guest computes.
"""

import array
import json
import select
import socket
import struct
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from comseclab.testbed import netem
from comseclab.testbed.namespaces import ip
from comseclab.testbed.profile import LinkProfile

SO_RCVBUFFORCE, SO_TIMESTAMPNS, ETH_P_ALL = 33, 35, 3
HEADER = bytes.fromhex("ffffffffffff 020000000001 88b5")  # broadcast, a local address, an experimental EtherType
DRAIN_NS = 20_000_000_000
HOSTS = ("a", "b")


def frame_of(probe: int, size: int) -> bytes:
    return (HEADER + struct.pack("<Q", probe) * (size // 8))[:size]


def identify(frame: bytes) -> tuple[int, int]:
    """The probe a frame was (its number repeats, so the majority holds) and the position of its flipped bit or -1."""
    numbers = struct.unpack_from("<5Q", frame, len(HEADER))
    probe = Counter(numbers).most_common(1)[0][0]
    difference = int.from_bytes(frame, "little") ^ int.from_bytes(frame_of(probe, len(frame)), "little")
    if difference.bit_count() > 1:
        raise ValueError(f"probe {probe} came with {difference.bit_count()} bits flipped")
    return probe, difference.bit_length() - 1


def join(profile: LinkProfile) -> tuple[socket.socket, socket.socket]:
    """The link as the laboratory's kernel backend makes it; a raw socket at each of its ends."""
    for number, host in enumerate(HOSTS):
        ip([f"link add end-{number} type veth peer name port-{host}"])
        ip(f"link set {name} mtu {profile.mtu} arp off up" for name in (f"end-{number}", f"port-{host}"))
    netem.chains(HOSTS, profile)
    sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    sender.bind(("end-0", 0))
    receiver = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    receiver.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    receiver.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 26)
    receiver.setblocking(False)
    receiver.bind(("end-1", ETH_P_ALL))
    return sender, receiver


def part() -> None:
    """Take the link away again."""
    ip(f"link delete {name}" for _, name in socket.if_nameindex() if name.startswith(("end-", "x")))
    ip(f"link delete {name}" for _, name in socket.if_nameindex() if name != "lo")


def run(job: dict[str, Any], folder: Path) -> None:
    sender, receiver = join(LinkProfile.model_validate(job["profile"]))
    sent, received = array.array("q"), array.array("q")

    def receive_until(moment: int) -> None:
        while (left := moment - time.time_ns()) > 0:
            if select.select([receiver], [], [], left / 1e9)[0]:
                frame, ancillary, _, _ = receiver.recvmsg(1 << 17, 128)
                seconds, nanoseconds = struct.unpack("qq", ancillary[0][2])
                probe, flipped = identify(frame)
                received.extend((probe, seconds * 1_000_000_000 + nanoseconds, flipped))

    begin = time.time_ns() + 1_000_000_000
    for probe in range(job["count"]):
        frame = frame_of(probe, job["size"])
        receive_until(begin + probe * job["interval_ns"])
        sent.append(time.time_ns())
        sender.send(frame)
    receive_until(time.time_ns() + DRAIN_NS)
    sender.close()
    receiver.close()
    part()
    for name, numbers in (("sent", sent), ("received", received)):
        (folder / f"{job['name']}.{name}").write_bytes(numbers.tobytes())


if __name__ == "__main__":
    jobs = Path(sys.argv[1])
    for job in json.loads(jobs.read_text()):
        run(job, jobs.parent)
