"""Do two arms that are the same come out the same? A/A on real trials.

    python benchmarks/analysis/aa.py RUN [--repairings 40] [--seed 1]

RUN holds 80 trials of one case (plan: benchmarks/truth/aa.toml). Each re-pairing splits them at random into pairs,
one trial of each pair in either arm, and compares the arms. Exit code 1 when more than 5 of 40 come out other than
equivalent or not resolved.
"""

import argparse
import math
import sys
from collections import Counter
from pathlib import Path

import numpy as np

from comseclab.analysis.build import analyse
from comseclab.analysis.compare import FIXED, compare

ALLOWED_SHARE = 5 / 40


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("--repairings", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tolerance", type=float, default=0.1)
    options = parser.parse_args()
    trials = analyse(options.run).charts.cases[0].trials
    medians = np.array([math.inf if trial.median_ns is None else trial.median_ns for trial in trials])
    random = np.random.default_rng(options.seed)
    said: Counter[str] = Counter()
    for _ in range(options.repairings):
        arms = random.permutation(medians)[: len(medians) // 2 * 2].reshape(2, -1)
        said[compare(arms[0].tolist(), arms[1].tolist(), options.tolerance, FIXED).verdict] += 1
    other = options.repairings - said["equivalent"] - said["not resolved"]
    spread = float(np.log(medians).std(ddof=1))
    print(f"{len(medians)} trials, spread {spread:.3f}; {options.repairings} re-pairings: {dict(said)}; other: {other}")
    return int(other > ALLOWED_SHARE * options.repairings)


if __name__ == "__main__":
    sys.exit(main())
