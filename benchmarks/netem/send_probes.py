"""Runs in the guest: sends probes through the kernel's netem and notes what became of each.

`send_probes.py JOBS.json`: a list of `{"name", "netem": [tc's words], "mtu", "count", "interval_ns", "size"}`, `size`
being the whole frame. Writes NAME.sent (i64 a probe: when it was handed to the queue) and NAME.received (i64
triples: probe, arrival time, position of the one flipped bit or -1) beside the job file. Times are the guest's.
"""

import array
import json
import select
import socket
import struct
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

SO_RCVBUFFORCE, SO_TIMESTAMPNS, ETH_P_ALL = 33, 35, 3
HEADER = bytes.fromhex("ffffffffffff 020000000001 88b5")  # broadcast, local address, an experimental EtherType
SETTLE_NS = 20_000_000_000


def frame_of(probe: int, size: int) -> bytes:
    words = size // 8
    return HEADER + (struct.pack("<Q", probe) * words)[: size - len(HEADER)]


def identify(frame: bytes, size: int) -> tuple[int, int]:
    """The probe a frame was (its number repeats, so the majority holds) and the position of its flipped bit or -1."""
    body = frame[len(HEADER) : len(HEADER) + 40]
    probe = Counter(struct.unpack(f"<{len(body) // 8}Q", body[: len(body) // 8 * 8])).most_common(1)[0][0]
    difference = int.from_bytes(frame, "little") ^ int.from_bytes(frame_of(probe, size), "little")
    if difference.bit_count() > 1:
        raise ValueError(f"probe {probe} came with {difference.bit_count()} bits flipped")
    return probe, difference.bit_length() - 1


def run(job: dict[str, Any], folder: Path) -> None:
    tc("ip", "link", "add", "va", "type", "veth", "peer", "name", "vb")
    for end in ("va", "vb"):
        tc("ip", "link", "set", end, "mtu", str(job["mtu"]), "up")
    tc("tc", "qdisc", "add", "dev", "va", "root", "netem", *job["netem"])
    out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    out.bind(("va", 0))
    into = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    into.bind(("vb", ETH_P_ALL))
    into.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    into.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 26)
    into.setblocking(False)

    sent, received = array.array("q"), array.array("q")

    def receive_until(moment: int) -> None:
        while (left := moment - time.time_ns()) > 0:
            if select.select([into], [], [], left / 1e9)[0]:
                frame, ancillary, _, _ = into.recvmsg(1 << 17, 128)
                seconds, nanoseconds = struct.unpack("qq", ancillary[0][2])
                probe, flipped = identify(frame, job["size"])
                received.extend((probe, seconds * 1_000_000_000 + nanoseconds, flipped))

    begin = time.time_ns() + 1_000_000_000
    for probe in range(job["count"]):
        frame = frame_of(probe, job["size"])
        receive_until(begin + probe * job["interval_ns"])
        sent.append(time.time_ns())
        out.send(frame)
    receive_until(time.time_ns() + SETTLE_NS)

    for name, numbers in (("sent", sent), ("received", received)):
        (folder / f"{job['name']}.{name}").write_bytes(numbers.tobytes())
    tc("ip", "link", "delete", "va")


def tc(*words: str) -> None:
    subprocess.run(words, check=True)


if __name__ == "__main__":
    jobs = Path(sys.argv[1])
    for job in json.loads(jobs.read_text()):
        run(job, jobs.parent)
        print(job["name"], flush=True)
