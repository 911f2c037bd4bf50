"""Zenoh's protections: what each lets through, whom it refuses, and what the wire shows. Every refusal has a control
that differs in nothing but the right."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from comseclab.middleware.zenoh import LEVELS, MIDDLEWARE
from fastdds.lab import Outcome
from fastdds.network import loopback
from zenoh.lab import Run, changed, exchange, place, places, settings_of, trial_spec

MEMBERS = ["mtls", "mtls-acl", "quic-mtls-acl"]
SERVER_ONLY = ["tls", "quic"]
ALL = list(range(20))
REFUSED_S = 4.0
"""How long a node that must not get in tries; the right one needs some hundredths of a second."""


@pytest.mark.parametrize("level", LEVELS)
def test_every_message_arrives_intact(runs: dict[str, Run], level: str) -> None:
    outcome = runs[level].outcome
    assert outcome.intact == ALL
    assert outcome.published["statuses"] == [0] * 20


@pytest.mark.parametrize("level", LEVELS)
def test_the_wire_agrees_with_its_protection_and_contradicts_others(runs: dict[str, Run], level: str) -> None:
    carriers = {"none": "clear", "tls": "tls", "quic": "quic"}
    for claimed, carrier in carriers.items():
        proof = MIDDLEWARE.prove(runs[level].capture, trial_spec(claimed))
        agrees = carrier == LEVELS[level].carrier
        assert (proof.contradictions == []) == agrees, (claimed, proof)


Tried = dict[tuple[str, str], Outcome]
"""By kind and protection."""
KINDS = {
    "no certificate": ["tls", "quic", "mtls", "quic-mtls"],
    "another authority's": ["mtls", "quic-mtls"],
    "a false server": ["tls", "quic-mtls"],
    "no right to put": ["mtls-acl", "quic-mtls-acl"],
    "no right to subscribe": ["mtls-acl", "quic-mtls-acl"],
    "a member reads": MEMBERS,
    "a member writes": MEMBERS,
}
"""What is tried, and under which protections."""


@pytest.fixture(scope="module")
def tried(_built: None, tmp_path_factory: pytest.TempPathFactory) -> Tried:
    """All attempts of KINDS at once: most of them wait in vain."""

    def attempt(case: tuple[str, str]) -> Outcome:
        kind, level = case
        writer, reader = changed_by(kind, level, tmp_path_factory.mktemp("tried"))
        with loopback() as namespace:
            return exchange((namespace, writer), (namespace, reader), timeout_s=REFUSED_S)

    cases = [(kind, level) for kind, levels in KINDS.items() for level in levels]
    with ThreadPoolExecutor(len(cases)) as pool:
        return dict(zip(cases, pool.map(attempt, cases), strict=True))


def changed_by(kind: str, level: str, folder: Path) -> list[dict[str, Any]]:
    """The writer's and the reader's settings, with one thing not as it should be."""
    writer, reader = settings_of(trial_spec(level), places(), folder / "ours")
    if kind == "a false server":
        return [settings_of(trial_spec(level), places(), folder / "theirs")[0], reader]
    if kind.startswith("a member"):
        return with_a_member(kind, level, folder)
    if kind == "no right to put":
        return [writer, changed(reader, {"access_control": without("put", reader)}, folder / "less.json")]
    if kind == "no right to subscribe":
        rules = without("declare_subscriber", writer)
        return [changed(writer, {"access_control": rules}, folder / "less.json"), reader]
    # The stranger trusts our authority, as it should. It does not listen: that would take a certificate, too.
    own: dict[str, Any] = {"enable_mtls": False, "connect_certificate": None, "connect_private_key": None}
    if kind == "another authority's":
        theirs = settings_of(trial_spec(level), places(), folder / "theirs")[1]
        identity = json.loads(Path(theirs["config"]).read_text())["transport"]["link"]["tls"]
        own = {name: identity[name] for name in ("connect_certificate", "connect_private_key")}
    changes = {f"transport/link/tls/{name}": value for name, value in own.items()}
    return [writer, changed(reader, changes | {"listen/endpoints": []}, folder / "stranger.json")]


def with_a_member(kind: str, level: str, folder: Path) -> list[dict[str, Any]]:
    """In the place of one of the two, a node with a certificate of ours that is meant to use another topic.

    It connects where it likes, and it does not restrict itself.
    """
    local, reads = "127.0.0.1", kind == "a member reads"
    member = place("member", local, reads="/other") if reads else place("member", local, writes="/other")
    writer, reader, own = settings_of(trial_spec(level), places((local, local), member), folder)
    other = writer if reads else reader
    endpoints = json.loads(Path(other["config"]).read_text())["listen"]["endpoints"]
    own = changed(own, {"connect/endpoints": endpoints, "access_control": {"enabled": False}}, folder / "own.json")
    return [writer, own] if reads else [own, reader]


def without(right: str, settings: dict[str, Any]) -> dict[str, Any]:
    """A node's access control but for one message."""
    rules: dict[str, Any] = json.loads(Path(settings["config"]).read_text())["access_control"]
    kept = [rule for rule in rules["rules"] if right not in rule["messages"]]
    assert len(kept) == len(rules["rules"]) - 1
    rules["rules"] = kept
    for policy in rules["policies"]:
        policy["rules"] = [rule["id"] for rule in kept]
    return rules


