"""What is wrong with a plan is said in one line that names the place in the file."""

import json
from pathlib import Path

import pytest

from comseclab.errors import LabError
from comseclab.places import shipped_plan
from comseclab.plan import Plan, expand, load_plan, only

LONG = "x" * 300
GOOD = '[plan]\nname = "p"\n'


def refusal(tmp_path: Path, text: str) -> str:
    plan = tmp_path / "p.toml"
    plan.write_text(text)
    with pytest.raises(LabError) as caught:
        expand(load_plan(plan))
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[plan", "plan p.toml is not TOML: "),
        ("", "plan p.toml: needs the table [plan]"),
        ("[plan]\n", 'plan p.toml: [plan] needs the key "name"'),
        ("plan = 3", "plan p.toml: [plan]: input should be a valid dictionary"),
        ('[plan]\nname = "a b"', "plan p.toml: [plan] name = 'a b': should be a name of letters"),
        (GOOD + "duration = 3", 'plan p.toml: [plan] has no key "duration"; did you mean "duration_s"?'),
        (GOOD + 'duration_s = "3"', "plan p.toml: [plan] duration_s = '3': input should be a valid number"),
        (GOOD + "duration_s = -1", "plan p.toml: [plan] duration_s = -1: input should be greater than 0"),
        (GOOD + "duration_s = nan", "plan p.toml: [plan] duration_s = nan: input should be"),
        (GOOD + "[stop]\nmin_pair = 5", 'plan p.toml: [stop] has no key "min_pair"; did you mean "min_pairs"?'),
        (GOOD + "[stop]\nmin_pairs = 5\nmax_pairs = 4", "plan p.toml: [stop]: max_pairs is below min_pairs"),
        (GOOD + "[stp]", 'plan p.toml: the plan has no key "stp"; did you mean "stop"?'),
        (GOOD + "[stop]\nx = 1\ny = 2", '[stop] has no key "x"; known: min_pairs, max_pairs, precision'),
        (GOOD + "[deadline]", 'plan p.toml: [deadline] needs the key "latency_ms"'),
        (GOOD + '[comparison]\nfactor = "links"', "plan p.toml: [comparison] factor = 'links': input should be"),
        (GOOD + '[comparison]\nbaseline = "non"', '[comparison] baseline has no level "non"; did you mean "none"?'),
        (GOOD + '[factors]\nlink = "wfi"', 'plan p.toml: [factors] link has no level "wfi"; did you mean "wifi"?'),
        (GOOD + '[factors]\nmiddleware = "fastds"', 'middleware has no level "fastds"; did you mean "fastdds"?'),
        (GOOD + '[factors]\nlink = 3', "plan p.toml: [factors] link = 3: input should be a valid list"),
        (GOOD + '[[matrix]]\n[[matrix]]\nlink = "wfi"', '[[matrix]] 2 link has no level "wfi"; did you mean "wifi"?'),
        (GOOD + '[[matrix]]\nlnk = "wifi"', 'plan p.toml: [[matrix]] 1 has no key "lnk"; did you mean "link"?'),
        (GOOD + "[[matrix]]\nlink = []", "plan p.toml: [[matrix]] 1 link = []: should name at least one level"),
        (GOOD + '[[matrix]]\nprotection = "sros2"', 'protection has no level "sros2"; did you mean "sros2-default"?'),
        (GOOD + '[[matrix]]\nworkload = "scans"', '[[matrix]] 1 workload has no level "scans"; did you mean "scan"?'),
        (GOOD + '[[matrix]]\nsettings = "defalt"', 'settings has no level "defalt"; did you mean "default"?'),
        (GOOD + '[[matrix]]\nprotection = "auth"', "lacks its baseline protection=none (add it to the same [[matrix]]"),
        (GOOD + "[links.slow]\nloss = 1.5", "[links.slow] loss = 1.5: input should be less than or equal to 1"),
        (GOOD + '[links.slow]\nbase = "wfi"', '[links.slow] base has no level "wfi"; did you mean "wifi"?'),
        (GOOD + "[links.wifi]\nloss = 0.5", "plan p.toml: [links.wifi] has a built-in's name (give it another)"),
        (GOOD + '[protections.ours]\nbase = "alencrypt"', 'base has no level "alencrypt"; did you mean "all-encrypt"?'),
        (GOOD + '[protections.ours]\nbase = "auth"\nkeystore = "k"', "keystore = 'k': "),
        (GOOD + "[settings.big]\nmut = 9000", 'plan p.toml: [settings.big] has no key "mut"; did you mean "mtu"?'),
        (GOOD + "[settings.big.fastds]\nx = 1", '[settings.big] has no key "fastds"; did you mean "fastdds"?'),
        (GOOD + "[settings.s.cyclonedds]\nhistory = 1", '[settings.s.cyclonedds]: cyclonedds has no setting'),
        (GOOD + "[settings.s.fastdds]\nhistory_depth = 0", "[settings.s.fastdds]: fastdds: history_depth is a whole"),
        (GOOD + "[workloads.w]\nstreams = []", "[workloads.w] streams = []: list should have at least 1 item"),
        (
            GOOD + '[[workloads.w.streams]]\nsensor = "scan"\n[[workloads.w.streams]]\nopaque_bytes = 50',
            "plan p.toml: [[workloads.w.streams]] 2: opaque_bytes needs rate_hz",
        ),
        (
            GOOD + '[[workloads.w.streams]]\nsensor = "scan"\nopaque_bytes = 50',
            "[[workloads.w.streams]] 1: needs exactly one of sensor, recording, opaque_bytes",
        ),
        (GOOD + '[[workloads.w.streams]]\nsensor = "scan"\nto = ["statio"]', 'no host "statio"; did'),
        (GOOD + "[settings.s]\nnode_cpus = {robo = [0]}", '[settings.s] node_cpus has no host "robo"; did'),
        (GOOD + '[hosts]\nnames = ["robot.x"]', 'host "robot.x" should be up to 10 small letters'),
        (GOOD + '[hosts]\nnames = ["stat\\n"]', r'host "stat\n" should be up to 10 small letters'),
        (GOOD + f"[hosts]\nnames = {[f'h{number}' for number in range(255)]}", "at most 254 items"),
        (GOOD + '[hosts]\nnames = ["a", "a"]', "each host should be named once"),
        (
            GOOD + '[[workloads.w.streams]]\nsensor = "scan"\n[[workloads.w.streams]]\nsensor = "scan"',
            "plan p.toml: [workloads.w] has two streams on /scan",
        ),
        (
            GOOD + "[[workloads.w.streams]]\nopaque_bytes = 23\nrate_hz = 10",
            "opaque messages of 23 bytes have no room for their identity (give at least opaque_bytes = 24)",
        ),
        (
            GOOD + '[[workloads.w.streams]]\nopaque_bytes = 24\nrate_hz = 10\ntopic = "x y"',
            'plan p.toml: [workloads.w]: "x y" is no ROS topic',
        ),
        (GOOD + '[[workloads.w.streams]]\nrecording = "none.mcap"\ntopic = "/scan"', "none.mcap does not exist"),
        (GOOD + '[protections.p]\nbase = "auth"\nkeystore = "~nouser/k"', "~nouser/k does not exist"),
        (GOOD + f'[protections.p]\nbase = "auth"\nkeystore = "{LONG}"', "cannot be used: File name too long"),
        (
            GOOD + f'[settings.s.fastdds]\nqos_profile = "{LONG}.xml"\n[factors]\nsettings = "s"',
            "qos_profile is a well-formed XML file, not ",
        ),
        (GOOD + f"x = {'[' * 5000}{']' * 5000}", "plan p.toml is nested too deeply"),
    ],
)  # fmt: skip
def test_mistake_is_named_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    assert said in refusal(tmp_path, text)


