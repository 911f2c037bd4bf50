"""One DDS stack publishes, another reads: each as its transport makes it, over lo."""

import hashlib
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.x509.oid import NameOID

from comseclab.middleware.base import Place
from comseclab.middleware.registry import MIDDLEWARES
from fastdds.lab import Node, places, trial_spec
from fastdds.network import Namespace, loopback

ENOUGH = 5
"""Messages; a subscriber that has read as many is served."""
WORKERS = 3


@dataclass(frozen=True)
class Case:
    """`initiator`: the stack whose participant begins the authentication handshake; `first`: the role that starts."""

    publisher: str
    subscriber: str
    level: str = "none"
    initiator: str = "cyclonedds"
    first: str = "publisher"
    codec: str = "cdr"
    size: int = 9000
    reliable: int = 0
    patience_s: float = 10.0


@dataclass(frozen=True)
class Finding:
    intact: int
    altered: int
    told: set[str] = field(default_factory=set)
    """Texts of the events both ends reported, of the subscriber's alone where it was served."""


def guid_prefix(node: str) -> bytes:
    """The first 48 bits of a secured participant's GUID: a one, then SHA-256 of its subject name.

    DDS Security 1.1, behaviour of the plugin DDS:Auth:PKI-DH. The participant with the lower GUID begins the handshake.
    """
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"/{node}")])
    digest = int.from_bytes(hashlib.sha256(subject.public_bytes()).digest()[:6], "big")
    return (digest >> 1 | 1 << 47).to_bytes(6, "big")


def _where(case: Case) -> tuple[Place, Place]:
    """Nodes of such names that the initiator has the lower GUID."""
    publisher, subscriber = places()
    wanted = case.publisher == case.initiator
    names = (f"{publisher.node}-{number}" for number in count())
    node = next(name for name in names if (guid_prefix(name) < guid_prefix(subscriber.node)) == wanted)
    return replace(publisher, node=node), subscriber


def find(case: Case) -> Finding:
    """Run both ends until the subscriber has read enough, or its patience is over."""
    where = _where(case)
    with tempfile.TemporaryDirectory() as folder, loopback() as namespace:
        # Both stacks take the same documents, so either makes them.
        spec = trial_spec(case.level, stack=case.publisher, codec=case.codec, size=case.size)
        material = MIDDLEWARES[case.publisher].prepare(spec, where, Path(folder))
        stacks = {"publisher": (case.publisher, where[0]), "subscriber": (case.subscriber, where[1])}
        nodes: dict[str, Node] = {}
        try:
            for role in sorted(stacks, key=lambda role: role != case.first):
                stack, place = stacks[role]
                spec = trial_spec(case.level, stack=stack, codec=case.codec, size=case.size)
                settings = MIDDLEWARES[stack].node_settings(spec, place, material)
                nodes[role] = _start(case, namespace, role, stack, settings)
            nodes["subscriber"].process.wait(timeout=60)
            read = nodes["subscriber"].end()
            served = len(read["received"]) >= ENOUGH
            events = read["events"] if served else read["events"] + nodes["publisher"].end()["events"]
        finally:
            for node in nodes.values():
                node.process.kill()
                node.process.wait()
    intact = sum(message[2] for message in read["received"])
    return Finding(intact, len(read["received"]) - intact, {event["text"] for event in events} - {""})


def _start(case: Case, namespace: Namespace, role: str, stack: str, settings: dict[str, Any]) -> Node:
    config = {
        "size": case.size,
        "count": 200 if role == "publisher" else ENOUGH,
        "period_s": 0.05,
        "timeout_s": case.patience_s,
        "stream": {"codec": case.codec, "reliable": case.reliable},
    }
    return Node(namespace, {"publisher": "publish", "subscriber": "subscribe"}[role], settings, stack=stack, **config)


def unread(cases: list[Case]) -> list[Case]:
    """The cases in which nothing could be read, nor when tried again twice.

    Now and then two secured participants that start at the same moment never come to a match, and neither says why.
    """
    for _attempt in range(3):
        findings = find_all(cases)
        assert not any(finding.altered for finding in findings.values())
        cases = [case for case, finding in findings.items() if finding.intact < ENOUGH]
    return cases


def find_all(cases: list[Case]) -> dict[Case, Finding]:
    with ThreadPoolExecutor(WORKERS) as pool:
        return dict(zip(cases, pool.map(find, cases), strict=True))
