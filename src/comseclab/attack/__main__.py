"""The process of a trial under attack: `python -m comseclab.attack SPEC.json FOLDER`. See comseclab.attack.launch."""

import sys
from pathlib import Path

from comseclab.attack.spec import AttackSpec
from comseclab.trial import clock, process


def main() -> int:
    """Run the trial."""

    def work(text: str, folder: Path) -> None:
        spec = AttackSpec.model_validate_json(text)
        calibration = clock.start(spec.trial.native)
        from comseclab.attack.conduct import conduct  # noqa: PLC0415

        conduct(spec, folder, calibration)

    return process.serve(work)


if __name__ == "__main__":
    sys.exit(main())
