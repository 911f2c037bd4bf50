"""ROS 1 in whole trials of the laboratory: what is delivered, proven, refused, and left behind."""

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from comseclab.middleware.ros1 import MASTER_PORT, MIDDLEWARE, TCPROS_HEADER
from comseclab.results.record import TrialRecord
from comseclab.testbed.host import LISTENING
from comseclab.trial.launch import run_trial
from comseclab.trial.spec import Factors, TrialSpec
from fastdds.network import loopback
from ros1.lab import READY_S, trial_spec

NOISE = ("other programs used", "the hypervisor took", "the switch was late")
"""Beginnings of the reasons that a busy machine gives: not what these tests are about."""
LOCK_S = 120.0
"""Another trial may have the machine."""
ESTABLISHED = "01"
"""TCP_ESTABLISHED in /proc/net/tcp, proc(5)."""
FACTORS = Factors.model_validate({
    "middleware": "ros1", "reliability": "reliable", "protection": "none", "link": "localhost", "workload": "scan",
    "codec": "ros1", "pattern": "stream", "settings": "default",
})  # fmt: skip


def serious(record: TrialRecord) -> list[str]:
    return [reason for reason in record.reasons if not reason.startswith(NOISE)]


def delivered(record: TrialRecord, node: str) -> dict[str, int]:
    """By ROS 1 topic."""
    readers = record.transport["nodes"][node]["closed"]["statistics"]["ros1"]["readers"].values()
    return {reader["topic"]: reader["delivered"] for reader in readers}


def as_if(spec: TrialSpec, folder: Path, reliability: str) -> list[str]:
    """What the trial's capture would contradict if another reliability had been asked for."""
    claimed = spec.factors.model_copy(update={"reliability": reliability})
    capture = folder / "trial" / "evidence" / "wire.pcapng"
    return MIDDLEWARE.prove(capture, spec.model_copy(update={"factors": claimed})).contradictions


@pytest.mark.parametrize("link", ["localhost", "direct"])
def test_tcpros_delivers_everything_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, link: str
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    spec = trial_spec(tmp_path, ["scan", "image", "points"], link=link)
    record = run_trial(spec, tmp_path / "trial")
    assert serious(record) == []
    sent = {"/scan": 20, "/image_raw": 16, "/points": 9}
    assert {stream.topic: stream.sent for stream in record.streams} == sent
    assert delivered(record, "station-subscriber") == sent
    assert record.proof
    headers = record.proof.kinds[TCPROS_HEADER]
    assert headers >= 6, "two ends of three connections"
    assert as_if(spec, tmp_path, "best-effort") == [
        f"{headers} headers of TCPROS connections seen, where all should be UDPROS"
    ]
    assert {"roscore", "roscore/rosmaster"} <= {process.name for process in record.processes}
    assert list(home.iterdir()) == []


def test_udpros_goes_there_and_back(tmp_path: Path) -> None:
    spec = trial_spec(tmp_path, ["scan"], link="direct", reliability="best-effort", codec="cdr", pattern="echo")
    record = run_trial(spec, tmp_path / "trial")
    assert serious(record) == []
    assert delivered(record, "station-echo")["/scan/cdr"] > 0
    assert delivered(record, "robot-publisher")["/scan/echo/cdr"] > 0
    assert as_if(spec, tmp_path, "reliable") == ["no TCPROS connection seen"]


@pytest.mark.parametrize("victim", ["roscore", "rosmaster"])
def test_a_master_that_dies_makes_the_trial_invalid(tmp_path: Path, victim: str) -> None:
    spec, cancel = trial_spec(tmp_path, ["scan"], link="direct", round_s=60.0), threading.Event()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run_trial, spec, tmp_path / "trial", cancel)
        try:
            kill_once_connected(victim)
            record = running.result(timeout=READY_S)
        finally:
            cancel.set()
    assert record.status == "invalid"
    assert [reason for reason in record.reasons if reason.startswith("roscore ")], record.reasons


def kill_once_connected(victim: str) -> None:
    """Wait until the subscriber has heard of the publisher, then kill the program of that name in its trial."""
    deadline = time.monotonic() + LOCK_S
    while time.monotonic() < deadline:
        with suppress(psutil.NoSuchProcess, FileNotFoundError):
            ours = psutil.Process().children(recursive=True)
            nodes = [process.pid for process in ours if process.name() == "comseclab-node" and connected(process.pid)]
            if nodes:
                in_trial = [process for process in ours if trial_of(process.pid) == trial_of(nodes[0])]
                next(process for process in in_trial if process.name() == victim).kill()
                return
        time.sleep(0.05)
    raise AssertionError("no node connected to another")


def trial_of(pid: int) -> str:
    """The PID namespace, which all programs of a trial share and no other has."""
    return os.readlink(f"/proc/{pid}/ns/pid")


def connected(pid: int) -> bool:
    """Whether a host without the master has a connection to anything but the master."""
    rows = [line.split() for line in Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]]
    master = f"{MASTER_PORT:04X}"
    listening = {row[1].partition(":")[2] for row in rows if row[3] == LISTENING}
    remote = {row[2].partition(":")[2] for row in rows if row[3] == ESTABLISHED}
    return master not in listening and bool(remote - {master})


def test_a_port_in_use_is_told_in_a_line(tmp_path: Path) -> None:
    code = f"""
import socket
from pathlib import Path
from comseclab.middleware.base import Service
from comseclab.testbed.host import Host
from comseclab.testbed.program import ProgramFailedError
from comseclab.trial.services import Services
taken = socket.create_server(("127.0.0.1", {MASTER_PORT}))
folder = Path({str(tmp_path)!r})
host = Host("robot", Path("/proc/self/ns/net"), "127.0.0.1", "lo", folder)
try:
    Services(folder).start({{"robot": host}}, [Service("roscore", "robot", ("roscore",), ({MASTER_PORT},))])
except ProgramFailedError as error:
    print(error)
"""
    with loopback() as namespace:
        command = namespace.within([sys.executable, "-c", code])
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == f"roscore cannot start: port {MASTER_PORT} is in use on robot\n", done.stderr


@pytest.mark.parametrize(
    ("changes", "settings", "reason"),
    [
        ({"protection": "sros2-default"}, {}, "ROS 1 has no protection of its own"),
        ({}, {"max_datagram_size": 9000}, "max_datagram_size is a whole number from 548 to 1500"),
        ({}, {"queue": 1}, 'did you mean "queue_size"?'),
    ],
)
def test_what_cannot_be_is_refused_with_its_reason(
    changes: dict[str, str], settings: dict[str, Any], reason: str
) -> None:
    assert reason in (MIDDLEWARE.refuse(FACTORS.model_copy(update=changes), settings) or "")


def test_what_can_be_is_not_refused() -> None:
    assert MIDDLEWARE.refuse(FACTORS, {"queue_size": 0, "max_datagram_size": 1472}) is None
