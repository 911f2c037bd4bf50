"""Plans become the cases and trials their readers expect."""

import json
from pathlib import Path

import pytest

from comseclab.errors import LabError
from comseclab.places import shipped_plan
from comseclab.plan import Plan, Trials, expand, expected_seconds, load_plan
from comseclab.plan.links import PROFILES
from comseclab.workload.spool import Spools

GOLDEN = Path(__file__).parent / "golden"


WHY_2018 = ["why-2018-fastdds", "why-2018-fastdds-reliable", "why-2018-ice"]


@pytest.mark.parametrize("name", ["demo", "template", "dds-protections", "attacks", "two-vendors", *WHY_2018])
def test_shipped_plan_expands_as_before(name: str) -> None:
    cases = [f"{case.id} <- {case.baseline or 'baseline'}" for case in expand(load_plan(shipped_plan(name)))]
    assert cases == (GOLDEN / f"{name}.txt").read_text().splitlines()


@pytest.mark.parametrize("path", sorted(shipped_plan("demo").parent.glob("*.toml")), ids=lambda path: path.stem)
def test_every_shipped_plan_expands_and_bears_its_file_s_name(path: Path) -> None:
    plan = load_plan(path)
    assert plan.plan.name == path.stem
    assert expand(plan)


@pytest.mark.parametrize("name", WHY_2018)
def test_why_2018_takes_three_minutes_at_most(name: str) -> None:
    plan = load_plan(shipped_plan(name))
    least, _ = expected_seconds(plan, expand(plan))
    assert least < 180


def test_demo_ends_within_five_minutes() -> None:
    plan = load_plan(shipped_plan("demo"))
    _, longest = expected_seconds(plan, expand(plan))
    assert 200 < longest < 300


