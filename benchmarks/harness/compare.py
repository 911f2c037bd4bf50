"""Does the laboratory's harness distort? Our `echo` beside a ping-pong of the same stack with nothing of ours in it.

`sudo .venv/bin/python benchmarks/harness/compare.py --stack fastdds` or `--stack cyclonedds`, on a quiet machine.

The reference is Debian's `ddsperf ping` and `pong` for Cyclone DDS, for Fast DDS `fastdds_pingpong.cpp`, built here.
Ours is a whole trial: capture, nodes, records. Both arms get fresh namespaces of the same making, the same CPUs,
interface, socket buffers, message size and reliability, and run in pairs, the order within a pair drawn with --seed.
Payloads are opaque octets, so no arm encodes or decodes a ROS type. By default each message follows the reply to the
one before at once, so no arm sleeps longer than the other; with --rate both wait for their time (ours and
fastdds_pingpong spin for the last 50 us before it, ddsperf does not). A run during which the machine was busy with
other things is repeated, in either arm by the same rule.

Prints a row a pair, then the ratio of medians, ours / reference, over all pairs: the geometric mean with its 95 %
interval (Student's t of the logarithms). Aim: 0.95 to 1.05. Exit code 1 when the ratio is outside of it.
"""

import argparse
import math
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from reference import BUFFER, PINGPONG, Options, measure

from comseclab.analysis.build import trial_medians
from comseclab.analysis.compare import FIXED, pair_ratios, ratio_interval
from comseclab.analysis.reading import Stream
from comseclab.errors import LabError
from comseclab.laboratory import WARM_UP
from comseclab.places import native_programs
from comseclab.plan import Trials, expand
from comseclab.plan.read import checked_plan
from comseclab.testbed.lock import machine_lock
from comseclab.trial.launch import run_trial
from comseclab.workload.spool import Spools

AIM = (0.95, 1.05)
MOST_REPEATS = 10
DDSPERF_DEPTH = 1
"""ddsperf's ping and pong always keep the last message alone; ours would keep all."""
AHEAD = 2.0
"""Without --rate our schedule runs this many times faster than replies come, so that each send is overdue."""


@dataclass(frozen=True)
class Run:
    """Median of half a round trip, and why the run does not count, if so."""

    half_round_trip_ns: float
    reasons: list[str]


class Ours:
    """Echo trials of the laboratory, one a call."""

    def __init__(self, options: Options, folder: Path) -> None:
        robot, station = options.cpus
        pinned: dict[str, Any] = {"node_cpus": {"robot": [robot], "station": [station]}}
        if options.fifo_priority:
            pinned["node_fifo_priority"] = options.fifo_priority
        if options.stack == "cyclonedds":
            pinned["cyclonedds"] = {"history_depth": DDSPERF_DEPTH}
        content = {
            "plan": {"name": "harness", "duration_s": options.seconds, "drain_s": 0.2},
            "factors": {
                "middleware": options.stack,
                "reliability": "reliable" if options.reliable else "best-effort",
                "link": options.link,
                "workload": "octets",
                "pattern": "echo",
                "settings": "pinned",
            },
            "workloads": {"octets": {"streams": [{"opaque_bytes": options.size, "rate_hz": options.rate_hz}]}},
            "settings": {"pinned": pinned},
        }
        plan = checked_plan(content, folder / "harness.toml")
        (self._case,) = expand(plan)
        self._trials = Trials(plan, Spools(folder / "spools"), "switch", native_programs())
        self._folder = folder
        self._number = 0

    def __call__(self) -> Run:
        self._number += 1
        folder = self._folder / f"{self._number:04}"
        nonce = f"{self._number:016x}"
        spec = self._trials.spec(self._case, number=self._number, pair=0, seed=self._number, nonce=nonce)
        record = run_trial(spec, folder)
        if record.status != "valid":
            return Run(math.nan, record.reasons)
        streams = [Stream.model_validate(stream, from_attributes=True) for stream in spec.streams]
        return Run(trial_medians(folder, streams, echo=True, warm_up=WARM_UP)[0], [])


def reference(options: Options) -> Run:
    """The reference, with the machine to itself."""
    with machine_lock():
        measured = measure(options)
    return Run(measured.half_round_trip_ns, measured.reasons)