def test_a_hint_names_keys_as_a_plan_spells_them(tmp_path: Path) -> None:
    assert refusal(tmp_path, GOOD + "[settings.big]\nzzz = 1").endswith("lock_memory, mtu")


def test_missing_plan_and_folder() -> None:
    with pytest.raises(LabError, match=r"no plan nowhere\.toml \(/.*/plans/template\.toml is one to begin with\)"):
        load_plan(Path("nowhere.toml"))
    with pytest.raises(LabError, match="cannot read plan"):
        load_plan(Path("/"))


def test_several_mistakes_are_counted(tmp_path: Path) -> None:
    assert "(and 1 more)" in refusal(tmp_path, '[plan]\nname = "p"\nseed = -1\nrounds = 0')


def test_a_case_the_middleware_refuses_is_named_with_the_reason(tmp_path: Path) -> None:
    said = refusal(tmp_path, GOOD + "[factors]\nmiddleware = 'ice'\nprotection = ['none', 'auth']")
    assert said.startswith('case ice_best-effort_auth_localhost_scan_cdr_stream_default: ice has no protection "auth"')


def test_overrides_replace_keys_of_a_table() -> None:
    plan = load_plan(shipped_plan("demo"), {"stop": {"max_pairs": 9}, "deadline": {"latency_ms": 5.0}})
    assert (plan.stop.min_pairs, plan.stop.max_pairs) == (5, 9)
    assert plan.deadline is not None
    assert plan.deadline.latency_ms == 5.0


@pytest.mark.parametrize("name", ["demo", "template", "dds-protections"])
def test_a_shipped_plan_survives_json(name: str) -> None:
    plan = load_plan(shipped_plan(name))
    assert Plan.model_validate(json.loads(plan.model_dump_json())) == plan


def test_only_keeps_what_it_names() -> None:
    plan = load_plan(shipped_plan("demo"))
    cases = expand(plan)
    assert len(only(plan, cases, ["link=wifi"])) == 2
    assert len(only(plan, cases, ["link=wifi,link=ethernet", "workload=scan"])) == 4
    assert [case.factors.protection for case in only(plan, cases, ["link=wifi, protection=none"])] == ["none"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("lnk=wifi", '--only: no factor "lnk"; did you mean "link"?'),
        ("wifi", '--only: no factor "wifi"; known: middleware'),
        ("link", "--only: link lacks its level (write link="),
        ("link=wfi", '--only: the plan has no link "wfi"; did you mean "wifi"?'),
        ("link=wifi,workload=image", "--only link=wifi,workload=image leaves no case"),
        ("protection=sros2-default", "lacks its baseline protection=none (add protection=none to --only)"),
    ],
)
def test_only_explains_what_it_cannot_do(text: str, said: str) -> None:
    plan = load_plan(shipped_plan("demo"))
    with pytest.raises(LabError) as caught:
        only(plan, expand(plan), [text])
    assert said in str(caught.value)
