"""Run one trial as a child of the laboratory, in namespaces of its own.

The child is the first process of a PID namespace: when it ends, for whatever reason, the kernel ends everything it
started and takes the mount and network namespaces down. It ends when its standard input does, and that happens also
when the laboratory is killed.
"""

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from comseclab.errors import LabError
from comseclab.results.record import StreamRecord, TrialRecord
from comseclab.results.store import write_atomically
from comseclab.signals import terminate_as_exception
from comseclab.testbed import clean
from comseclab.testbed.lock import machine_lock
from comseclab.trial.spec import TrialSpec

ISOLATE = ("--mount", "--propagation", "private", "--net", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc")
AS_USER = ("--user", "--map-root-user")
COVERED = (Path("/run"), Path("/dev/shm"), Path("/proc"))
"""What a trial sees of its own; nothing it is given may lie there."""
WRONG_INPUT = 2
BEGUN = "begun"
"""The trial's process says so first: what ends without it had no namespaces."""
END_TIMEOUT_S = 2.0
LOG = Path("log") / "trial.log"


class TrialCancelledError(Exception):
    """The trial was ended from outside; nothing is left of it."""


def run_trial(spec: TrialSpec, folder: Path, cancel: threading.Event | None = None) -> TrialRecord:
    """Run the trial and return its record; `folder` is made and holds what the trial leaves.

    Waits while another timed trial runs on this machine. Raises LabError when the environment is wrong and
    TrialCancelledError when `cancel` was set; then, as on any exception, the folder is removed.
    """
    folder = folder.absolute()
    check_paths(spec, folder)
    with machine_lock(), terminate_as_exception():
        if folder.exists():
            raise LabError(f"the folder {folder} exists", "choose another")
        with clean.noted(folder) as note:
            try:
                folder.mkdir(parents=True)
                return _run(spec, folder, note, cancel or threading.Event())
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise


def check_paths(spec: TrialSpec, folder: Path) -> None:
    for path in (folder, spec.native, *(stream.spool for stream in spec.streams)):
        for covered in COVERED:
            if path.absolute().is_relative_to(covered) or path.resolve().is_relative_to(covered):
                raise LabError(f"{path} is in {covered}, which a trial does not see", "use a folder elsewhere")


def _run(spec: TrialSpec, folder: Path, note: clean.Note, cancel: threading.Event) -> TrialRecord:
    started = datetime.now(UTC).isoformat(timespec="seconds")
    code = in_namespaces("comseclab.trial", spec.model_dump_json(indent=1), folder, note, cancel)
    record = folder / "record.json"
    if record.exists():
        return TrialRecord.model_validate_json(record.read_text())
    return _broken(spec, record, started, code, folder / LOG)


def in_namespaces(module: str, spec: str, folder: Path, note: clean.Note, cancel: threading.Event) -> int:
    """Run `python -m MODULE SPEC.json FOLDER` as the first process of fresh namespaces, and wait for its end.

    `spec` is the content of SPEC.json. Returns the exit code. Raises LabError when the process says that the
    environment is wrong or could not begin, and TrialCancelledError when `cancel` was set.
    """
    spec_path, log = folder / "spec.json", folder / LOG
    spec_path.write_text(spec)
    log.parent.mkdir()
    with log.open("wb") as errors:
        child = subprocess.Popen(
            command(spec_path, folder, module),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
        )
    try:
        note.trial(child.pid)
        _wait(child, cancel)
    finally:
        _end(child)
    assert child.stdout is not None
    with child.stdout:
        said = child.stdout.read().decode().splitlines()
    if BEGUN not in said:
        remedy = "run as root, or allow user namespaces; see `comseclab doctor`"
        raise LabError(f"the trial's namespaces could not be made: {last_words(log)}", remedy)
    if child.returncode == WRONG_INPUT:
        error = json.loads(said[-1])
        raise LabError(error["cause"], error["remedy"])
    return child.returncode


def command(spec: Path, folder: Path, module: str = "comseclab.trial") -> list[str | Path]:
    """The command that runs a trial in fresh namespaces. It ends when its standard input does."""
    privilege = () if os.geteuid() == 0 else AS_USER
    return ["unshare", *privilege, *ISOLATE, "--", sys.executable, "-m", module, spec, folder]


def _wait(child: subprocess.Popen[bytes], cancel: threading.Event) -> None:
    descriptor = os.pidfd_open(child.pid)
    try:
        while not select.select([descriptor], [], [], 0.1)[0]:
            if cancel.is_set():
                raise TrialCancelledError
    finally:
        os.close(descriptor)


def _end(child: subprocess.Popen[bytes]) -> None:
    """End the trial by ending its input; by force if that takes too long."""
    assert child.stdin is not None
    with suppress(BrokenPipeError):
        child.stdin.close()
    try:
        child.wait(END_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def _broken(spec: TrialSpec, record: Path, started: str, code: int, log: Path) -> TrialRecord:
    """The record of a trial that could not write its own."""
    # Some versions of unshare cannot pass on a signal and end with exit code 1, complaining of sigprocmask.
    how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"was killed or failed (exit code {code})"
    broken = TrialRecord(
        number=spec.number,
        case=spec.factors.id(),
        pair=spec.pair,
        status="invalid",
        reasons=[f"the trial's process {how}; its last words: {last_words(log)}"],
        started_at=started,
        window_s=0.0,
        streams=[
            StreamRecord(id=stream.id, topic=stream.topic, readers=len(stream.reader_hosts), matched=0, sent=0)
            for stream in spec.streams
        ],
    )
    write_atomically(record, broken.model_dump_json(indent=1))
    return broken


def last_words(log: Path) -> str:
    """The last line of a log, at most 300 characters."""
    lines = log.read_text(errors="replace").strip().splitlines()
    return lines[-1][:300] if lines else "none"
