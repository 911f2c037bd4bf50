"""Says whether the run of delay.toml found the 1 ms again: `recovered.py RUN`. Exits with 1 when it did not."""

import sys
from pathlib import Path

from comseclab.analysis.build import analyse

ADDED_NS = 1_000_000


def main() -> None:
    """Compare the interval of the difference of medians with the delay that the link added."""
    rows = analyse(Path(sys.argv[1])).summary.cases
    found = next(row.difference_ns for row in rows if row.factors["link"] == "later")
    if found is None:
        sys.exit("the run has no difference: too few valid pairs")
    recovered = found.low <= ADDED_NS <= found.high
    interval = f"[{found.low:.0f}, {found.high:.0f}]"
    print(f"added {ADDED_NS} ns; found {found.estimate:.0f} ns {interval} over {found.pairs} pairs")
    sys.exit(0 if recovered else 1)


if __name__ == "__main__":
    main()
