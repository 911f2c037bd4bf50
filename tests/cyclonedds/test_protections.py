"""Every protection delivers, and the wire proves the one it is and none of the others."""

import pytest

from comseclab.middleware.cyclonedds import MIDDLEWARE
from comseclab.protection.levels import LEVELS
from comseclab.protection.rtps import Scanner
from comseclab.protection.wire import frames
from fastdds.lab import Run, trial_spec


@pytest.mark.parametrize("level", LEVELS)
def test_every_protection_delivers(runs: dict[str, Run], level: str) -> None:
    outcome = runs[level].outcome
    assert outcome.intact == list(range(20))
    assert outcome.published["statuses"] == [0] * 20


@pytest.mark.parametrize("level", LEVELS)
def test_the_proof_holds(runs: dict[str, Run], level: str) -> None:
    proof = MIDDLEWARE.prove(runs[level].capture, trial_spec(level, stack="cyclonedds"))
    assert proof.contradictions == []
    assert proof.sentinel_seen == proof.sentinel_expected
    assert proof.frames > 20


@pytest.mark.parametrize("claimed", LEVELS)
def test_no_other_protection_passes_for_it(runs: dict[str, Run], claimed: str) -> None:
    spec = trial_spec(claimed, stack="cyclonedds")
    passing = [level for level in LEVELS if not MIDDLEWARE.prove(runs[level].capture, spec).contradictions]
    assert passing == [claimed]


def test_encrypted_rtps_messages_do_not_hide_topics(runs: dict[str, Run]) -> None:
    """Cyclone DDS 0.10 answers a participant that has not authenticated yet with its unprotected endpoints."""
    scanner = Scanner(["rt/scan"], [], 9000)
    for frame in frames(runs["rtps-encrypt"].capture):
        scanner.frame(frame)
    assert scanner.traffic.announced_topics == {"rt/scan"}


def test_the_claimed_sender_is_the_writers_guid(runs: dict[str, Run]) -> None:
    received = runs["none"].outcome.subscribed["received"]
    senders = {sender for _index, _size, _intact, sender in received}
    assert len(senders) == 1
    assert senders.pop().endswith("03")  # the entity kind: a writer of the user's, without a key
