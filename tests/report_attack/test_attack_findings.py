"""What the page makes of the cells: claims, STRIDE, SWOT, standards, costs. Known answers."""

from pathlib import Path
from typing import Any

import pytest
from made_up_attacks import NAMES, TRIAL, WHOLE, cell, matrix, write_attacks, write_costs, write_trial

from comseclab.attack.matrix import Matrix
from comseclab.attack.registry import ATTACKS
from comseclab.attack.spec import Seen
from comseclab.attack.verdict import Verdict
from comseclab.errors import LabError
from comseclab.middleware.registry import MIDDLEWARES
from comseclab.report.attack import build, claims, cost, evidence, looks, standards, summary, vendors
from comseclab.report.attack.claims import Standing, standing
from comseclab.report.attack.run import AttackRun, Configuration, read


@pytest.fixture
def run(tmp_path: Path) -> AttackRun:
    return read(write_attacks(tmp_path / "20260102T100000-made-up-attack"))


@pytest.mark.parametrize(
    ("protection", "attack", "verdict", "expected"),
    [
        ("all-encrypt", "eavesdrop", Verdict.STOPPED, Standing.SHOWN),
        ("all-encrypt", "eavesdrop", Verdict.SUCCEEDED, Standing.REFUTED),
        ("all-encrypt", "eavesdrop", Verdict.NOT_SHOWN, Standing.OPEN),
        ("all-encrypt", "eavesdrop", Verdict.INVALID, Standing.OPEN),
        ("all-encrypt", "modify", Verdict.DISRUPTED, Standing.OPEN),
        ("all-encrypt", "modify", Verdict.DETECTED, Standing.OPEN),
        ("all-encrypt", "silence-gap", Verdict.DISRUPTED, Standing.REFUTED),
        ("all-encrypt", "replay-restarted", Verdict.SUCCEEDED, Standing.NOT_CLAIMED),
        ("all-encrypt", "silence-gap", Verdict.DETECTED, Standing.REFUTED),
        ("all-encrypt", "drop", Verdict.SUCCEEDED, Standing.NOT_CLAIMED),
        ("payload-sign", "eavesdrop", Verdict.SUCCEEDED, Standing.NOT_CLAIMED),
        ("payload-sign", "replay-resequenced", Verdict.SUCCEEDED, Standing.NOT_CLAIMED),
        ("payload-sign", "forged-publish", Verdict.SUCCEEDED, Standing.REFUTED),
        ("auth", "forged-publish", Verdict.SUCCEEDED, Standing.NOT_CLAIMED),
        ("auth", "insider-publish", Verdict.STOPPED, Standing.SHOWN),
        ("none", "eavesdrop", Verdict.SUCCEEDED, Standing.NOT_CLAIMED),
        ("all-encrypt", "reflection", Verdict.NOT_APPLICABLE, None),
        ("own-documents", "eavesdrop", Verdict.STOPPED, Standing.UNKNOWN),
    ],
)
def test_claims(protection: str, attack: str, verdict: Verdict, expected: Standing | None) -> None:
    assert standing(cell("fastdds", protection, attack, verdict)) is expected


@pytest.mark.parametrize(
    ("protection", "attack", "expected"),
    [
        ("tls", "forged-publish", Standing.NOT_CLAIMED),
        ("mtls", "forged-publish", Standing.SHOWN),
        ("mtls", "insider-publish", Standing.NOT_CLAIMED),
        ("mtls", "replay-restarted", Standing.SHOWN),
        ("quic-mtls", "forged-publish", Standing.SHOWN),
        ("quic-mtls-acl", "insider-publish", Standing.SHOWN),
    ],
)
def test_claims_of_zenoh(protection: str, attack: str, expected: Standing) -> None:
    assert standing(cell("zenoh", protection, attack, Verdict.STOPPED)) is expected


@pytest.mark.parametrize(
    ("attack", "verdict", "expected"),
    [
        ("modify", Verdict.STOPPED, "for"),
        ("modify", Verdict.SUCCEEDED, "against"),
        ("modify", Verdict.DISRUPTED, "open"),
        ("modify", Verdict.DETECTED, "open"),
        ("modify", Verdict.NOT_SHOWN, "open"),
        ("modify", Verdict.INVALID, "open"),
        ("modify", Verdict.NOT_APPLICABLE, None),
        ("drop", Verdict.DETECTED, "against"),
        ("silence-gap", Verdict.DISRUPTED, "against"),
        ("reflection", Verdict.SUCCEEDED, "against"),
        ("reflection", Verdict.DISRUPTED, "open"),
    ],
)
def test_what_a_cell_speaks_for(attack: str, verdict: Verdict, expected: str | None) -> None:
    assert claims.side(cell("fastdds", "all-encrypt", attack, verdict)) == expected


