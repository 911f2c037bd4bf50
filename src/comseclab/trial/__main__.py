"""The process of a timed trial: `python -m comseclab.trial SPEC.json FOLDER`. Started by comseclab.trial.launch."""

import sys
from pathlib import Path

from comseclab.trial import clock, process
from comseclab.trial.spec import TrialSpec


def main() -> int:
    """Run the trial."""

    def work(text: str, folder: Path) -> None:
        spec = TrialSpec.model_validate_json(text)
        calibration = clock.start(spec.native)
        # Loaded while the clock is calibrated: it takes about as long.
        from comseclab.trial.conduct import conduct  # noqa: PLC0415

        conduct(spec, folder, calibration)

    return process.serve(work)


if __name__ == "__main__":
    sys.exit(main())
