"""Zenoh 1.x (Eclipse), the youngest of ROS 2's middlewares. Its transport: native/transports/zenoh."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography.x509.oid import NameOID

from comseclab.errors import LabError
from comseclab.middleware.base import Material, Middleware, Place, Setting
from comseclab.middleware.names import ECHO
from comseclab.places import PARTS, build_folder
from comseclab.protection import tls
from comseclab.protection.keystore import load_certificate
from comseclab.results.record import WireProof
from comseclab.trial.spec import TrialSpec

FIRST_PORT = 7447
"""Zenoh's own, for the first node; the others follow, as nodes may share an address."""
HEADERS = 4096
"""Bytes; more than Zenoh puts before a payload, which its own limit counts, too."""
MAX_MESSAGE_SIZE = (1 << 30) - HEADERS
"""Bytes; Zenoh's own limit is 1 GiB unless told otherwise."""


@dataclass(frozen=True)
class Level:
    """What a protection means in Zenoh's terms."""

    link: str
    carrier: tls.Carrier
    mutual: bool = False
    """Who connects proves who it is, too."""
    access_control: bool = False


LEVELS = {
    "none": Level("tcp", "clear"),
    "tls": Level("tls", "tls"),
    "mtls": Level("tls", "tls", mutual=True),
    "mtls-acl": Level("tls", "tls", mutual=True, access_control=True),
    "quic": Level("quic", "quic"),
    "quic-mtls": Level("quic", "quic", mutual=True),
    "quic-mtls-acl": Level("quic", "quic", mutual=True, access_control=True),
}

_SWITCH = Setting(lambda value: isinstance(value, bool), "true or false")
SETTINGS = {
    "queue_size": Setting.whole(1, 16),
    "batch_size": Setting.whole(1024, 65535),
    "receive_buffer": Setting.whole(65535, 1 << 30),
    "max_message_size": Setting.whole(1024, MAX_MESSAGE_SIZE),
    "wait_before_drop_us": Setting.whole(0, 3_600_000_000),
    "wait_before_close_us": Setting.whole(1000, 3_600_000_000),
    "express": _SWITCH,
    "verify_name": _SWITCH,
}
"""Sizes in bytes, but queue_size in batches. Zenoh's own defaults hold, except that messages are express: sent at once,
not held back for a millisecond to fill a batch."""

_OF_A_LINK = {
    "queue_size": "tx/queue/size/data",
    "batch_size": "tx/batch_size",
    "receive_buffer": "rx/buffer_size",
    "wait_before_drop_us": "tx/queue/congestion_control/drop/wait_before_drop",
    "wait_before_close_us": "tx/queue/congestion_control/block/wait_before_close",
}
"""Where settings stand in Zenoh's configuration, below transport/link."""


class Zenoh(Middleware):
    """Peers, each connected with those it shares a key with; no router, no scouting, no gossip, no time stamps.

    All links are reliable, TCP, TLS and QUIC's streams alike. What differs is the sender's full queue: `reliable` waits
    for room (CongestionControl::Block) up to wait_before_close_us, after which Zenoh closes the connection;
    `best-effort` waits wait_before_drop_us, then drops the message and tells nobody (CongestionControl::Drop).

    TLS is version 1.3 wherever both sides prove who they are, and in QUIC. A connecting side trusts the public web's
    authorities besides the one it is given; this cannot be turned off. The API tells neither version nor cipher suite.
    A link's certificate is checked once, when it is made.
    """

    name = "zenoh"
    library = "libcomseclab_zenoh.so"
    packages = ()
    protections = tuple(LEVELS)
    reliabilities = ("best-effort", "reliable")
    settings = SETTINGS

    def version(self) -> str | None:
        if not (build_folder() / "bin" / self.library).exists():
            return None
        lock = (PARTS / "native" / "transports" / "zenoh" / "Cargo.lock").read_text()
        found = re.search(r'^name = "zenoh"\nversion = "(.+)"$', lock, re.MULTILINE)
        return found[1] if found else None

    def prepare(self, spec: TrialSpec, places: tuple[Place, ...], folder: Path) -> Material:
        material = certificates(spec, places, folder)
        nodes = nodes_of(spec, places, material)
        return configured({node: configuration(spec, node, nodes) for node in nodes}, material, folder)

    def node_settings(self, spec: TrialSpec, place: Place, material: Material) -> dict[str, Any]:
        given = spec.settings.get(self.name, {})
        return {
            "config": str(material.files[place.node]["config"]),
            "express": given.get("express", True),
            "max_message_size": given.get("max_message_size", MAX_MESSAGE_SIZE),
        }

    def prove(self, capture: Path, spec: TrialSpec) -> WireProof:
        return tls.prove(capture, spec, LEVELS[spec.protection.base].carrier)


