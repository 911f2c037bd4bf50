"""Run one trial under attack as a child of the laboratory, in namespaces of its own. Several may run side by side."""

import gzip
import shutil
import threading
from pathlib import Path

from comseclab.attack.spec import AttackRecord, AttackSpec
from comseclab.errors import LabError
from comseclab.results.store import write_atomically
from comseclab.testbed import clean
from comseclab.trial.launch import LOG, check_paths, in_namespaces, last_words

CAPTURE = Path("evidence") / "wire.pcapng"


def run_attacked(spec: AttackSpec, folder: Path, cancel: threading.Event) -> AttackRecord:
    """Run the trial and return its record; `folder` is made and holds what the trial leaves.

    Raises LabError when the environment is wrong and TrialCancelledError when `cancel` was set; then, as on any
    exception before the trial's process has ended, the folder is removed.
    """
    folder = folder.absolute()
    check_paths(spec.trial, folder)
    if folder.exists():
        raise LabError(f"the folder {folder} exists", "choose another")
    with clean.noted(folder) as note:
        try:
            folder.mkdir(parents=True)
            code = in_namespaces("comseclab.attack", spec.model_dump_json(indent=1), folder, note, cancel)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        compress_capture(folder)
        record = folder / "record.json"
        if record.exists():
            return AttackRecord.model_validate_json(record.read_text())
        why = f"the trial's process failed (exit code {code}); its last words: {last_words(folder / LOG)}"
        broken = AttackRecord(
            attack=spec.attack, arm=spec.arm, case=spec.trial.factors.id(), valid=False, reasons=[why], seen=None
        )
        write_atomically(record, broken.model_dump_json(indent=1))
        return broken


def compress_capture(folder: Path) -> None:
    """Replace a trial's capture by CAPTURE.gz, which Wireshark opens as it is; nothing where that was done already.

    Frames are captured twice: half the bytes go. A trial whose record stands may have been cut off in here, by a kill
    or a full disk; its capture is whole then, and this can be done again.
    """
    whole = folder / CAPTURE
    if not whole.exists():
        return
    part, small = whole.with_name(f".{whole.name}.gz.part"), whole.with_name(f"{whole.name}.gz")
    try:
        with whole.open("rb") as frames, gzip.open(part, "wb", compresslevel=1) as packed:
            shutil.copyfileobj(frames, packed)
        part.replace(small)
    finally:
        part.unlink(missing_ok=True)
    whole.unlink()