def test_claims_standards_sentences_and_swot_agree_on_a_lost_stream(tmp_path: Path) -> None:
    lost = cell("fastdds", "all-encrypt", "modify", Verdict.DISRUPTED)
    run = AttackRun(tmp_path, matrix().model_copy(update={"cells": [lost]}))
    assert standing(lost) is Standing.OPEN
    for standard in standards.mapped(run):
        for row in standard["rows"]:
            if "modify" in row["attacks"] and not row["every"]:
                assert row["counts"] == {"for": 0, "against": 0, "open": 1}, row["id"]
    assert [one["key"] for one in summary.sentences(run)] == ["1 disrupted"]
    assert all(not marks for _, marks in summary.swot(run)[0]["quadrants"])


def test_only_attacks_of_harm_tell_what_is_noticed(tmp_path: Path) -> None:
    """Of others the verdict does not say whether somebody was told."""
    cells = [cell("fastdds", "auth", name, Verdict.SUCCEEDED) for name in ("eavesdrop", "drop")]
    run = AttackRun(tmp_path, matrix().model_copy(update={"cells": cells}))
    rows = [row for standard in standards.mapped(run) for row in standard["rows"] if row["id"] in ("(l)", "CR 2.8")]
    assert [row["counts"] for row in rows] == [{"for": 0, "against": 1, "open": 0}] * 2


def test_every_protection_and_every_attack_has_its_claims() -> None:
    for name, stack in MIDDLEWARES.items():
        for base in stack.protections:
            one = Configuration(name, base, base, "reliable", "cdr", "default")
            assert claims.documents().claimed(one) is not None, one.name
    assert [attack for attack in ATTACKS if not claims.documents().tests(attack)] == []


def test_the_refuted_claim_names_its_source(run: AttackRun) -> None:
    refuted = {one["attack"]: one for one in claims.refuted(run)}
    assert {name: {cell["name"] for cell in one["cells"]} for name, one in refuted.items()} == {
        "insider-publish": {"fastdds all-encrypt", "fastdds auth"},
        "self-signed-permissions": {"fastdds auth"},
    }
    assert any("DDS Security 1.1, 9.4" in source for _, source in refuted["insider-publish"]["claims"])


def test_swot(run: AttackRun) -> None:
    found = {one["name"]: dict(one["quadrants"]) for one in summary.swot(run)}

    def names(configuration: str, quadrant: str) -> set[str]:
        return {mark["attack"] for mark in found[configuration][quadrant]}

    assert names("fastdds all-encrypt", "strengths") == {"eavesdrop", "silence-gap", "self-signed-permissions"}
    assert names("fastdds all-encrypt", "weaknesses") == {"insider-publish"}
    assert names("fastdds all-encrypt", "opportunities") == {"insider-publish"}
    assert names("fastdds all-encrypt", "threats") == {"drop"}
    assert names("zenoh mtls", "threats") == {"drop", "insider-publish"}
    by = {mark["attack"]: mark["by"] for mark in found["fastdds payload-sign"]["opportunities"]}
    assert by == {"eavesdrop": "all-encrypt", "silence-gap": "all-encrypt"}


def test_stride(run: AttackRun) -> None:
    names, rows = summary.stride(run)
    row = dict(zip(names, next(one["cells"] for one in rows if one["name"] == "fastdds all-encrypt"), strict=True))
    assert [(one["word"], one["count"]) for one in row["Denial of service"]] == [("detected", 1), ("stopped", 1)]
    assert "Repudiation" not in names


def test_sentences(run: AttackRun) -> None:
    told = ["".join(one[part] for part in ("before", "key", "after")) for one in summary.sentences(run)]
    assert "22 succeeded, 1 detected, 1 disrupted, 10 stopped, 4 not shown, 1 invalid" in told[0]
    assert told[1] == (
        "3 cells refute a claim: insider-publish in 2, self-signed-permissions in 1. 8 cells show that one holds."
    )
    assert "fastdds all-encrypt 3 of 7" in told[2]
    assert told[3] == "Did what they were meant to, whatever protection they met: drop."
    assert told[4] == "Without protection, attacks did what they were meant to: fastdds none 4 of 5, zenoh none 4 of 4."