@pytest.mark.parametrize("kind", ["no certificate", "another authority's"])
@pytest.mark.parametrize("level", ["mtls", "quic-mtls"])
def test_mutual_authentication_refuses_a_stranger(runs: dict[str, Run], tried: Tried, level: str, kind: str) -> None:
    assert runs[level].outcome.intact == ALL, "the control: with its own certificate it gets in"
    outcome = tried[kind, level]
    assert outcome.published["matched"] is False
    assert outcome.subscribed["received"] == []
    texts = [event["text"] for end in (outcome.published, outcome.subscribed) for event in end["events"]]
    assert texts
    assert all("certificate" in text or "alert" in text for text in texts), texts


@pytest.mark.parametrize("level", SERVER_ONLY)
def test_without_mutual_authentication_anyone_reads(tried: Tried, level: str) -> None:
    assert tried["no certificate", level].intact == ALL


@pytest.mark.parametrize("level", KINDS["a false server"])
def test_a_false_server_is_refused(runs: dict[str, Run], tried: Tried, level: str) -> None:
    assert runs[level].outcome.intact == ALL, "the control: the right server is taken"
    outcome = tried["a false server", level]
    assert outcome.subscribed["received"] == []
    (text,) = {event["text"] for event in outcome.subscribed["events"]}
    # The two authorities have the same name, so that only the signature tells them apart.
    assert text == "invalid peer certificate: BadSignature"


@pytest.mark.parametrize("level", ["mtls-acl", "quic-mtls-acl"])
@pytest.mark.parametrize("right", ["put", "subscribe"])
def test_without_its_right_a_message_does_not_pass(runs: dict[str, Run], tried: Tried, level: str, right: str) -> None:
    assert runs[level].outcome.intact == ALL, "the control: with the right it passes"
    outcome = tried[f"no right to {right}", level]
    assert outcome.published["matched"] is True
    assert outcome.subscribed["received"] == []


@pytest.mark.parametrize("level", MEMBERS)
@pytest.mark.parametrize("what", ["reads", "writes"])
def test_access_control_stops_a_member_from_what_is_not_its_own(tried: Tried, level: str, what: str) -> None:
    outcome = tried[f"a member {what}", level]
    if LEVELS[level].access_control:
        assert outcome.published["matched"] is False
        assert outcome.subscribed["received"] == []
    else:
        assert outcome.intact == ALL, "the control: without access control a member does what it likes"
