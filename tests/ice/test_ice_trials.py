"""Ice in whole trials: the broker as a service, outcomes that are no failures, a broker that dies."""

import os
import signal
import time
from pathlib import Path
from typing import Any

import psutil
import pyarrow.compute as pc
import pyarrow.parquet as pq

from comseclab.results.record import TrialRecord
from comseclab.testbed.profile import LinkProfile
from comseclab.trial.launch import run_trial
from comseclab.trial.spec import Factors, TrialSpec
from kept import with_private_key
from trial.bench import make_spec, run_apart, serious


def ice_spec(folder: Path, *, protection: str = "none", reliability: str = "reliable", pattern: str = "stream",
             link: str | LinkProfile = "direct", limit_kb: int | None = None, **changes: Any) -> TrialSpec:  # fmt: skip
    factors = Factors.model_validate({
        "middleware": "ice", "reliability": reliability, "protection": protection, "workload": "opaque",
        "link": link if isinstance(link, str) else link.name, "codec": "cdr", "pattern": pattern, "settings": "default",
    })  # fmt: skip
    settings = {} if limit_kb is None else {"ice": {"message_size_max_kb": limit_kb}}
    return make_spec(folder, link=link, protection=protection, factors=factors, settings=settings, **changes)


def delivered(folder: Path) -> int:
    return int(pq.read_table(folder / "samples.parquet").filter(pc.field("arrived_ns").is_valid()).num_rows)


def test_echoes_come_back_through_the_broker_over_tls(tmp_path: Path) -> None:
    spec = ice_spec(tmp_path, protection="mtls", pattern="echo")
    record = run_trial(spec, tmp_path / "trial")
    assert serious(record.reasons) == []
    assert delivered(tmp_path / "trial") == record.streams[0].sent > 0
    assert record.streams[0].match_ns is not None
    assert "icebox" in {process.name for process in record.processes if process.host == "robot"}
    assert record.transport["version"].startswith("3.7")
    ends = [node["closed"]["statistics"]["ice"] for node in record.transport["nodes"].values()]
    assert all(end[way][key]["connection"]["version"] == "TLS 1.3" for end in ends for way in end for key in end[way])
    assert (tmp_path / "trial" / "evidence" / "icebox.cert.pem").is_file()
    assert with_private_key(tmp_path / "trial") == []


def test_messages_above_the_limit_are_all_lost_in_a_valid_trial(tmp_path: Path) -> None:
    spec = ice_spec(tmp_path, reliability="best-effort", limit_kb=1024, size=1_500_000, rate_hz=10.0)
    record = run_trial(spec, tmp_path / "trial")
    assert serious(record.reasons) == []
    assert record.streams[0].matched == 1
    assert delivered(tmp_path / "trial") == 0
    events = record.transport["nodes"]["robot-publisher"]["events"]
    assert any("message_size_max_kb" in event["text"] for event in events)


def test_more_than_the_link_carries_is_an_outcome(tmp_path: Path) -> None:
    link = LinkProfile(name="narrow", rate_bps=20_000_000)
    spec = ice_spec(tmp_path, link=link, size=1_000_000, rate_hz=20.0, round_s=1.0)
    record = run_trial(spec, tmp_path / "trial")
    assert serious(record.reasons) == []
    assert 0 < delivered(tmp_path / "trial") < spec.streams[0].messages


def test_a_broker_that_dies_makes_the_trial_invalid_in_one_line(tmp_path: Path) -> None:
    with run_apart(ice_spec(tmp_path, round_s=60.0), tmp_path / "trial") as laboratory:
        log = tmp_path / "trial" / "log" / "robot-publisher.log"
        broker = wait_for_broker(laboratory.pid, log)
        os.kill(broker, signal.SIGKILL)
        output, errors = laboratory.communicate(timeout=60)
    assert "Traceback" not in errors
    record = TrialRecord.model_validate_json(output)
    assert record.status == "invalid"
    assert record.reasons[0].startswith("icebox was ended by SIGKILL")


def wait_for_broker(laboratory: int, after: Path) -> int:
    """The process id of a laboratory's broker, once `after` stands: the trial's nodes have been started."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        family = psutil.Process(laboratory).children(recursive=True)
        brokers = [process.pid for process in family if process.name() == "icebox"]
        if brokers and after.exists():
            return brokers[0]
        time.sleep(0.02)
    raise AssertionError("no broker was started")