def test_sentences_leave_out_what_there_is_none_of(tmp_path: Path) -> None:
    protected = [
        cell("fastdds", "all-encrypt", "eavesdrop", Verdict.STOPPED),
        cell("zenoh", "mtls", "insider-publish", Verdict.SUCCEEDED),
        cell("zenoh", "mtls", "replay", Verdict.SUCCEEDED),
    ]
    bare = [
        cell("fastdds", "none", "eavesdrop", Verdict.SUCCEEDED),
        cell("zenoh", "none", "eavesdrop", Verdict.NOT_SHOWN),
    ]
    for cells, stopped, done in ((protected + bare, 1, 1), (protected[1:] + bare[1:], 0, 0)):
        run = AttackRun(tmp_path, matrix().model_copy(update={"cells": cells}))
        said = {one["before"] + one["key"]: one["after"] for one in summary.sentences(run)}
        assert [text for key, text in said.items() if "shown stopped" in key] == [
            ", by stack: fastdds all-encrypt 1 of 1."
        ] * stopped
        assert [text for key, text in said.items() if "Without" in key] == [": fastdds none 1 of 1."] * done
        assert "1 cell refutes a claim" in said


def test_vendors_differ_where_verdicts_that_say_something_do(tmp_path: Path) -> None:
    verdicts = (Verdict.STOPPED, Verdict.STOPPED, Verdict.NOT_SHOWN, Verdict.STOPPED, Verdict.DETECTED)
    other = [cell("cyclonedds", "all-encrypt", name, verdict) for name, verdict in zip(NAMES, verdicts, strict=False)]
    found = matrix().model_copy(update={"cells": [*matrix().cells, *other]})
    run = AttackRun(tmp_path, found)
    rows = list(vendors.differences(run))
    assert [(row["label"], row["attack"]) for row in rows] == [("all-encrypt", "modify")]
    assert [mark["word"] for mark in rows[0]["marks"]] == ["stopped", "disrupted"]
    assert vendors.stacks(run) == ["cyclonedds", "fastdds"]
    assert not list(vendors.differences(AttackRun(tmp_path, matrix())))


def test_vendors_are_not_compared_without_protection(tmp_path: Path) -> None:
    other = [
        cell("cyclonedds", "all-encrypt", "modify", Verdict.SUCCEEDED),
        cell("cyclonedds", "none", "drop", Verdict.DETECTED),
    ]
    run = AttackRun(tmp_path, matrix().model_copy(update={"cells": [*matrix().cells, *other]}))
    assert [(row["label"], row["attack"]) for row in vendors.differences(run)] == [("all-encrypt", "modify")]
    bare = AttackRun(tmp_path, matrix().model_copy(update={"cells": [*matrix().cells, other[1]]}))
    assert vendors.stacks(bare) == []


def test_signs_of_verdicts_and_standings_do_not_contradict_each_other() -> None:
    """One sign in both matrices means the same in both."""
    shared = {look.mark for look in claims.LOOKS.values()} & {look.mark for look in looks.LOOKS.values()}
    assert shared == {"✕", "✓", "?"}


def test_standards_list_evidence_on_both_sides(run: AttackRun) -> None:
    found = {(one["id"], row["id"]): row for one in standards.mapped(run) for row in one["rows"]}
    assert found["cra", "(e)"]["counts"] == {"for": 3, "against": 2, "open": 0}
    assert found["cra", "(f)"]["counts"] == {"for": 4, "against": 2, "open": 4}
    assert found["cra", "(a)"]["counts"] == {"for": 0, "against": 3, "open": 2}
    assert found["cra", "(b)"]["counts"] == {"for": 0, "against": 8, "open": 1}
    assert found["cra", "(i)"]["lines"] == []
    assert found["nist", "AU-12"]["counts"]["for"] == 1


@pytest.mark.parametrize(
    ("attack", "row", "told"),
    [
        ("relay", "(f)", False), ("relay", "CR 3.1", False), ("relay", "SC-23", True),
        ("reflection", "CR 7.1", False), ("reflection", "SC-5", False), ("reflection", "(i)", True),
    ],
)  # fmt: skip
def test_rows_leave_out_attacks_that_tell_nothing_about_them(attack: str, row: str, told: bool) -> None:
    rows = {one.id: one for standard in standards.standards() for one in standard.rows}
    assert rows[row].concerns(cell("fastdds", "all-encrypt", attack, Verdict.SUCCEEDED)) is told


