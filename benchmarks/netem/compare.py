"""The link's core against the kernel's netem: the same profiles, the same probes, the same distributions?

    .venv/bin/python benchmarks/netem/compare.py --out netem.json

builds the oracle (build_uml.sh) and the core's simulator, sends the probes through both (some five minutes, and once as
long to build), prints a table and writes it as JSON. Exit code 1 when a figure is out of its bounds, which are:

- delay of independent probes (1 s apart, so that none meets another): two-sample Kolmogorov-Smirnov D at most 0.02;
- loss, duplication, corruption: the configured share lies in the exact (Clopper-Pearson) 99 % interval of the core's;
- all p-values, corrected after Holm over the whole set, at least 0.01: of the above D; of Fisher's exact test for each
  share, kernel against core; of D for the place of the flipped bit; and, for sequences at 40 and 450 or 500 Hz, of D
  and of the share overtaken, by exchanging blocks of 500 probes at random, as probes so close hold each other up.

The guest's clock ticks every 256 ns and its timers come up to two ticks late: delays are compared in whole
microseconds, rounded down. The core's draws follow the seed; the kernel's are fresh each time.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from comseclab.plan.links import PROFILES

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests" / "kernel_path"))
import uml  # noqa: E402

FRAME = 1512  # bytes; at 54 Mbit/s and at 1 Gbit/s its time is not near a whole microsecond
APART_NS = 1_000_000_000
RANDOM_DELAY = ("ethernet", "wifi", "ethernet-2018", "wifi-2018", "reorder-25")
SHARES = {
    "loss-10": "loss",
    "loss-60": "loss",
    "wifi": "loss",
    "duplicate-1": "duplicate",
    "corrupt-1": "corrupt",
    "corrupt-10": "corrupt",
}
SEQUENCES = [(name, rate_hz) for name in ("ethernet", "wifi", "wifi-2018") for rate_hz in (40, 500)]
# Not at 500 Hz: its 10 ms are five such intervals, so that frames would meet within a tick of the guest's clock.
SEQUENCES += [("reorder-25", 40), ("reorder-25", 450)]
BLOCK, PERMUTATIONS = 500, 4999
LARGEST_D, SMALLEST_P, CONFIDENCE = 0.02, 0.01, 0.99

Samples = NDArray[np.int64]


@dataclass
class Row:
    """One comparison; `p_holm` is filled in when all are known."""

    profile: str
    figure: str
    kernel: float
    core: float
    d: float | None
    p: float
    bounds_hold: bool
    p_holm: float = 1.0

    @property
    def holds(self) -> bool:
        return self.bounds_hold and self.p_holm >= SMALLEST_P


@dataclass(frozen=True)
class Outcome:
    """What became of the probes of one job."""

    delays: Samples
    """Microseconds, first copies alone, in the order of sending."""
    flipped: Samples
    """Positions of flipped bits."""
    events: dict[str, tuple[int, int]]
    """For loss, duplicate and corrupt: how often, out of how many."""
    overtaken: Samples
    """For each frame in the order of arrival: 1 when a later one came before it."""


def read(name: str, sent_in: Path, received_in: Path) -> Outcome:
    sent = np.fromfile(sent_in / f"{name}.sent", "<i8")
    received = np.fromfile(received_in / f"{name}.received", "<i8").reshape(-1, 3)
    probes, first = np.unique(received[:, 0], return_index=True)
    flipped = received[received[:, 2] >= 0, 2]
    return Outcome(
        delays=(received[first, 1] - sent[probes]) // 1000,
        flipped=flipped,
        events={
            "loss": (len(sent) - len(probes), len(sent)),
            "duplicate": (len(received) - len(probes), len(sent)),
            "corrupt": (len(flipped), len(received)),
        },
        overtaken=(np.maximum.accumulate(received[:, 0]) > received[:, 0]).astype(np.int64),
    )


def jobs(count: int) -> list[dict[str, Any]]:
    spaced = [(name, name, APART_NS) for name in dict.fromkeys((*RANDOM_DELAY, *SHARES))]
    in_sequence = [(f"{name}@{rate_hz}", name, 1_000_000_000 // rate_hz) for name, rate_hz in SEQUENCES]
    return [
        {
            "name": job,
            "profile": PROFILES[profile].model_dump(),
            "count": count,
            "interval_ns": interval_ns,
            "size": FRAME,
        }
        for job, profile, interval_ns in spaced + in_sequence
    ]


def run_kernel(folder: Path, count: int) -> str:
    """Send the probes through netem in the guest; returns its kernel's version."""
    kernel = subprocess.run([HERE / "build_uml.sh"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    probes = f"uname -r; exec {sys.executable} {HERE / 'send_probes.py'} /run/shared/jobs.json"
    options = ("time-travel=inf-cpu",)
    timeout_s = 120 + 0.1 * count
    return uml.run(["sh", "-c", probes], folder, kernel=Path(kernel), options=options, timeout_s=timeout_s).strip()


def run_core(folder: Path, jobs_file: Path, seed: int) -> None:
    """Step the core through the same probes, at the times at which they were sent in the guest."""
    target = ROOT / "build" / "cargo"
    manifest = ROOT / "native" / "link" / "Cargo.toml"
    subprocess.run(
        ["cargo", "build", "-q", "--release", "--locked", "--example", "simulate", "--manifest-path", manifest],
        check=True,
        env=os.environ | {"CARGO_TARGET_DIR": str(target)},
    )
    subprocess.run([target / "release/examples/simulate", jobs_file, str(seed), folder], check=True)


def permuted_p(one: Samples, other: Samples, generator: np.random.Generator) -> float:
    """p-value of D for two stationary sequences, by exchanging whole blocks between them."""
    edges = np.unique(np.quantile(np.concatenate([one, other]), np.linspace(0, 1, 1000)))
    blocks = [
        part for whole in (one, other) for part in np.split(whole[: len(whole) // BLOCK * BLOCK], len(whole) // BLOCK)
    ]
    shares = np.array([np.searchsorted(np.sort(block), edges, side="right") / BLOCK for block in blocks])
    first = np.arange(len(blocks)) < len(one) // BLOCK

    def distance(chosen: NDArray[np.bool_]) -> float:
        return float(np.abs(shares[chosen].mean(axis=0) - shares[~chosen].mean(axis=0)).max())

    found = distance(first)
    as_far = sum(distance(generator.permutation(first)) >= found for _ in range(PERMUTATIONS))
    return (1 + as_far) / (1 + PERMUTATIONS)


def compare(kernel: Path, core: Path, seed: int) -> Iterator[Row]:
    def both(job: str) -> tuple[Outcome, Outcome]:
        return read(job, kernel, core), read(job, kernel, kernel)

    for name in RANDOM_DELAY:
        ours, theirs = both(name)
        d, p = stats.ks_2samp(theirs.delays, ours.delays, method="asymp")
        yield Row(
            name, "mean delay, us", theirs.delays.mean(), ours.delays.mean(), float(d), float(p), bool(d <= LARGEST_D)
        )
    for name, event in SHARES.items():
        ours, theirs = both(name)
        (hits, of), (their_hits, their_of) = ours.events[event], theirs.events[event]
        interval = stats.binomtest(hits, of).proportion_ci(CONFIDENCE, method="exact")
        p = stats.fisher_exact(np.array([[hits, of - hits], [their_hits, their_of - their_hits]])).pvalue
        configured = getattr(PROFILES[name], event)
        yield Row(
            name,
            f"{event}, share",
            their_hits / their_of,
            hits / of,
            None,
            float(p),
            interval.low <= configured <= interval.high,
        )
    ours, theirs = both("corrupt-10")
    d, p = stats.ks_2samp(theirs.flipped, ours.flipped, method="asymp")
    yield Row(
        "corrupt-10", "mean place of flipped bit", theirs.flipped.mean(), ours.flipped.mean(), float(d), float(p), True
    )
    generator = np.random.default_rng(seed)
    for name, rate_hz in SEQUENCES:
        ours, theirs = both(f"{name}@{rate_hz}")
        d = float(stats.ks_2samp(theirs.delays, ours.delays, method="asymp").statistic)
        p = permuted_p(theirs.delays, ours.delays, generator)
        yield Row(name, f"mean delay at {rate_hz} Hz, us", theirs.delays.mean(), ours.delays.mean(), d, p, True)
        if PROFILES[name].jitter == "reorder":
            p = permuted_p(theirs.overtaken, ours.overtaken, generator)
            figure = f"overtaken at {rate_hz} Hz, share"
            yield Row(name, figure, theirs.overtaken.mean(), ours.overtaken.mean(), None, p, True)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=40_000, help="probes a profile (at least 1000)")
    parser.add_argument("--seed", type=int, default=1, help="of the core and of the permutations")
    parser.add_argument("--out", type=Path, help="JSON file for the results")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="netem-") as name:
        kernel, core = Path(name, "kernel"), Path(name, "core")
        for folder in (kernel, core):
            folder.mkdir()
        (kernel / "jobs.json").write_text(json.dumps(jobs(options.count)))
        version = run_kernel(kernel, options.count)
        run_core(core, kernel / "jobs.json", options.seed)
        rows = list(compare(kernel, core, options.seed))
    for row, corrected in zip(rows, holm([row.p for row in rows]), strict=True):
        row.p_holm = corrected
    print(f"netem of Linux {version} against the core: {options.count} probes a profile, seed {options.seed}")
    print(f"{'profile':14} {'figure':26} {'netem':>12} {'core':>12} {'D':>7} {'p':>7} {'p Holm':>7}")
    for row in rows:
        d = "" if row.d is None else f"{row.d:.4f}"
        verdict = "" if row.holds else "  OUT OF BOUNDS"
        figures = f"{row.kernel:12.5g} {row.core:12.5g} {d:>7} {row.p:7.4f} {row.p_holm:7.4f}"
        print(f"{row.profile:14} {row.figure:26} {figures}{verdict}")
    holds = all(row.holds for row in rows)
    if options.out:
        result = {"linux": version, "probes": options.count, "seed": options.seed, "holds": holds}
        options.out.write_text(json.dumps(result | {"rows": [asdict(row) for row in rows]}, indent=1) + "\n")
    return 0 if holds else 1


def holm(p_values: list[float]) -> list[float]:
    """Holm's step-down correction, in the order given."""
    order = np.argsort(p_values)
    factors = np.arange(len(p_values), 0, -1)
    corrected = np.minimum(1, np.maximum.accumulate(np.array(p_values)[order] * factors))
    back = np.empty(len(p_values))
    back[order] = corrected
    return [float(value) for value in back]


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)  # it has said why
