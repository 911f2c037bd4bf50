"""Does the interval of the ratio cover the true ratio in 95 % of campaigns?

    python benchmarks/analysis/truth.py [--campaigns 4000] [--seed 1]

Simulates campaigns whose true ratio is known, with a spread that the arms of a pair share, a spread from run to run
that they do not, and a spread between the messages of a trial; takes each trial's median and gives the pairs to the
laboratory's own functions. First at fixed numbers of pairs, then under the stopping rule. Beside the interval in use
stand others that were considered. Exit code 1 when the coverage of the interval in use leaves 93 to 97 % in any row.
"""

import argparse
import math
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from comseclab.analysis.compare import FIXED as FIXED_LEVEL
from comseclab.analysis.compare import pair_ratios, ratio_interval, verdict
from comseclab.analysis.quantiles import rank
from comseclab.analysis.shares import loss_difference
from comseclab.analysis.stop import enough

Floats = NDArray[np.float64]
MIN_PAIRS, MAX_PAIRS, PRECISION, TOLERANCE = 5, 30, 0.1, 0.1
MESSAGES, MESSAGE_SPREAD, PAIR_SPREAD = 200, 0.4, 0.3
FIXED = (5, 10, 30)
BOOTSTRAPS = 500


def _normal(random: np.random.Generator, shape: tuple[int, ...], spread: float) -> Floats:
    return random.normal(0, spread, shape)


def _placement(random: np.random.Generator, shape: tuple[int, ...], spread: float) -> Floats:
    """Two levels: the nodes on one core, or on two."""
    return spread * (2 * random.integers(0, 2, shape) - 1) + random.normal(0, spread / 5, shape)


def _slowdown(random: np.random.Generator, shape: tuple[int, ...], spread: float) -> Floats:
    """Most trials alike, some slowed down: an exponential tail, about its mean."""
    return random.exponential(spread, shape) - spread


SHAPES: dict[str, Callable[[np.random.Generator, tuple[int, ...], float], Floats]] = {
    "normal": _normal, "placement": _placement, "slowdown": _slowdown,
}  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """One row: how trials spread (standard deviation of the logarithm of a trial's median), and the truth."""

    shape: str
    spread: float
    ratio: float
    other_shape: str = ""
    """Of the second arm, where it differs."""


CELLS = [Cell(shape, spread, ratio) for shape in SHAPES for spread, ratio in (
    (0.02, 1.0), (0.05, 1.0), (0.08, 1.05), (0.1, 1.3), (0.13, 1.0), (0.2, 2.0), (0.4, 1.3))]  # fmt: skip
SKEWED = [Cell("normal", spread, 1.3, "slowdown") for spread in (0.05, 0.1, 0.2)]


def medians(random: np.random.Generator, cell: Cell, campaigns: int) -> tuple[Floats, Floats]:
    """Medians of both arms' trials, each campaigns x pairs."""
    shape = (campaigns, MAX_PAIRS)
    shared = np.log(3e5) + random.normal(0, PAIR_SPREAD, shape)
    arms = []
    for ratio, kind in ((1.0, cell.shape), (cell.ratio, cell.other_shape or cell.shape)):
        log_median = shared + SHAPES[kind](random, shape, cell.spread) + math.log(ratio)
        # The median of k lognormal messages by its own distribution: the quantile of a beta-distributed uniform.
        at = rank(MESSAGES, 0.5)
        uniform = random.beta(at, MESSAGES - at + 1, shape)
        arms.append(np.exp(log_median + MESSAGE_SPREAD * stats.norm.ppf(uniform)))
    return arms[0], arms[1]


def covers(low: float | None, high: float | None, truth: float) -> bool:
    return low is not None and high is not None and low <= truth <= high


def percentile_bootstrap(random: np.random.Generator, logs: Floats) -> tuple[float, float]:
    """Efron & Tibshirani 1993, chapter 13, at nominal 95 %."""
    means = logs[random.integers(0, len(logs), (BOOTSTRAPS, len(logs)))].mean(1)
    low, high = np.quantile(means, [0.025, 0.975])
    return math.exp(low), math.exp(high)


def studentized_bootstrap(random: np.random.Generator, logs: Floats) -> tuple[float, float]:
    """Efron & Tibshirani 1993, section 12.5, at nominal 95 %."""
    drawn = logs[random.integers(0, len(logs), (BOOTSTRAPS, len(logs)))]
    errors = drawn.std(1, ddof=1) / math.sqrt(len(logs))
    t = (drawn.mean(1)[errors > 0] - logs.mean()) / errors[errors > 0]
    high, low = np.quantile(t, [0.025, 0.975])
    error = logs.std(ddof=1) / math.sqrt(len(logs))
    return math.exp(logs.mean() - low * error), math.exp(logs.mean() - high * error)


def plain_t(logs: Floats) -> tuple[float, float]:
    half = stats.t.ppf(0.975, len(logs) - 1) * logs.std(ddof=1) / math.sqrt(len(logs))
    return math.exp(logs.mean() - half), math.exp(logs.mean() + half)


def fixed(cell: Cell, campaigns: int, seed: int) -> list[str | float]:
    """Coverage at fixed numbers of pairs: in use, then studentized and percentile bootstrap, per number."""
    random = np.random.default_rng([seed, CELLS.index(cell), 1])
    base, other = medians(random, cell, campaigns)
    row: list[str | float] = [cell.shape, cell.spread, cell.ratio]
    for pairs in FIXED:
        hits = np.zeros(3)
        for campaign in range(campaigns):
            ratios = pair_ratios(base[campaign, :pairs].tolist(), other[campaign, :pairs].tolist())
            used = ratio_interval(ratios, FIXED_LEVEL)
            assert used
            logs = np.log(ratios)
            others = (studentized_bootstrap(random, logs), percentile_bootstrap(random, logs))
            hits += [covers(used.low, used.high, cell.ratio), *(covers(*found, cell.ratio) for found in others)]
        row += (hits / campaigns).tolist()
    return row


