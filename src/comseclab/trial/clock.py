"""The clock of a trial: one calibration, made by the node, that all its nodes convert by."""

import json
import subprocess
from pathlib import Path
from typing import Any

from comseclab.errors import LabError
from comseclab.testbed.program import ProgramFailedError

FIELDS = ("source", "ticks_per_second", "reference_tick", "reference_ns")


def start(native: Path) -> "subprocess.Popen[bytes]":
    """Begin a calibration; it takes a fifth of a second. Raises LabError when there is no node."""
    try:
        return subprocess.Popen([native / "comseclab-node", "--calibrate"], stdout=subprocess.PIPE)
    except OSError as error:
        raise LabError(
            f"cannot start the node in {native}: {error.strerror}", "make it with `comseclab build`"
        ) from error


def read(calibration: "subprocess.Popen[bytes]") -> dict[str, Any]:
    """What a node is told of the clock (docs/formats.md), when the calibration has ended."""
    out, _ = calibration.communicate()
    try:
        found = json.loads(out)
        return {field: found[field] for field in FIELDS}
    except (ValueError, KeyError):
        raise ProgramFailedError(f"the clock could not be calibrated: exit code {calibration.returncode}") from None
