"""The other arm of compare.py: a ping-pong of the stack alone, on a testbed of the same making as a trial's.

`python reference.py OPTIONS_JSON` as the first process of fresh namespaces; prints a Measured as JSON.
"""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from comseclab.errors import LabError
from comseclab.middleware.cyclonedds import HISTORY_SIZE, required, tuned
from comseclab.plan.links import PROFILES
from comseclab.testbed import network
from comseclab.testbed.host import Host, pinned
from comseclab.testbed.namespaces import inside, mount_tmpfs
from comseclab.trial import usage
from comseclab.trial.launch import ISOLATE
from comseclab.trial.validity import judge_machine

PINGPONG = Path(__file__).resolve().parents[2] / "build/harness/fastdds_pingpong"
WARM_UP = 0.1
DISCOVERY_S = 1
WARM_UP_S = 1
"""ddsperf reports once a second; its first report is not counted."""
BUFFER = 4 << 20
MAX_MESSAGE_SIZE = 65500
"""The defaults of our transports."""
SERIALISED_MORE = 4
"""ddsperf's KeyedSeq has two numbers and a length before its octets and counts all three; our octets have a length."""
LATENCY = re.compile(r" 50% ([0-9.]+)us .* cnt (\d+)")


@dataclass(frozen=True)
class Options:
    """What both arms have in common."""

    stack: str
    link: str
    size: int
    reliable: bool
    rate_hz: float
    """0: each message as soon as the reply to the one before is in."""
    seconds: float
    cpus: tuple[int, int]
    fifo_priority: int | None


@dataclass(frozen=True)
class Measured:
    half_round_trip_ns: float
    """Median."""
    round_trips: int
    reasons: list[str]
    """Why the machine was too busy, by the rule that holds for trials too; none: it was not."""


def measure(options: Options) -> Measured:
    """Run the reference once, in namespaces of its own."""
    argv = ["unshare", *ISOLATE, "--", sys.executable, __file__, json.dumps(asdict(options))]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        raise LabError(f"the reference failed: {done.stderr.strip()[-500:]}", "its own words stand there")
    return Measured(**json.loads(done.stdout))


def _run(options: Options) -> Measured:
    mount_tmpfs("/run", "755")
    mount_tmpfs("/dev/shm", "1777")
    hosts = network.build(["robot", "station"], PROFILES[options.link], "none").hosts
    return {"fastdds": _fastdds, "cyclonedds": _ddsperf}[options.stack](options, hosts)


def _fastdds(options: Options, hosts: Mapping[str, Host]) -> Measured:
    def argv(role: str, host: str) -> list[str]:
        words = [role, hosts[host].address, options.size, int(options.reliable), BUFFER, MAX_MESSAGE_SIZE]
        return [str(PINGPONG), *map(str, words)]

    ping = [*argv("ping", "robot"), str(options.seconds), str(options.rate_hz)]
    printed, reasons = _ping_pong(options, hosts, ping, argv("pong", "station"))
    round_trips = np.array(printed.split(), dtype=float)
    counted = round_trips[int(WARM_UP * len(round_trips)) :]
    return Measured(float(np.median(counted)) / 2, len(counted), reasons)


def _ddsperf(options: Options, hosts: Mapping[str, Host]) -> Measured:
    quality = [] if options.reliable else ["-u"]
    wait = ["-Qminmatch:1", "-Qinitwait:15"]
    rate = [f"{options.rate_hz:g}Hz"] if options.rate_hz else []
    duration = f"-D{options.seconds + DISCOVERY_S + WARM_UP_S + 0.5:g}"
    ping = ["ddsperf", *quality, *wait, duration, "ping", *rate, "size", str(options.size + SERIALISED_MORE)]
    printed, reasons = _ping_pong(options, hosts, ping, ["ddsperf", *quality, *wait, "pong"])
    seconds = [(float(median), int(count)) for median, count in LATENCY.findall(printed)][WARM_UP_S:]
    if not seconds:
        raise SystemExit(f"ddsperf reported no round trips: {printed[-500:]}")
    medians, counts = zip(*seconds, strict=True)
    return Measured(float(np.median(medians)) * 1000, sum(counts), reasons)


def _ping_pong(
    options: Options, hosts: Mapping[str, Host], ping: Sequence[str], pong: Sequence[str]
) -> tuple[str, list[str]]:
    """Run both programs, each on its host and CPU; returns what `ping` printed, and why the machine was too busy."""
    realtime = ["chrt", "--fifo", str(options.fifo_priority)] if options.fifo_priority else []
    running = {
        name: _start(host, cpu, [*realtime, *argv])
        for (name, host), cpu, argv in zip(reversed(hosts.items()), reversed(options.cpus), (pong, ping), strict=True)
    }
    watched = [usage.Watched(name, name, process.pid) for name, process in running.items()]
    machine, before = usage.machine_times(), [usage.times(process.pid) for process in watched]
    time.sleep(options.seconds)  # `ping` runs for longer: it has to find its other end first
    after = usage.machine_times()
    uses = [usage.use(process, first) for process, first in zip(watched, before, strict=True)]
    foreign, stolen = usage.foreign_share(machine, after, uses), after.steal_s - machine.steal_s
    reasons = judge_machine(uses, foreign, stolen, after.at_s - machine.at_s, os.cpu_count() or 1)
    printed, _ = running["robot"].communicate()
    if code := running["robot"].returncode:
        raise SystemExit(f"{ping[0]} ended with exit code {code}: {printed[-500:]}")
    running["station"].kill()
    return printed, reasons


def _start(host: Host, cpu: int, argv: Sequence[str]) -> "subprocess.Popen[str]":
    sizes = tuned(
        max_message_size=MAX_MESSAGE_SIZE, history_size=HISTORY_SIZE, receive_buffer=BUFFER, send_buffer=BUFFER
    )
    environment = {"PATH": os.environ["PATH"], "CYCLONEDDS_URI": f"{sizes},{required(host.address, None)}"}
    with inside(host.namespace), pinned([cpu]):
        return subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, env=environment)


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    print(json.dumps(asdict(_run(Options(**given)))))
