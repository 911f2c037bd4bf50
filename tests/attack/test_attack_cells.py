"""Plans become cells; verdicts become exit codes; the schema in the documents is the one that is written."""

import json
from pathlib import Path
from typing import Any

import pytest

from comseclab import laboratory
from comseclab.attack import matrix, run
from comseclab.attack.campaign import jobs
from comseclab.attack.cells import cells, chosen, configurations
from comseclab.attack.dialect import OWN, dialect_of, dialects
from comseclab.attack.matrix import CellRow
from comseclab.attack.registry import ATTACKS
from comseclab.attack.verdict import Verdict
from comseclab.errors import LabError
from comseclab.places import shipped_plan
from comseclab.plan import Plan, expand, load_plan
from comseclab.plan.read import checked_plan


def plan_of(**tables: Any) -> Plan:
    factors = {"protection": ["none", "all-encrypt"], "reliability": "reliable"}
    return checked_plan({"plan": {"name": "p"}, "factors": factors, **tables}, Path("p.toml"))


def test_every_protection_has_its_control_in_the_same_run() -> None:
    plan = plan_of(
        comparison={"factor": "link", "baseline": "direct"}, factors={"protection": "auth", "link": "direct"}
    )
    found = cells(plan, expand(plan))
    assert {cell.case.factors.protection for cell in found} == {"none", "auth"}
    assert not [cell for cell in found if cell.refusal is None and cell.case.factors.link != "attack"]


def test_links_and_workloads_of_the_plan_make_no_further_cells() -> None:
    plan = plan_of(factors={"protection": ["none", "auth"], "link": ["wifi", "direct"], "workload": ["scan", "image"]})
    assert len(cells(plan, expand(plan))) == 2 * len(ATTACKS)


def test_what_can_differ_makes_cells_with_names_of_their_own() -> None:
    factors = {"reliability": ["reliable", "best-effort"], "codec": ["cdr", "ros1"], "middleware": ["fastdds"]}
    plan = plan_of(factors=factors)
    found = cells(plan, expand(plan))
    assert len({cell.id for cell in found}) == len(found) == 4 * len(ATTACKS)
    assert len({cell.title for cell in found}) == len(found)
    made = jobs(found, 3)
    assert len({job.id for job in made}) == len(made)


def test_nobody_is_an_insider_without_identities() -> None:
    plan = plan_of(attack={"attacks": "insider-publish", "repetitions": 2})
    plain, protected = cells(plan, expand(plan))
    assert plain.refusal
    assert protected.refusal is None
    arms = sorted((job.cell.protected, job.arm, job.number) for job in jobs([plain, protected], 2))
    assert arms == [(True, "attack", 1), (True, "attack", 2), (True, "control", 1), (True, "control", 2)]


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({"attack": {"attacks": ["modifi"]}}, 'did you mean "modify"'),
        ({"attack": {"require": ["replays"]}}, 'did you mean "replay"'),
        ({"attack": {"require": ["all"]}}, 'require: no attack "all"'),
        ({"hosts": {"names": ["robot", "attacker"]}}, "attacker is the name"),
        (
            {
                "workloads": {"loop": {"streams": [{"sensor": "scan", "from": "robot", "to": ["robot"]}]}},
                "attack": {"workload": "loop"},
            },
            "does not leave its host robot",
        ),
    ],
)
def test_a_matrix_that_cannot_be_is_refused(tables: dict[str, Any], said: str) -> None:
    plan = plan_of(**tables)
    with pytest.raises(LabError, match=said):
        cells(plan, expand(plan))


def test_the_filter_reaches_the_controls_that_the_plan_does_not_name() -> None:
    plan = plan_of(
        comparison={"factor": "link", "baseline": "direct"}, factors={"protection": "auth", "link": "direct"}
    )
    cases = configurations(plan, expand(plan))
    assert [case.factors.protection for case in chosen(cases, ["protection=none"])] == ["none"]
    assert [case.factors.protection for case in chosen(cases, ["protection=auth"])] == ["auth"]
    assert chosen(cases, ["protection=auth", "protection=none"]) == cases
    with pytest.raises(LabError, match='did you mean "none"'):
        chosen(cases, ["protection=non"])
    with pytest.raises(LabError, match="attacks have a link of their own"):
        chosen(cases, ["link=direct"])


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({"attack": {"attacks": "replay", "require": "modify"}}, '"modify" is tried on no protected configuration'),
        ({"factors": {"protection": "none"}, "attack": {"require": "modify"}}, '"modify" is tried on no protected'),
        ({"factors": {"middleware": "ros1"}, "attack": {"attacks": "insider-publish"}}, "nothing to try: insider"),
        ({"attack": {"workload": "image"}}, "need several frames"),
    ],
)
def test_a_matrix_that_would_say_nothing_is_refused(tables: dict[str, Any], said: str) -> None:
    plan = plan_of(**{"factors": {"protection": ["none", "auth"]}, **tables})
    with pytest.raises(LabError, match=said):
        run.planned(plan, configurations(plan, expand(plan)))