def sequential(cell: Cell, campaigns: int, seed: int) -> list[str | float]:
    """Coverage under the stopping rule: in use, plain t stopped by its own width; pairs used; verdicts."""
    random = np.random.default_rng([seed, (CELLS + SKEWED).index(cell), 2])
    base, other = medians(random, cell, campaigns)
    hits, pairs, said = 0, 0, dict.fromkeys(("equivalent", "more", "less", "not resolved"), 0)
    plain_hits = 0
    for campaign in range(campaigns):
        ratios = pair_ratios(base[campaign].tolist(), other[campaign].tolist())
        for used in range(MIN_PAIRS, MAX_PAIRS + 1):
            decision = enough(ratios[:used].tolist(), PRECISION, MIN_PAIRS, MAX_PAIRS)
            if decision.stop:
                break
        found = decision.interval
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        hits += covers(found.low, found.high, cell.ratio)
        said[verdict(found.low, found.high, TOLERANCE)] += 1
        pairs += used
        plain_hits += covers(*_plain_stopped(np.log(ratios)), cell.ratio)
    shares = [count / campaigns for count in said.values()]
    return [cell.shape, cell.spread, cell.ratio, hits / campaigns, plain_hits / campaigns, pairs / campaigns, *shares]


def _plain_stopped(logs: Floats) -> tuple[float, float]:
    for used in range(MIN_PAIRS, MAX_PAIRS + 1):
        low, high = plain_t(logs[:used])
        centre = math.exp(logs[:used].mean())
        if low >= centre * (1 - PRECISION) and high <= centre * (1 + PRECISION):
            break
    return low, high


@dataclass(frozen=True)
class LossCell:
    """Losses of two arms; `spread` is the standard deviation of a trial's loss as a share of the mean loss."""

    baseline: float
    case: float
    spread: float
    trials: int


LOSSES = [
    LossCell(0.0, 0.01, 0.0, 5),
    LossCell(0.01, 0.01, 0.0, 10),
    LossCell(0.01, 0.03, 0.5, 5),
    LossCell(0.01, 0.03, 0.5, 10),
    LossCell(0.1, 0.1, 0.5, 30),
]


def losses(cell: LossCell, campaigns: int, seed: int) -> list[str | float]:
    """Coverage of the interval of the difference of loss."""
    random = np.random.default_rng([seed, LOSSES.index(cell), 3])
    sent = [1000] * cell.trials
    hits = 0
    for _ in range(campaigns):
        lost = [
            random.binomial(1000, _trial_losses(random, mean, cell)).tolist() for mean in (cell.baseline, cell.case)
        ]
        found = loss_difference(lost[0], sent, lost[1], sent)
        assert found
        hits += covers(found.low, found.high, cell.case - cell.baseline)
    return [cell.baseline, cell.case, cell.spread, cell.trials, hits / campaigns]


def _trial_losses(random: np.random.Generator, mean: float, cell: LossCell) -> Floats:
    if cell.spread == 0 or mean == 0:
        return np.full(cell.trials, mean)
    size = (1 - mean) / (mean * cell.spread**2) - 1
    return random.beta(mean * size, (1 - mean) * size, cell.trials)


def table(title: str, heads: list[str], rows: list[list[str | float]]) -> None:
    print(f"\n{title}\n| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for row in rows:
        print(f"| {' | '.join(value if isinstance(value, str) else f'{value:.3g}' for value in row)} |")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaigns", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    campaigns, seed = options.campaigns, options.seed
    with ProcessPoolExecutor(2) as processes:
        at_fixed = list(processes.map(fixed, CELLS, [campaigns] * len(CELLS), [seed] * len(CELLS)))
        stopped = list(processes.map(sequential, CELLS, [campaigns] * len(CELLS), [seed] * len(CELLS)))
        skewed = list(processes.map(sequential, SKEWED, [campaigns] * len(SKEWED), [seed] * len(SKEWED)))
        of_loss = list(processes.map(losses, LOSSES, [campaigns] * len(LOSSES), [seed] * len(LOSSES)))
    truth = ["trials", "spread", "true ratio"]
    methods = [f"{name}, {pairs}" for pairs in FIXED for name in ("in use", "bootstrap-t", "percentile")]
    table(f"Coverage at 5, 10 and 30 pairs, {campaigns} campaigns a row", truth + methods, at_fixed)
    heads = [*truth, "in use", "nominal 95 %", "mean pairs", "equivalent", "more", "less", "not resolved"]
    table(f"Coverage under the stopping rule, {campaigns} campaigns a row", heads, stopped)
    table("Coverage of the difference of loss", ["loss of baseline", "of case", "spread", "trials", "covered"], of_loss)
    used = [float(row[3 + 3 * at]) for row in at_fixed for at in range(len(FIXED))] + [float(row[3]) for row in stopped]
    inside = sum(0.93 <= share <= 0.97 for share in used)
    extremes = f"{min(used):.3f} to {max(used):.3f}, mean {np.mean(used):.3f}"
    print(f"\nin use: {extremes}; {inside} of {len(used)} in 0.93 to 0.97")
    table("Beyond the promise: slowdowns in one arm alone, under the stopping rule", heads, skewed)
    return int(inside < len(used))


if __name__ == "__main__":
    sys.exit(main())
