"""What the page says of all cells together: sentences, STRIDE, SWOT, vendors. Known answers."""

from pathlib import Path

from made_up_attacks import NAMES, cell, matrix

from comseclab.attack.verdict import Verdict
from comseclab.report.attack import claims, looks, standards, summary, vendors
from comseclab.report.attack.claims import Standing, standing
from comseclab.report.attack.page import page
from comseclab.report.attack.run import AttackRun


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


def test_what_detects_messages_that_are_held_up_is_told_where_nothing_did(tmp_path: Path) -> None:
    for verdict, told in ((Verdict.SUCCEEDED, ["drop succeeded"]), (Verdict.DETECTED, [])):
        run = AttackRun(tmp_path, matrix().model_copy(update={"cells": [cell("zenoh", "mtls", "drop", verdict)]}))
        found = [one for one in summary.caveats(run) if "deadline or lifespan in the QoS" in one["remedy"]]
        assert [one["text"].partition(",")[0] for one in found] == told


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


def test_what_is_shown_of_one_vendor_only_is_told_apart(tmp_path: Path) -> None:
    """An effect on one and nothing shown of the other is no difference between verdicts, but no likeness either."""
    verdicts = {"eavesdrop": Verdict.NOT_SHOWN, "insider-publish": Verdict.NOT_SHOWN, "drop": Verdict.INVALID}
    other = [cell("cyclonedds", "all-encrypt", name, verdict) for name, verdict in verdicts.items()]
    run = AttackRun(tmp_path, matrix().model_copy(update={"cells": [*matrix().cells, *other]}))
    assert not list(vendors.differences(run))
    rows = list(vendors.half_shown(run))
    assert [(row["label"], row["attack"]) for row in rows] == [("all-encrypt", "insider-publish")]
    assert [mark["word"] for mark in rows[0]["marks"]] == ["not shown", "succeeded"]
    told = page(run, None, "")
    assert told.index("No verdict that says something differs.") < told.index("does not mean that it stops the attack")


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
