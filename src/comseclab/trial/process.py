"""A trial's own process, the first in its namespaces: prepares itself, reads its specification, runs the trial.

It ends when its standard input does. Exit codes: 0 a record was written; 2 wrong input or environment, named in a JSON
object on standard output.
"""

import errno
import json
import os
import resource
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from comseclab.errors import LabError
from comseclab.testbed.namespaces import mount_tmpfs
from comseclab.trial.launch import BEGUN, WRONG_INPUT


def serve(work: Callable[[str, Path], None]) -> int:
    """Do `work` on the specification's text and the folder, both named on the command line."""
    if os.getpid() != 1:
        return _report(LabError("a trial runs in namespaces of its own only", "start it through comseclab"))
    print(BEGUN, flush=True)
    _forbid_core_files()
    threading.Thread(target=_end_with_input, daemon=True).start()
    spec_path, folder = map(Path, sys.argv[1:])
    try:
        mount_tmpfs("/run", "755")
        mount_tmpfs("/dev/shm", "1777")
        work(spec_path.read_text(), folder)
    except LabError as error:
        return _report(error)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        return _report(LabError(f"the disk is full ({error.filename or folder})", "free space"))
    return 0


def _forbid_core_files() -> None:
    """Nodes hold private keys, and a core file of one that crashes would outlive its trial; children inherit this."""
    # Where cores go to a program of the system's, Linux heeds no limit but that of one byte.
    size = 1 if resource.getrlimit(resource.RLIMIT_CORE)[1] else 0
    resource.setrlimit(resource.RLIMIT_CORE, (size, size))


def _report(error: LabError) -> int:
    print(json.dumps({"cause": error.cause, "remedy": error.remedy}), flush=True)
    return WRONG_INPUT


def _end_with_input() -> None:
    """The laboratory has gone or wants the trial to end: everything in these namespaces ends with this process."""
    while os.read(0, 1):
        pass
    os._exit(1)