def certificates(spec: TrialSpec, places: Sequence[Place], folder: Path) -> Material:
    """A certificate for each node, where the protection asks for any."""
    if LEVELS[spec.protection.base].carrier == "clear":
        return Material()
    parties = [tls.Party(place.node, place.host, place.address) for place in places]
    return tls.prepare(spec.protection, parties, folder)


def configured(configurations: Mapping["Node", dict[str, Any]], material: Material, folder: Path) -> Material:
    """The material with each node's configuration, `config`, written to `folder`."""
    files, publishable = dict(material.files), dict(material.publishable)
    folder.mkdir(parents=True, exist_ok=True)
    for node, content in configurations.items():
        path = folder / f"{node.name}.zenoh.json"
        path.write_text(json.dumps(content, indent=1))
        files[node.name] = {**files.get(node.name, {}), "config": path}
        publishable[path.name] = path
    return Material(files, publishable)


@dataclass(frozen=True, eq=False)
class Node:
    """What a node's configuration says of it."""

    name: str
    common_name: str
    """In its certificate: what access control goes by."""
    endpoint: str
    files: Mapping[str, Path]
    writes: frozenset[str]
    """Keys, see key()."""
    reads: frozenset[str]

    def talks_to(self, other: "Node") -> bool:
        return bool(self.writes & other.reads or self.reads & other.writes)


def key(topic: str, *, opaque: bool, codec: str) -> str:
    """The key of a ROS topic: `/scan` -> `scan`.

    Bytes that are not CDR of a ROS type have a key of their own: `scan/opaque` for a payload without a type,
    `scan/ros1` for another codec. The transport goes by the same rule.
    """
    path = topic.removeprefix("/")
    if opaque:
        return f"{path}/opaque"
    return path if codec == "cdr" else f"{path}/{codec}"


def nodes_of(spec: TrialSpec, places: Sequence[Place], material: Material) -> list[Node]:
    """The nodes of a trial, in the order in which they get their ports."""
    return [_node(spec, place, number, material) for number, place in enumerate(places)]


def _node(spec: TrialSpec, place: Place, number: int, material: Material) -> Node:
    opaque = {stream.topic for stream in spec.streams if not stream.type}

    def keys(topics: Iterable[str]) -> frozenset[str]:
        return frozenset(
            key(topic, opaque=topic.removesuffix(ECHO) in opaque, codec=spec.factors.codec) for topic in topics
        )

    files = material.files.get(place.node, {})
    link = LEVELS[spec.protection.base].link
    return Node(
        name=place.node,
        common_name=_common_name(files["certificate"]) if files else "",
        endpoint=f"{link}/{place.address}:{FIRST_PORT + number}",
        files=files,
        writes=keys(place.writes),
        reads=keys(place.reads),
    )


def _common_name(certificate: Path) -> str:
    names = load_certificate(certificate).subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    if not names:
        raise LabError(f"{certificate} has no common name", "make one anew: access control goes by it")
    return str(names[0].value)