def valid(arm: Callable[[], Run], repeated: list[str]) -> float:
    """Half a round trip of the first valid run, ns. Raises LabError when none of MOST_REPEATS is."""
    for _ in range(MOST_REPEATS):
        run = arm()
        if not run.reasons:
            return run.half_round_trip_ns
        repeated += run.reasons
    raise LabError(f"{MOST_REPEATS} runs were invalid: {repeated[-1]}", "use a quiet machine")


def prepare(options: Options) -> None:
    """Build the reference, and refuse a machine that would not give both arms the same buffers."""
    for name in ("rmem_max", "wmem_max"):
        path = Path("/proc/sys/net/core") / name
        if int(path.read_text()) < BUFFER:
            raise LabError(f"net.core.{name} is below {BUFFER}", f"sudo sysctl net.core.{name}={BUFFER}")
    if options.stack == "fastdds":
        here, build = Path(__file__).resolve().parent, PINGPONG.parent
        configure = ["cmake", "-S", str(here), "-B", str(build), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=RelWithDebInfo"]
        for command in (configure, ["cmake", "--build", str(build)]):
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def compare(options: Options, pairs: int, seed: int, folder: Path) -> bool:
    """Measure and print all pairs; whether the ratio is within AIM."""
    dice, repeated = random.Random(seed), list[str]()
    paced = options
    if not options.rate_hz:
        round_trip_ns = 2 * valid(lambda: reference(options), repeated)
        paced = replace(options, rate_hz=min(1e6, AHEAD * 1e9 / round_trip_ns))
    arms = {"reference": lambda: reference(options), "ours": Ours(paced, folder)}
    found: dict[str, list[float]] = {name: [] for name in arms}
    print(f"{'pair':>4}  {'reference':>10}  {'ours':>10}  ratio   (medians of half a round trip, us)", flush=True)
    for pair in range(pairs):
        for name in dice.sample(list(arms), 2):
            found[name].append(valid(arms[name], repeated))
        theirs, own = found["reference"][-1], found["ours"][-1]
        print(f"{pair:>4}  {theirs / 1e3:10.1f}  {own / 1e3:10.1f}  {own / theirs:.3f}", flush=True)
    for reason in repeated:
        print(f"repeated: {reason}")
    interval = ratio_interval(pair_ratios(found["reference"], found["ours"]), FIXED)
    assert interval is not None
    bounds = "" if interval.low is None or interval.high is None else f" [{interval.low:.3f}, {interval.high:.3f}]"
    print(f"{' '.join(f'{key}={value}' for key, value in asdict(options).items())}")
    print(f"ratio {interval.estimate:.3f}{bounds} over {pairs} pairs; aim {AIM[0]} to {AIM[1]}")
    return AIM[0] <= interval.estimate <= AIM[1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stack", choices=["fastdds", "cyclonedds"], required=True)
    parser.add_argument("--size", type=int, default=9000, help="octets of a message")
    parser.add_argument("--link", choices=["direct", "localhost"], default="direct")
    parser.add_argument("--best-effort", action="store_true", help="instead of reliable")
    parser.add_argument("--rate", type=float, default=0.0, help="messages per second; 0: at once after each reply")
    parser.add_argument("--seconds", type=float, default=4.0, help="sending time of each run")
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cpus", type=int, nargs=2, metavar=("ROBOT", "STATION"), help="CPUs of the two ends")
    parser.add_argument("--fifo", type=int, metavar="PRIORITY", help="SCHED_FIFO for both ends, for a busy machine")
    given = parser.parse_args()
    available = sorted(os.sched_getaffinity(0))
    options = Options(
        stack=given.stack, link=given.link, size=given.size, reliable=not given.best_effort, rate_hz=given.rate,
        seconds=given.seconds, cpus=tuple(given.cpus or (available[0], available[min(1, len(available) - 1)])),
        fifo_priority=given.fifo,
    )  # fmt: skip
    try:
        prepare(options)
        with tempfile.TemporaryDirectory(prefix="comseclab-harness-") as folder:
            return int(not compare(options, given.pairs, given.seed, Path(folder)))
    except LabError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
