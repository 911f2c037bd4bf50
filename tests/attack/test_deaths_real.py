"""Victims that die under attack, for real: the test kills them, and the cell tells it as the finding it is."""

import json
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from cli.lab import COMSECLAB, marked
from comseclab.attack.matrix import Matrix

PLAN = """
[plan]
name = "deaths"
[factors]
middleware = ["fastdds", "ice"]
reliability = "reliable"
[attack]
attacks = "modify"
repetitions = 1
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Messages are altered, and meanwhile the publisher of Fast DDS and the broker of Ice are killed."""
    place = tmp_path_factory.mktemp("deaths")
    (place / "deaths.toml").write_text(PLAN)
    command = [COMSECLAB, "attack", "deaths.toml", "--out", "."]
    victims = {"fastdds": ("robot-publisher", "libcomseclab-fastdds.so"), "ice": ("icebox", "libIce")}
    attacked: set[Path] = set()
    with subprocess.Popen(command, cwd=place, env=marked(), stderr=subprocess.DEVNULL) as laboratory:
        while laboratory.poll() is None:
            for sent in set(place.glob("*-attack/trials/*/evidence/injected.hex")) - attacked:
                _kill(laboratory, *victims[sent.parts[-3].split("_")[0]])
                attacked.add(sent)
            time.sleep(0.01)
    assert len(attacked) >= len(victims)  # more where a trial was repeated
    return place / "latest"


def _kill(laboratory: subprocess.Popen[bytes], word: str, library: str) -> None:
    """The one process of the laboratory's that has a word in its command line and a library in its memory."""
    found = []
    for process in psutil.Process(laboratory.pid).children(recursive=True):
        with suppress(psutil.Error):  # it has just ended
            if word in " ".join(process.cmdline()) and any(library in one.path for one in process.memory_maps()):
                found.append(process)
    (victim,) = found
    victim.kill()


def test_a_node_that_died_leaves_nothing_altered_and_nothing_lost(run: Path) -> None:
    (cell,) = (cell for cell in Matrix.read(run).cells if cell.middleware == "fastdds")
    assert (cell.verdict, cell.text) == (
        "disrupted",
        "what was sent and delivered is not known; robot-publisher ended with SIGKILL",
    )
    assert cell.harm == {}
    seen = json.loads((run / cell.evidence[0] / "record.json").read_text())["seen"]
    assert seen["during"] == {"sent": 0, "delivered": 0}


def test_a_broker_that_died_is_a_victim(run: Path) -> None:
    (cell,) = (cell for cell in Matrix.read(run).cells if cell.middleware == "ice")
    assert "icebox ended with SIGKILL" in cell.text
    assert cell.verdict != "invalid"
