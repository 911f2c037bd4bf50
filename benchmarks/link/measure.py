"""How much the switch adds, how exactly it sends, and how much it carries.

`sudo python benchmarks/link/measure.py [--seconds N] [--keep-awake]`, after
`cargo build --release --bins --examples --manifest-path native/link/Cargo.toml --target-dir build/cargo`.
Prints a table and, as its last line, the same as JSON. Meant for a quiet machine, as root (SCHED_FIFO).
With --keep-awake a SCHED_IDLE loop on every CPU keeps it from sleeping: a virtual machine gives an idle CPU back to
the hypervisor, and waking it takes tens of microseconds that are not the switch's.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from comseclab.testbed.namespaces import NETNS, inside, ip, mount_tmpfs, offloads_off

PROGRAMS = Path(__file__).resolve().parents[2] / "build/cargo/release"
HOSTS = {"a": "10.9.0.1", "b": "10.9.0.2"}
DIRECT = {"c": "10.9.1.1", "d": "10.9.1.2"}
INSIDE = "COMSECLAB_MEASURING"
FRAME_BYTES = 1514
LINE_RATE_BPS = 10**9
PROBE_INTERVAL_US = 2000
ROUNDS = 10


def build() -> None:
    """Hosts a and b on a switch, c and d on one plain cable."""
    mount_tmpfs("/run", "755")
    ip(f"netns add {name}" for name in ("switch", *HOSTS, *DIRECT))
    ip(f"link add port-{host} netns switch type veth peer eth0 netns {host}" for host in HOSTS)
    ip(["link add eth0 netns c type veth peer eth0 netns d"])
    for host, address in (HOSTS | DIRECT).items():
        with inside(NETNS / host):
            Path("/proc/sys/net/ipv6/conf/eth0/disable_ipv6").write_text("1")
            offloads_off("eth0")
            ip([f"address add {address}/24 dev eth0", "link set eth0 up"])
    with inside(NETNS / "switch"):
        for host in HOSTS:
            Path(f"/proc/sys/net/ipv6/conf/port-{host}/disable_ipv6").write_text("1")
            offloads_off(f"port-{host}")
            ip([f"link set port-{host} up"])


class Switch:
    """A running switch, asked over its pipes."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process

    def counters(self) -> dict[str, Any]:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write("counters\n")
        self.process.stdin.flush()
        return dict(json.loads(self.process.stdout.readline()))

    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def switch(cpu: int | None = None, **profile: object) -> Iterator[Switch]:
    """A switch with one profile both ways; unpinned, the scheduler wakes it where the frame is."""
    ports = [{"host": host, "interface": f"port-{host}", "profile": {"name": "measured", **profile}} for host in HOSTS]
    config = {"version": 1, "seed": 1, "fifo_priority": 20, "cpu": cpu, "spin_ns": 60_000, "ports": ports}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(json.dumps(config))
        file.flush()
        with inside(NETNS / "switch"):
            process = subprocess.Popen(
                [PROGRAMS / "comseclab-switch", file.name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        assert process.stdout
        process.stdout.readline()
        try:
            yield Switch(process)
        finally:
            process.communicate("stop\n")


def probe(ends: dict[str, str], seconds: float) -> list[int]:
    """One-way delays in nanoseconds, both directions pooled."""
    (source, source_address), (target, target_address) = ends.items()
    command = [PROGRAMS / "comseclab-probe", "--from", NETNS / source, "--from-address", source_address]
    command += ["--to", NETNS / target, "--to-address", target_address, "--size", "200"]
    command += ["--interval-us", str(PROBE_INTERVAL_US), "--count", str(round(seconds * 1e6 / PROBE_INTERVAL_US))]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True)
    return [delay for direction in json.loads(done.stdout)["directions"] for delay in direction["delays_ns"]]


def added(seconds: float) -> dict[str, float]:
    """Medians of a plain cable and of the switch without delay, measured in turns."""
    plain, switched = [], []
    with switch():
        for _ in range(ROUNDS):
            plain += probe(DIRECT, seconds / ROUNDS)
            switched += probe(HOSTS, seconds / ROUNDS)
    medians = [float(np.median(delays)) / 1000 for delays in (plain, switched)]
    return {"plain_us": medians[0], "switch_us": medians[1], "added_us": medians[1] - medians[0]}


def send_error(delay_ns: int, seconds: float) -> dict[str, Any]:
    """Actual minus due time of sending."""
    with switch(delay_ns=delay_ns) as running:
        delays = probe(HOSTS, seconds)
        counters = running.counters()
    errors = {f"{name}_us": counters["send_error_ns"][name] / 1000 for name in ("p50", "p99", "max")}
    return {**errors, "one_way_p50_us": float(np.median(delays)) / 1000, "realtime": counters["realtime"]}


def line_rate(seconds: int) -> dict[str, Any]:
    """Full-size frames at Gigabit Ethernet's rate, one way."""
    with switch(cpu=1) as running:
        with inside(NETNS / "b"):
            link = subprocess.run(["ip", "-j", "link", "show", "eth0"], capture_output=True, text=True, check=True)
            address = json.loads(link.stdout)[0]["address"]
        # The switch learns where b is from what b says.
        probe(HOSTS, 0.1)
        before, cpu_before = running.counters(), running.cpu_seconds()
        with inside(NETNS / "a"):
            blast = ["taskset", "-c", "0", str(PROGRAMS / "examples/blast"), "eth0", address]
            blast += [str(LINE_RATE_BPS), str(FRAME_BYTES), str(seconds)]
            sent = json.loads(subprocess.run(blast, capture_output=True, text=True, check=True).stdout)
        after, cpu = running.counters(), running.cpu_seconds() - cpu_before
    frames = after["ports"]["b"]["out_frames"] - before["ports"]["b"]["out_frames"]
    gigabits = sent["sent"] * FRAME_BYTES * 8 / sent["seconds"] / 1e9
    # A frame of somebody else's may come in too, so what came in can be more than what we sent.
    came_in = after["ports"]["a"]["in_frames"] - before["ports"]["a"]["in_frames"]
    dropped = max(sent["sent"] + sent["refused"], came_in) - frames
    return {
        "offered_gbps": gigabits,
        "frames": frames,
        "dropped": dropped,
        "cpu_us_per_frame": cpu * 1e6 / max(frames, 1),
    }


SPIN = "import os\nos.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))\nwhile os.getppid() == {parent}: pass"


@contextmanager
def awake(wanted: bool) -> Iterator[None]:
    """Keep every CPU from sleeping."""
    loop = SPIN.format(parent=os.getpid())
    cpus = sorted(os.sched_getaffinity(0)) if wanted else []
    spinners = [subprocess.Popen(["taskset", "-c", str(cpu), sys.executable, "-c", loop]) for cpu in cpus]
    try:
        yield
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=10, help="length of each measurement")
    parser.add_argument("--keep-awake", action="store_true", help="a SCHED_IDLE loop on every CPU")
    options = parser.parse_args()
    if INSIDE not in os.environ:
        os.execvpe("unshare", ["unshare", "-n", "-m", sys.executable, *sys.argv], {**os.environ, INSIDE: "1"})
    build()
    with awake(options.keep_awake):
        results = {
            "added median, no delay (<= 20 us)": added(options.seconds),
            "send error at 0.3 ms (p99 <= 15 us)": send_error(300_000, options.seconds),
            "send error at 13 ms (p99 <= 25 us)": send_error(13_000_000, options.seconds),
            "1 Gbit/s of 1514 B (no drop, about 4 us)": line_rate(options.seconds),
        }
    for name, figures in results.items():
        values = (
            f"{key} {value:.2f}" if isinstance(value, float) else f"{key} {value}" for key, value in figures.items()
        )
        print(f"{name:42} {'  '.join(values)}")
    print(json.dumps(results))


if __name__ == "__main__":
    main()