def configuration(spec: TrialSpec, node: Node, nodes: Sequence[Node]) -> dict[str, Any]:
    """A session's configuration, as Zenoh's own DEFAULT_CONFIG.json5 describes it.

    Every node listens; it connects to those before it, so that there is one link between two nodes that have something
    to say to each other.
    """
    level, given = LEVELS[spec.protection.base], spec.settings.get("zenoh", {})
    before = nodes[: nodes.index(node)]
    link: dict[str, Any] = {"rx": {"max_message_size": given.get("max_message_size", MAX_MESSAGE_SIZE) + HEADERS}}
    for setting, path in _OF_A_LINK.items():
        if setting in given:
            *parents, last = path.split("/")
            part = link
            for parent in parents:
                part = part.setdefault(parent, {})
            part[last] = given[setting]
    if level.carrier != "clear":
        link["tls"] = _tls(node, mutual=level.mutual, verify_name=given.get("verify_name", True))
    return {
        "mode": "peer",
        "listen": {"endpoints": [node.endpoint], "timeout_ms": 0, "exit_on_failure": True},
        "connect": {
            "endpoints": [other.endpoint for other in before if node.talks_to(other)],
            "timeout_ms": -1,
            "exit_on_failure": False,
            "retry": {"period_init_ms": 50, "period_max_ms": 500, "period_increase_factor": 1.5},
        },
        "open": {"return_conditions": {"connect_scouted": False, "declares": False}},
        "scouting": {"multicast": {"enabled": False}, "gossip": {"enabled": False}},
        "timestamping": {"enabled": False},
        "adminspace": {"enabled": False},
        "transport": {"link": link, "shared_memory": {"enabled": False}},
        "access_control": _access_control(node, nodes) if level.access_control else {"enabled": False},
    }


def _tls(node: Node, *, mutual: bool, verify_name: bool) -> dict[str, Any]:
    certificate, private_key = str(node.files["certificate"]), str(node.files["key"])
    listen = {"listen_certificate": certificate, "listen_private_key": private_key}
    connect = {"connect_certificate": certificate, "connect_private_key": private_key} if mutual else {}
    return {
        "root_ca_certificate": str(node.files["identity_ca"]),
        "enable_mtls": mutual,
        "verify_name_on_connect": verify_name,
        **listen,
        **connect,
    }


def _access_control(node: Node, nodes: Sequence[Node]) -> dict[str, Any]:
    """Nothing is allowed but what a node writes and reads, going by the common name in the other's certificate."""
    rules, subjects, policies = [], [], []
    for other in nodes:
        if other is node or not node.talks_to(other):
            continue
        allowed = [
            *_allowed("ingress", sender=other, receiver=node),
            *_allowed("egress", sender=node, receiver=other),
        ]
        for number, rule in enumerate(allowed):
            rule["id"] = f"{other.name}-{number}"
        rules += allowed
        subjects.append({"id": other.name, "cert_common_names": [other.common_name]})
        policies.append({"rules": [rule["id"] for rule in allowed], "subjects": [other.name]})
    return {
        "enabled": True,
        "default_permission": "deny",
        "rules": rules,
        "subjects": subjects,
        "policies": policies,
    }


def _allowed(flow: str, *, sender: Node, receiver: Node) -> list[dict[str, Any]]:
    """Rules for what one node may say to another: messages it writes, and that it reads; the rest is matching."""
    written, read = sorted(sender.writes & receiver.reads), sorted(sender.reads & receiver.writes)
    tokens = [_token("writer", sender.name, key) for key in written]
    tokens += [_token("reader", sender.name, key) for key in read]
    watched = [_token("reader", "*", key) for key in written] + [_token("writer", "*", key) for key in read]
    by_message = {
        "put": written,
        "declare_subscriber": read,
        "liveliness_token": tokens,
        "declare_liveliness_subscriber": watched,
    }
    return [
        {"key_exprs": keys, "messages": [message], "flows": [flow], "permission": "allow"}
        for message, keys in by_message.items()
        if keys
    ]


def _token(end: str, node: str, key: str) -> str:
    """The liveliness token of an end of any stream (native/transports/zenoh/src/keys.rs)."""
    return f"@comseclab/{end}/{node}/*/{key}"


MIDDLEWARE = Zenoh()