def test_standards_name_attacks_that_exist() -> None:
    known = claims.documents().attacks
    for one in standards.standards():
        for row in one.rows:
            assert all(name == "*" or name in known or name == "replay-*" for name in row.attacks), row.id


def test_costs_are_geometric_means_and_the_useless_stands_out(run: AttackRun) -> None:
    write_costs(run.path.parent / "20260101T100000-made-up")
    found = cost.find(run, None)
    assert found is not None
    points = {point.configuration.name: point for point in cost.points(run, found[1])}
    assert points["fastdds payload-sign"].ratio == pytest.approx(6.0)
    assert points["fastdds none"].ratio == 1
    assert points["fastdds all-encrypt"].stopped == 3
    assert {name: point.kind(0.1) for name, point in points.items()} == {
        "fastdds none": "none shown stopped",
        "fastdds auth": "costs, none shown stopped",
        "fastdds payload-sign": "attacks shown stopped",
        "fastdds all-encrypt": "attacks shown stopped",
        "zenoh none": "none shown stopped",
        "zenoh mtls": "attacks shown stopped",
        "own cipher": "attacks shown stopped",
    }


def test_the_newest_run_of_the_same_plan_has_the_costs(run: AttackRun) -> None:
    out = run.path.parent
    write_costs(out / "20260101T100000-made-up")
    newest = write_costs(out / "20260103T100000-made-up")
    write_costs(out / "20260104T100000-other", plan="other")
    write_costs(out / "20260104T110000-made-up", factor="settings")
    (out / "20260105T100000-broken").mkdir()
    (out / "20260105T100000-broken" / "summary.json").write_text("{")
    found = cost.find(run, None)
    assert found is not None
    assert found[0] == newest


def test_costs_of_other_configurations_are_no_chart(run: AttackRun) -> None:
    write_costs(run.path.parent / "20260101T100000-made-up", ratios={("cyclonedds", "auth"): (2.0,)})
    told = build(run.path).read_text()
    assert "20260101T100000-made-up has no ratio of a protection that was attacked here." in told
    assert "No run of this plan beside this one" not in told
    assert not (run.path / "charts").exists()


def test_a_chart_of_costs_goes_with_its_costs(run: AttackRun) -> None:
    asked = write_costs(run.path.parent / "asked", plan="other")
    build(run.path, asked)
    other = run.path / "charts" / "other.svg"
    other.touch()
    assert len(list((run.path / "charts").glob("cost-protection.*"))) == 3
    assert "No run of this plan beside this one" in build(run.path).read_text()
    assert list((run.path / "charts").iterdir()) == [other]


@pytest.mark.parametrize(("here", "typed"), [("", "runs/20260102T1"), ("elsewhere", "{root}/runs/20260102T1")])
def test_the_run_is_repeated_from_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, here: str, typed: str
) -> None:
    folder = write_attacks(tmp_path / "runs" / "20260102T1")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / here)
    named = typed.format(root=tmp_path)
    assert f"<pre>comseclab attack {named}\ncomseclab report {named}</pre>" in build(folder).read_text()


def test_ratios_of_something_else_are_no_costs(run: AttackRun) -> None:
    with pytest.raises(LabError, match="compares settings with none"):
        build(run.path, write_costs(run.path.parent / "asked", factor="settings"))


@pytest.mark.parametrize("content", [None, "{", '{"version": 1}'])
def test_costs_that_were_asked_for_and_are_wrong_are_refused(run: AttackRun, content: str | None) -> None:
    asked = run.path.parent / "asked"
    asked.mkdir()
    if content is not None:
        (asked / "summary.json").write_text(content)
    with pytest.raises(LabError, match=r"summary\.json"):
        build(run.path, asked)


def _proof(run: AttackRun, configuration: str, attack: str) -> dict[str, Any]:
    """A cell's evidence."""
    group = next(one for one in evidence.groups(run) if one["name"] == configuration)
    return next(found for found in group["cells"] if found["attack"] == attack)


