import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from comseclab.testbed import clean


@pytest.fixture(autouse=True)
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "notes"
    monkeypatch.setattr(clean, "notes", lambda: place)
    return place


def dead_identity() -> dict[str, int]:
    ended = subprocess.Popen(["true"])
    ended.wait()
    return {"pid": ended.pid, "start": 1}


def note(notes: Path, **changes: object) -> Path:
    notes.mkdir(exist_ok=True)
    content = {"laboratory": dead_identity(), "trial": dead_identity(), "folder": "/nowhere"} | changes
    path = notes / "1.json"
    path.write_text(json.dumps(content))
    return path


def test_a_running_trial_is_noted_and_left_alone(notes: Path, tmp_path: Path) -> None:
    folder = tmp_path / "trial"
    folder.mkdir()
    with clean.noted(folder) as written:
        written.trial(os.getpid())
        assert clean.clean() == []
        assert folder.is_dir()
        assert len(list(notes.iterdir())) == 1
    assert not notes.exists()


def test_an_unfinished_trial_of_a_dead_laboratory_is_removed(notes: Path, tmp_path: Path) -> None:
    folder = tmp_path / "trial"
    folder.mkdir()
    note(notes, folder=str(folder))
    assert any(str(folder) in line for line in clean.clean())
    assert not folder.exists()
    assert not notes.exists()


def test_a_closed_trial_of_a_dead_laboratory_stays(notes: Path, tmp_path: Path) -> None:
    folder = tmp_path / "trial"
    folder.mkdir()
    (folder / "record.json").touch()
    note(notes, folder=str(folder))
    clean.clean()
    assert (folder / "record.json").exists()


def test_a_process_that_outlived_its_laboratory_is_ended(notes: Path) -> None:
    left = subprocess.Popen(["sleep", "600"])
    note(notes, trial=clean._identity(left.pid))
    assert any(str(left.pid) in line for line in clean.clean())
    assert left.wait(10) < 0


def test_a_later_process_of_the_same_number_is_left_alone(notes: Path) -> None:
    bystander = subprocess.Popen(["sleep", "600"])
    try:
        note(notes, trial=clean._identity(bystander.pid) | {"start": 1})
        clean.clean()
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def test_a_note_cut_off_in_writing_is_removed(notes: Path) -> None:
    notes.mkdir()
    (notes / "1.part").write_text('{"laboratory": {"pi')
    assert clean.clean() == []
    assert not notes.exists()


PROGRAM = """
import sys, time
from pathlib import Path
from comseclab.signals import terminate_as_exception
from comseclab.testbed import clean
clean.notes = lambda: Path(sys.argv[1])
with terminate_as_exception(), clean.scratch() as folder:
    (folder / "key").touch()
    print(folder, flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_temporary_folder_ends_with_its_program_or_is_found(notes: Path, number: signal.Signals) -> None:
    command = [sys.executable, "-c", PROGRAM, notes]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as program:
        assert program.stdout is not None
        folder = Path(program.stdout.readline().strip())
        assert (folder / "key").is_file()
        program.send_signal(number)
    if number == signal.SIGKILL:
        assert f"temporary folder {folder}" in clean.clean()
    assert not folder.exists()
    assert not notes.exists()
