"""Claims of the documents, and rows of standards, against what happened. Known answers."""

from fnmatch import filter as matching
from pathlib import Path

import pytest
from made_up_attacks import cell, matrix

from comseclab.attack.registry import ATTACKS
from comseclab.attack.verdict import Verdict
from comseclab.middleware.registry import MIDDLEWARES
from comseclab.report.attack import claims, standards
from comseclab.report.attack.claims import Standing, standing
from comseclab.report.attack.run import AttackRun, Configuration


@pytest.mark.parametrize(
    ("protection", "attack", "verdict", "expected"),
    [
        ("all-encrypt", "eavesdrop", Verdict.STOPPED, Standing.SHOWN),
        ("all-encrypt", "eavesdrop", Verdict.SUCCEEDED, Standing.REFUTED),
        ("all-encrypt", "eavesdrop", Verdict.NOT_SHOWN, Standing.OPEN),
        ("all-encrypt", "eavesdrop", Verdict.INVALID, Standing.OPEN),
        ("all-encrypt", "modify", Verdict.DISRUPTED, Standing.OPEN),
        ("all-encrypt", "modify", Verdict.DETECTED, Standing.OPEN),
        ("all-encrypt", "silence-gap", Verdict.SUCCEEDED, Standing.REFUTED),
        ("all-encrypt", "silence-gap", Verdict.DISRUPTED, Standing.OPEN),
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
    ("stack", "protection", "verdict", "expected"),
    [
        ("ice", "mtls", Verdict.DETECTED, Standing.NOT_CLAIMED),
        ("zenoh", "mtls-acl", Verdict.SUCCEEDED, Standing.NOT_CLAIMED),
        ("zenoh", "quic-mtls", Verdict.DETECTED, Standing.REFUTED),
        ("zenoh", "quic-mtls", Verdict.DISRUPTED, Standing.OPEN),
        ("zenoh", "quic-mtls", Verdict.STOPPED, Standing.SHOWN),
    ],
)
def test_a_connection_that_a_forged_close_ends_refutes_what_is_said_of_quic_alone(
    stack: str, protection: str, verdict: Verdict, expected: Standing
) -> None:
    """TLS ends a connection whose bytes it refuses; QUIC discards them."""
    assert standing(cell(stack, protection, "silence-close", verdict)) is expected


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
        ("master-hijack", Verdict.DETECTED, "open"),
        ("reflection", Verdict.SUCCEEDED, "against"),
        ("reflection", Verdict.DISRUPTED, "open"),
    ],
)
def test_what_a_cell_speaks_for(attack: str, verdict: Verdict, expected: str | None) -> None:
    assert claims.side(cell("fastdds", "all-encrypt", attack, verdict)) == expected


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
        ("silence-close", "CR 3.8", False), ("silence-close", "CR 7.1", True),
        ("silence-dispose-writer", "CR 3.8", True), ("silence-reset", "CR 3.8", False),
        ("reflection", "CR 7.1", False), ("reflection", "SC-5", False), ("reflection", "(i)", True),
    ],
)  # fmt: skip
def test_rows_leave_out_attacks_that_tell_nothing_about_them(attack: str, row: str, told: bool) -> None:
    rows = {one.id: one for standard in standards.standards() for one in standard.rows}
    assert rows[row].concerns(cell("fastdds", "all-encrypt", attack, Verdict.SUCCEEDED)) is told


def test_every_row_has_attacks_that_tell_of_it_or_says_why_none_does(run: AttackRun) -> None:
    rows = {row.id: row for standard in standards.standards() for row in standard.rows}
    without = {name: row.note for name, row in rows.items() if not row.attacks}
    assert set(without) == {"CR 1.8", "AU-2"}
    assert all(without.values())
    told = {row["id"]: row["lines"] for standard in standards.mapped(run) for row in standard["rows"]}
    assert [told[name] for name in without] == [[], []]


def test_standards_name_attacks_that_exist() -> None:
    for one in standards.standards():
        for row in one.rows:
            assert [name for name in row.attacks if not matching(ATTACKS, name)] == [], row.id
