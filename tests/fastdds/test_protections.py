"""Every protection delivers, and the wire proves the one it is and none of the others."""

import pytest

from comseclab.middleware.fastdds import MIDDLEWARE
from comseclab.protection.levels import LEVELS
from fastdds.lab import Run, trial_spec


@pytest.mark.parametrize("level", LEVELS)
def test_every_protection_delivers(runs: dict[str, Run], level: str) -> None:
    outcome = runs[level].outcome
    assert outcome.intact == list(range(20))
    authenticated = outcome.subscribed["statistics"]["participants_authenticated"]
    assert authenticated == (1 if LEVELS[level].secured else 0)


@pytest.mark.parametrize("level", LEVELS)
def test_the_proof_holds(runs: dict[str, Run], level: str) -> None:
    proof = MIDDLEWARE.prove(runs[level].capture, trial_spec(level))
    assert proof.contradictions == []
    assert proof.sentinel_seen == proof.sentinel_expected
    assert proof.frames > 20


@pytest.mark.parametrize("claimed", LEVELS)
def test_no_other_protection_passes_for_it(runs: dict[str, Run], claimed: str) -> None:
    others = [level for level in LEVELS if level != claimed]
    passing = [
        level for level in others if not MIDDLEWARE.prove(runs[level].capture, trial_spec(claimed)).contradictions
    ]
    assert passing == []


def test_the_claims_are_those_of_the_specification() -> None:
    hiding = {
        "rtps-encrypt",
        "metadata-encrypt",
        "payload-encrypt",
        "all-encrypt",
        "all-encrypt-origin",
        "sros2-default",
    }
    assert {name for name, level in LEVELS.items() if level.payload_confidentiality} == hiding
    assert {name for name, level in LEVELS.items() if not level.payload_integrity} == {"none", "auth"}
    assert {name for name, level in LEVELS.items() if level.origin_authentication} == {"all-encrypt-origin"}
    assert {name for name, level in LEVELS.items() if not level.access_control} == {"none"}
    assert {name for name, level in LEVELS.items() if level.discovery_confidentiality} == {
        "rtps-encrypt", "all-encrypt", "all-encrypt-origin", "sros2-default",
    }  # fmt: skip


def test_a_missing_capture_proves_nothing(runs: dict[str, Run]) -> None:
    missing = runs["none"].capture.with_name("missing.pcapng")
    assert MIDDLEWARE.prove(missing, trial_spec("none")).contradictions == ["the capture holds no frames"]
