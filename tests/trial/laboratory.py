"""A laboratory of one trial, as a process that tests can kill: `laboratory.py SPEC FOLDER` prints the record."""

import sys
from pathlib import Path

from comseclab.errors import LabError
from comseclab.trial.launch import run_trial
from comseclab.trial.spec import TrialSpec

if __name__ == "__main__":
    try:
        record = run_trial(TrialSpec.model_validate_json(Path(sys.argv[1]).read_text()), Path(sys.argv[2]))
    except LabError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    print(record.model_dump_json())