def test_union_of_matrices_is_ordered_and_without_repeats(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text(
        """[plan]
name = "p"
[factors]
protection = ["none", "auth"]
[[matrix]]
link = ["wifi", "wifi", "ethernet"]
[[matrix]]
link = ["ethernet", "direct"]
"""
    )
    cases = expand(load_plan(tmp_path / "p.toml"))
    assert [(case.factors.protection, case.factors.link) for case in cases] == [
        ("none", "wifi"),
        ("none", "ethernet"),
        ("auth", "wifi"),
        ("auth", "ethernet"),
        ("none", "direct"),
        ("auth", "direct"),
    ]


OWN = """[plan]
name = "own"
duration_s = 0.5
rounds = 3
pause_s = 0.25
[comparison]
factor = "link"
baseline = "wifi"
[factors]
workload = "both"
link = ["wifi", "garage"]
settings = "jumbo"
protection = "ours"
[protections.ours]
base = "all-encrypt"
keystore = "keys"
[links.garage]
base = "wifi"
rate_mbps = 20
delay_ms = 5
delay_sd_ms = 0.5
jitter = "reorder"
corrupt = 0.25
[settings.jumbo]
mtu = 9000
node_fifo_priority = 10
node_cpus = {robot = [0], station = [1]}
[[workloads.both.streams]]
sensor = "scan"
rate_hz = 10
topic = "/front"
to = ["station", "station"]
[[workloads.both.streams]]
opaque_bytes = 100
rate_hz = 20
from = "station"
to = ["robot"]
"""


def test_levels_reach_the_trial(tmp_path: Path) -> None:
    (tmp_path / "keys").mkdir()
    (tmp_path / "p.toml").write_text(OWN)
    plan = load_plan(tmp_path / "p.toml")
    cases = expand(plan)
    assert [case.baseline for case in cases] == [None, cases[0].id]
    trials = Trials(plan, Spools(tmp_path / "spools"), "switch", tmp_path)
    spec = trials.spec(cases[1], number=7, pair=2, seed=3, nonce="0123456789abcdef")
    assert spec.link.model_dump() == PROFILES["wifi"].model_dump() | {
        "name": "garage", "rate_bps": 20_000_000, "delay_ns": 5_000_000, "jitter_ns": 500_000, "jitter": "reorder",
        "corrupt": 0.25, "mtu": 9000,
    }  # fmt: skip
    assert (spec.number, spec.pair, spec.seed, spec.rounds, spec.pause_s, spec.round_s) == (7, 2, 3, 3, 0.25, 0.5)
    assert (spec.protection.name, spec.protection.base, spec.protection.keystore) == (
        "ours",
        "all-encrypt",
        tmp_path / "keys",
    )
    assert spec.scheduling.node_cpus == {"robot": [0], "station": [1]}
    assert (spec.scheduling.node_fifo_priority, spec.scheduling.switch_fifo_priority) == (10, 20)
    front, back = spec.streams
    assert (front.topic, front.type, front.messages, front.rate_hz) == ("/front", "sensor_msgs/msg/LaserScan", 5, 10)
    assert (front.writer_host, front.reader_hosts) == ("robot", ["station", "station"])
    assert (back.topic, back.type, back.messages, back.max_size) == ("/opaque", "", 10, 100)
    assert (back.writer_host, back.reader_hosts) == ("station", ["robot"])
    assert spec.types["std_msgs/msg/Header"] == [["stamp", "builtin_interfaces/msg/Time"], ["frame_id", "string"]]
    assert json.loads(spec.model_dump_json())["streams"][0]["spool"] == str(front.spool)


def test_files_of_a_middleware_s_options_are_beside_the_plan(tmp_path: Path) -> None:
    (tmp_path / "qos.xml").write_text("<dds/>")
    (tmp_path / "p.toml").write_text(
        "[plan]\nname = 'p'\n[factors]\nsettings = 's'\n[settings.s.fastdds]\nqos_profile = 'qos.xml'"
    )
    (case,) = expand(load_plan(tmp_path / "p.toml"))
    assert case.settings == {"fastdds": {"qos_profile": str(tmp_path / "qos.xml")}}


@pytest.mark.parametrize("content", ["", "<dds>", "{}", '<?xml version="1.0" encoding="none"?><dds/>'])
@pytest.mark.parametrize("option", ["fastdds.qos_profile", "cyclonedds.configuration"])
def test_a_document_that_is_no_xml_is_refused(tmp_path: Path, option: str, content: str) -> None:
    stack, key = option.split(".")
    (tmp_path / "qos.xml").write_text(content)
    (tmp_path / "p.toml").write_text(
        f"[plan]\nname = 'p'\n[factors]\nmiddleware = '{stack}'\nsettings = 's'\n"
        f"[settings.s.{stack}]\n{key} = 'qos.xml'"
    )
    with pytest.raises(LabError, match=f"{key} is a well-formed XML file, not"):
        expand(load_plan(tmp_path / "p.toml"))


def test_a_plan_survives_json(tmp_path: Path) -> None:
    (tmp_path / "keys").mkdir()
    (tmp_path / "p.toml").write_text(OWN)
    plan = load_plan(tmp_path / "p.toml")
    assert Plan.model_validate(json.loads(plan.model_dump_json())) == plan


def test_two_cases_share_the_same_spool(tmp_path: Path) -> None:
    plan = load_plan(shipped_plan("demo"), {"plan": {"duration_s": 0.2}})
    trials = Trials(plan, Spools(tmp_path), "kernel", tmp_path)
    cases = expand(plan)
    trials.prepare(cases)
    specs = [trials.spec(case, number=1, pair=0, seed=1, nonce="0" * 16) for case in cases]
    assert len({stream.spool for spec in specs for stream in spec.streams}) == 2
    assert {spec.backend for spec in specs if spec.factors.link == "localhost"} == {"none"}
    assert {spec.backend for spec in specs if spec.factors.link == "wifi"} == {"kernel"}


def test_a_drain_leaves_time_to_repair_what_a_link_loses(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(
        '[plan]\nname = "drain"\nduration_s = 0.1\n[[workloads.tiny.streams]]\nopaque_bytes = 24\nrate_hz = 10.0\n'
        '[factors]\nmiddleware = ["fastdds", "zenoh"]\nreliability = ["best-effort", "reliable"]\nworkload = "tiny"\n'
        'link = ["localhost", "ethernet", "wifi", "corrupt-1"]\nprotection = "none"\n'
    )
    plan = load_plan(path)
    trials = Trials(plan, Spools(tmp_path / "spools"), "switch", tmp_path)
    specs = [trials.spec(case, number=1, pair=0, seed=1, nonce="0" * 16) for case in expand(plan)]
    longer = {(one.factors.middleware, one.factors.link, one.factors.reliability) for one in specs if one.drain_s > 1}
    assert longer == {("fastdds", "wifi", "reliable"), ("fastdds", "corrupt-1", "reliable")}
    assert {one.drain_s for one in specs} == {1.0, 4.0}


def test_echo_with_several_readers_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(
        '[plan]\nname = "echo"\n[factors]\npattern = "echo"\nworkload = "two"\n'
        '[[workloads.two.streams]]\nopaque_bytes = 100\nrate_hz = 10.0\nto = ["station", "station"]\n'
    )
    with pytest.raises(LabError, match="echoes"):
        expand(load_plan(path))


def test_a_protection_of_an_own_transport_is_a_level_of_that_transport_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.so").touch()
    text = """[plan]
name = "p"
[factors]
middleware = "mine"
protection = ["none", "sealed"]
[transports.mine]
library = "mine.so"
[transports.mine.protections.sealed]
hides = false
settings = {key = "k"}
"""
    (tmp_path / "p.toml").write_text(text)
    _, sealed = expand(load_plan(tmp_path / "p.toml"))
    assert sealed.own_transport
    assert sealed.own_transport.protections["sealed"].settings == {"key": "k"}
    assert sealed.protection.base == "sealed"
    (tmp_path / "p.toml").write_text(text.replace('"mine"\n', '["mine", "fastdds"]\n'))
    with pytest.raises(LabError, match='fastdds has no protection "sealed"'):
        expand(load_plan(tmp_path / "p.toml"))