def test_a_control_counts_as_the_verdict_took_it(run: AttackRun) -> None:
    """Of `stopped`: a control whose harm was noticed worked, though it never succeeded."""
    noticed = cell("fastdds", "none", "silence-gap", Verdict.DETECTED)
    stopped = cell("fastdds", "all-encrypt", "silence-gap", Verdict.STOPPED).model_copy(
        update={"evidence": ["trials/x"]}
    )
    changed = AttackRun(run.path, run.matrix.model_copy(update={"cells": [noticed, stopped]}))
    (control,) = _proof(changed, "fastdds all-encrypt", "silence-gap")["controls"]
    assert control["text"] == "the same attack without protection worked, noticed or not, in 3 of 3 valid trials"


def test_the_control_of_an_insider_holds_the_right(tmp_path: Path) -> None:
    folder = write_attacks(tmp_path / "run")
    forged = Seen(before=WHOLE, during=WHOLE, after=WHOLE, forged=5, rogues=1)
    for number, valid in ((1, True), (2, False)):
        write_trial(folder / f"trials/x_control-{number}", "insider-publish", "control", forged, valid=valid)
    trials = [f"trials/x_control-{number}" for number in (1, 2)]
    tried = cell("fastdds", "all-encrypt", "insider-publish", Verdict.STOPPED)
    found = matrix().model_copy(
        update={"cells": [tried.model_copy(update={"evidence": trials, "control_succeeded": 1})]}
    )
    (control,) = _proof(AttackRun(folder, found), "fastdds all-encrypt", "insider-publish")["controls"]
    assert control["text"] == "the same node, holding the right, worked, noticed or not, in 1 of 1 valid trial"
    (folder / trials[0] / "record.json").unlink()
    (control,) = _proof(AttackRun(folder, found), "fastdds all-encrypt", "insider-publish")["controls"]
    assert "worked in 1 or more valid trials, not all of whose records are still there" in control["text"]


def test_a_trial_whose_victim_crashed_is_told_as_the_verdict_took_it(tmp_path: Path) -> None:
    folder = write_attacks(tmp_path / "run")
    crashed = Seen(before=WHOLE, during=WHOLE, after=WHOLE, targeted=12, crashed={"station-subscriber": "SIGSEGV"})
    write_trial(folder / f"{TRIAL}_attack-1", "modify", "attack", crashed)
    trial = _proof(read(folder), "fastdds all-encrypt", "modify")["trials"][0]
    assert trial["outcome"] == "disrupted: no altered message delivered"
    assert trial["told"] == ["station-subscriber ended with SIGSEGV"]


def test_a_cell_that_was_not_tried_has_no_command(tmp_path: Path) -> None:
    found = matrix()
    for one in found.cells:
        one.again = ""
    assert "Just this cell again" not in build(write_attacks(tmp_path / "run", found)).read_text()


def _unknown_attack(wrong: Matrix) -> None:
    wrong.cells[0].attack = "nothing"


def _twice(wrong: Matrix) -> None:
    wrong.cells.append(wrong.cells[0])


def _outside(wrong: Matrix) -> None:
    wrong.cells[0].evidence = ["../elsewhere"]


def _too_many(wrong: Matrix) -> None:
    wrong.cells[0].succeeded = 4


def _no_category(wrong: Matrix) -> None:
    wrong.attacks[0].stride = "Mischief"


def _nothing(wrong: Matrix) -> None:
    wrong.cells = []


@pytest.mark.parametrize("break_it", [_unknown_attack, _twice, _outside, _too_many, _no_category, _nothing])
def test_contradictions_are_refused(tmp_path: Path, break_it: object) -> None:
    wrong = matrix()
    assert callable(break_it)
    break_it(wrong)
    with pytest.raises(LabError, match="damaged"):
        build(write_attacks(tmp_path / "run", wrong))


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    folder = write_attacks(tmp_path / "run")
    (folder / "trials/fastdds_all-encrypt_modify_attack-1/record.json").write_text("{")
    with pytest.raises(LabError, match=r"record\.json is damaged"):
        build(folder)
    (folder / "attack.json").write_text("{")
    with pytest.raises(LabError, match=r"attack\.json"):
        build(folder)


def test_trials_that_were_thrown_away_leave_the_page_whole(tmp_path: Path) -> None:
    folder = write_attacks(tmp_path / "run")
    (folder / "trials/fastdds_all-encrypt_modify_attack-1/record.json").unlink()
    assert "its record is no longer there" in build(folder).read_text()
