"""Real trials: Fast DDS nodes in namespaces, over every kind of testbed, as root and as a normal user."""

import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from bench import make_spec, run_apart, serious

from comseclab.errors import LabError
from comseclab.results.record import TrialRecord
from comseclab.testbed.profile import LinkProfile
from comseclab.trial.launch import run_trial
from comseclab.trial.spec import Scheduling
from kept import with_private_key

NOBODY = 65534


def delivered(folder: Path) -> dict[tuple[int, int], int]:
    """Messages that arrived, by stream and reader."""
    table = pq.read_table(folder / "samples.parquet").filter(pc.field("arrived_ns").is_valid())
    counts: dict[tuple[int, int], int] = {}
    for stream, reader in zip(table["stream"].to_pylist(), table["reader"].to_pylist(), strict=True):
        counts[stream, reader] = counts.get((stream, reader), 0) + 1
    return counts


@pytest.mark.parametrize("link", ["localhost", "direct", "ethernet"])
@pytest.mark.parametrize("protection", ["none", "sros2-default"])
def test_every_message_arrives_and_all_is_recorded(tmp_path: Path, link: str, protection: str) -> None:
    spec = make_spec(tmp_path, link=link, protection=protection)
    record = run_trial(spec, tmp_path / "trial")
    assert serious(record.reasons) == []
    assert delivered(tmp_path / "trial") == {(0, 0): 50}
    stream = record.streams[0]
    assert (stream.matched, stream.sent, stream.refused) == (1, 50, 0)
    assert stream.match_ns is not None
    assert record.window_s > spec.round_s
    assert {(found.sender, found.receiver) for found in record.links} == {("robot", "station"), ("station", "robot")}
    assert all(found.sent == spec.probes and found.delay_ns["p50"] > 0 for found in record.links)
    assert record.counters["robot"].tx_bytes > 50 * 2000
    names = {process.name for process in record.processes}
    assert {"robot-publisher", "station-subscriber"} <= names
    assert all(process.pss_bytes > 0 and process.cpus for process in record.processes)
    assert ("switch" in names) == (link == "ethernet") == bool(record.switch)
    assert record.transport["transport"] == "fastdds"
    assert record.sysctls["net.ipv4.ipfrag_time"] == "3"
    assert record.proof is not None
    assert record.proof.sentinel_seen == (protection == "none")
    assert TrialRecord.model_validate_json((tmp_path / "trial" / "record.json").read_text()) == record


def test_no_key_leaves_the_trial(tmp_path: Path) -> None:
    run_trial(make_spec(tmp_path, protection="sros2-default"), tmp_path / "trial")
    assert (tmp_path / "trial" / "evidence" / "governance.p7s").is_file()
    assert with_private_key(tmp_path / "trial") == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("link", ["localhost", "ethernet"])
def test_a_normal_user_needs_no_rights(link: str) -> None:
    with TemporaryDirectory() as name:  # pytest's own folders are closed to other users
        home = Path(name)
        laboratory = run_apart(make_spec(home, link=link), home / "trial", user=NOBODY)
        out, errors = laboratory.communicate(timeout=60)
        assert laboratory.returncode == 0, errors
        record = TrialRecord.model_validate_json(out)
        assert serious(record.reasons) == []
        assert record.streams[0].sent == 50
        assert (home / "trial" / "record.json").stat().st_uid == NOBODY


def test_an_echo_is_timed_from_end_to_end_of_its_round_trip(tmp_path: Path) -> None:
    record = run_trial(make_spec(tmp_path, pattern="echo"), tmp_path / "trial")
    assert serious(record.reasons) == []
    (count,) = delivered(tmp_path / "trial").values()
    assert 0 < count == record.streams[0].sent


def test_several_streams_hosts_and_readers(tmp_path: Path) -> None:
    ends = [("robot", ["station", "other", "other"]), ("station", ["robot"])]
    spec = make_spec(tmp_path, hosts=["robot", "station", "other"], ends=ends)
    record = run_trial(spec, tmp_path / "trial")
    assert serious(record.reasons) == []
    assert delivered(tmp_path / "trial") == {(0, 0): 50, (0, 1): 50, (0, 2): 50, (1, 0): 50}
    assert [stream.matched for stream in record.streams] == [3, 1]
    assert set(record.counters) == {"robot", "station", "other"}


def test_rounds_are_apart_in_the_samples(tmp_path: Path) -> None:
    record = run_trial(make_spec(tmp_path, rounds=2, pause_s=0.2), tmp_path / "trial")
    assert record.streams[0].sent == 100
    assert pq.read_table(tmp_path / "trial" / "samples.parquet")["round"].to_pylist() == [0] * 50 + [1] * 50


def test_nodes_run_where_the_plan_says(tmp_path: Path) -> None:
    cpu = max(os.sched_getaffinity(0))
    scheduling = Scheduling(node_cpus={"robot": [cpu], "station": [cpu]})
    record = run_trial(make_spec(tmp_path, scheduling=scheduling), tmp_path / "trial")
    assert [process.cpus for process in record.processes if process.host != "switch"] == [[cpu], [cpu]]


def test_no_connection_is_an_outcome_of_an_impaired_link(tmp_path: Path) -> None:
    dead = LinkProfile(name="dead", loss=1.0)
    record = run_trial(make_spec(tmp_path, link=dead, match_timeout_s=1.0), tmp_path / "trial")
    assert serious(record.reasons) == []
    assert record.outcomes[0].startswith("no connection in 1 s")
    assert (record.streams[0].matched, record.streams[0].sent) == (0, 0)


def test_no_connection_on_a_clean_link_is_the_laboratorys_failure(tmp_path: Path) -> None:
    record = run_trial(make_spec(tmp_path, match_timeout_s=0.0), tmp_path / "trial")
    assert record.status == "invalid"
    assert any(reason.startswith("no connection in 0 s") for reason in record.reasons)


def test_a_missing_transport_is_a_users_mistake_and_leaves_no_folder(tmp_path: Path) -> None:
    spec = make_spec(tmp_path)
    bare = tmp_path / "bare"
    bare.mkdir()
    for program in spec.native.glob("comseclab-*"):
        (bare / program.name).symlink_to(program.resolve())
    with pytest.raises(LabError, match=r"libcomseclab-fastdds.so is missing"):
        run_trial(spec.model_copy(update={"native": bare}), tmp_path / "trial")
    assert not (tmp_path / "trial").exists()


def test_a_folder_the_trial_could_not_see_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="/run"):
        run_trial(make_spec(tmp_path), Path("/run/user/trial"))


def test_a_folder_that_exists_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "trial").mkdir()
    (tmp_path / "trial" / "mine").touch()
    with pytest.raises(LabError, match="exists"):
        run_trial(make_spec(tmp_path), tmp_path / "trial")
    assert (tmp_path / "trial" / "mine").exists()


def test_middleware_settings_in_the_users_environment_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FASTRTPS_DEFAULT_PROFILES_FILE", "/nonexistent.xml")
    monkeypatch.setenv("ROS_DOMAIN_ID", "77")
    run_trial(make_spec(tmp_path), tmp_path / "trial")
    spoken = (tmp_path / "trial" / "log" / "robot-publisher.log").read_text()
    assert "nonexistent" not in spoken
    assert json.loads((tmp_path / "trial" / "record.json").read_text())["streams"][0]["sent"] == 50
