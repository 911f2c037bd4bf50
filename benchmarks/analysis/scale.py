"""How long the analysis and the report of 50 million samples take, and how much memory.

    python benchmarks/analysis/scale.py [--samples 50000000] [--trials 40] [--folder FOLDER]

Writes a run folder of two cases, then analyses it and builds its report in a process of its own. Exit code 1 when that
takes more than 30 s or 2 GiB.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "analysis"))
from simulate import Arm, Run, campaign, record, samples, write_trial

SECONDS, BYTES = 30.0, 2 * 2**30
ARMS = [
    Arm("none", "none", loss=0.001, duplicates=0.001),
    Arm("secured", "sros2-default", "none", median_ns=400_000, loss=0.002, duplicates=0.001),
]


def write(folder: Path, total: int, trials: int) -> None:
    """A run of `trials` trials in two arms; each arm's samples are drawn once and shifted by a trial's own spread."""
    run = Run(ARMS, pairs=trials // 2, messages=total // trials, rate_hz=10_000.0)
    random = np.random.default_rng(run.seed)
    (folder / "trials").mkdir(parents=True)
    (folder / "campaign.json").write_text(json.dumps(campaign(run)))
    (folder / "environment.json").write_text("{}")
    for place, arm in enumerate(ARMS):
        for pair in range(run.pairs):
            table = samples(random, run, arm, 0, arm.median_ns * np.exp(random.normal(0, arm.trial_spread)))
            write_trial(folder, record(run, arm, 2 * pair + place + 1, pair, True), table)


def measure(folder: Path) -> None:
    """Analyse and report, and print what it took."""
    from comseclab.report import build  # noqa: PLC0415  only this process pays for it

    begun = time.monotonic()
    build(folder)
    print(
        json.dumps(
            {
                "seconds": time.monotonic() - begun,
                "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            }
        )
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=50_000_000)
    parser.add_argument("--trials", type=int, default=40)
    parser.add_argument("--folder", type=Path, help="keep the run folder here, or use the one that is there")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(options.folder)
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary) / "run"
        if not folder.exists():
            write(folder, options.samples, options.trials)
        command = [sys.executable, __file__, "--measure", "--folder", str(folder)]
        found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
        rows = sum(pq.read_metadata(path).num_rows for path in folder.glob("trials/*/samples.parquet"))
    took = f"{found['seconds']:.1f} s, peak {found['peak_bytes'] / 2**30:.2f} GiB"
    print(f"{rows} samples on {os.cpu_count()} cores: {took}")
    return int(found["seconds"] > SECONDS or found["peak_bytes"] > BYTES)


if __name__ == "__main__":
    sys.exit(main())