@pytest.mark.parametrize(
    ("filters", "told"),
    [
        ([], ""),
        (["middleware=zenoh"], "modify, silence-gap on 2 of 4 protected configurations"),
        (["middleware=zenoh,protection=tls"], "modify, silence-gap on 3 of 4 protected configurations"),
        (["protection=none"], "modify, silence-gap on 4 of 4 protected configurations"),
    ],
)
def test_what_is_required_may_be_left_out_and_that_is_told(filters: list[str], told: str) -> None:
    """Zenoh knows no GAP: that one is required of the plan's other stack does not forbid to choose Zenoh alone."""
    plan = plan_of(
        matrix=[
            {"middleware": "fastdds", "protection": ["none", "auth", "all-sign"]},
            {"middleware": "zenoh", "protection": ["none", "tls", "mtls"]},
        ],
        attack={"require": ["modify", "silence-gap"]},
    )
    whole = configurations(plan, expand(plan))
    cases = chosen(whole, filters) if filters else whole
    assert run.planned(plan, cases)
    assert run.unchecked(plan, cases) == told


def test_of_a_plan_that_requires_nothing_nothing_is_unchecked() -> None:
    plan = plan_of(factors={"protection": ["none", "auth"]})
    assert run.unchecked(plan, chosen(configurations(plan, expand(plan)), ["protection=none"])) == ""


def test_what_a_timed_run_measured_can_be_attacked(tmp_path: Path) -> None:
    plan = plan_of(factors={"protection": ["none", "auth"], "link": ["wifi", "direct"]})
    cases = [case for case in expand(plan) if case.factors.link == "wifi"]
    measured = laboratory.begin(plan, cases, "the plan's text", tmp_path)
    again, attacked, text = run.saved(measured.run.path)
    assert (again, text) == (plan, "the plan's text")
    work = run.begin(again, attacked, text, tmp_path)
    assert {cell.case.factors.protection for cell in work.cells} == {"none", "auth"}
    assert run.reopen(work.run.path).cells == work.cells
    latest = tmp_path / "latest"
    assert run.reopen(latest).run.path == work.run.path.resolve()


def test_a_stack_that_nobody_knows_is_attacked_as_one_s_own() -> None:
    assert dialect_of("mine") is dialects()[OWN]


@pytest.mark.parametrize("name", ["attacks", "two-vendors"])
def test_a_shipped_plan_tries_thirteen_attacks_or_more_on_each_of_its_stacks(name: str) -> None:
    plan = load_plan(shipped_plan(name))
    found = cells(plan, expand(plan))
    assert len({cell.attack.name for cell in found}) >= 13
    stacks = {cell.case.factors.middleware for cell in found}
    assert stacks == ({"fastdds", "cyclonedds"} if name == "two-vendors" else {*stacks, "ros1", "ice", "zenoh"})
    for stack in stacks:
        tried = {cell.attack.name for cell in found if cell.case.factors.middleware == stack and not cell.refusal}
        assert {"eavesdrop", "modify", "forged-publish", "drop", "delay", "replay"} <= tried


def row(attack: str, verdict: Verdict, base: str = "all-encrypt") -> CellRow:
    return CellRow(
        title=f"{attack} on fastdds {base}", middleware="fastdds", protection=base, base=base, reliability="reliable",
        codec="cdr", settings="default", attack=attack, verdict=verdict, text="what happened", succeeded=0,
        repetitions=3, control_succeeded=3, race=False, harm={}, evidence=[], again="",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "required", "code"),
    [
        ([row("modify", Verdict.STOPPED), row("drop", Verdict.SUCCEEDED)], ["modify"], 0),
        ([row("modify", Verdict.SUCCEEDED)], [], 0),
        ([row("modify", Verdict.SUCCEEDED)], ["modify"], 1),
        ([row("modify", Verdict.DISRUPTED), row("replay", Verdict.INVALID)], ["modify"], 1),
        ([row("modify", Verdict.SUCCEEDED, "none"), row("modify", Verdict.STOPPED)], ["modify"], 0),
        ([row("modify", Verdict.NOT_SHOWN)], ["modify"], 3),
        ([row("modify", Verdict.STOPPED), row("flood", Verdict.NOT_SHOWN)], ["modify"], 0),
        ([row("modify", Verdict.STOPPED), row("flood", Verdict.NOT_SHOWN)], [], 3),
        ([row("modify", Verdict.STOPPED), row("flood", Verdict.INVALID)], ["modify"], 3),
        ([row("modify", Verdict.INVALID, "none")], [], 3),
        ([row("modify", Verdict.NOT_APPLICABLE)], ["modify"], 0),
    ],
)
def test_required_verdicts_decide_the_exit_code(rows: list[CellRow], required: list[str], code: int) -> None:
    assert matrix.exit_code(rows, required) == code
    lines = matrix.broken(rows, required)
    assert len(lines) == (1 if code == 1 else 0)
    assert all("modify on fastdds all-encrypt" in line and "what happened" in line for line in lines)


def test_the_schema_in_the_documents_is_the_matrix_s() -> None:
    written = Path(__file__).parents[2] / "docs" / "attack.schema.json"
    assert json.loads(written.read_text()) == matrix.schema()
