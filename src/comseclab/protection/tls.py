"""TLS and QUIC: certificates for one trial, and what the wire must show of them.

Records: RFC 8446, section 5.1; long headers of QUIC: RFC 9000, section 17.2.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Literal

from cryptography import x509
from cryptography.x509.oid import NameOID

from comseclab.errors import LabError
from comseclab.middleware.base import Material, Place
from comseclab.protection.keystore import IDENTITY_CA, Keystore, for_insiders
from comseclab.protection.proof import MOST_FRAMES, sentinels
from comseclab.protection.wire import Datagram, datagram, frames, segment
from comseclab.results.record import WireProof
from comseclab.trial.spec import ProtectionSpec, TrialSpec

Carrier = Literal["clear", "tls", "quic"]
AUTHORITIES = (IDENTITY_CA,)
"""Whose key it takes to make a node known to the others."""

_RECORDS = {20: "TLS change cipher spec", 21: "TLS alert", 22: "TLS handshake", 23: "TLS application data"}
_QUIC_LONG, _QUIC_VERSION_1 = 0xC0, b"\x00\x00\x00\x01"


@dataclass(frozen=True)
class Party:
    """A node or service that has an identity of its own."""

    name: str
    host: str
    address: str


def prepare(spec: ProtectionSpec, parties: Sequence[Party], folder: Path) -> Material:
    """Certificates and keys in `folder`: per party `identity_ca`, `certificate`, `key`, in PEM.

    Each is made out to CN=<name of the party> and its address. With a user's keystore the parties of a host share the
    enclave named like the host, as it is. Raises LabError for documents that cannot serve.
    """
    if spec.governance or spec.permissions:
        raise LabError(f'protection "{spec.name}" gives governance or permissions', "these are DDS Security's alone")
    return _certified(Keystore.open(spec.keystore) if spec.keystore else Keystore.create(folder / "keystore"), parties)


def with_insiders(material: Material, spec: ProtectionSpec, insiders: Sequence[Place], folder: Path) -> Material:
    """The material that `prepare` made in `folder`, and where there is any, the same for more nodes.

    A user's keystore does not know them; its identity CA issues them all the same. Raises LabError where the keystore
    holds no key of it.
    """
    if not material.files or not insiders:
        return material
    parties = [Party(place.node, place.host, place.address) for place in insiders]
    own = _certified(for_insiders(spec.keystore, folder, AUTHORITIES), parties)
    return Material({**material.files, **own.files}, {**material.publishable, **own.publishable})


def _certified(keystore: Keystore, parties: Sequence[Party]) -> Material:
    files, publishable = {}, {"identity_ca.cert.pem": keystore.identity_ca}
    for party in parties:
        if keystore.own:
            subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, party.name)])
            enclave = keystore.issue(party.name, subject, party.address)
        else:
            enclave = keystore.enclave(party.host)
        certificate = enclave / "cert.pem"
        files[party.name] = {
            "identity_ca": keystore.identity_ca,
            "certificate": certificate,
            "key": enclave / "key.pem",
        }
        publishable[f"{party.name}.cert.pem"] = certificate
    return Material(files, publishable)


def prove(
    capture: Path,
    spec: TrialSpec,
    carrier: Carrier,
    marks: Mapping[str, bytes] | None = None,
    *,
    messages_expected: bool = True,
) -> WireProof:
    """Whether the stack's messages travel as they should: in clear, in TLS over TCP, or in QUIC.

    `marks` are bytes by which the stack's own protocol is known in clear, such as {"Ice header": b"IceP"}.
    `messages_expected`: False where the stack drops every message before the wire; then none need be seen in clear.
    """
    sentinel_expected = carrier == "clear" and messages_expected
    traffic = _Traffic(sentinels(spec.nonce), marks or {})
    if capture.exists():
        for frame in islice(frames(capture), MOST_FRAMES):
            traffic.take(frame)
    return WireProof(
        frames=traffic.frames,
        sentinel_seen=traffic.kinds["sentinel"] > 0,
        sentinel_expected=sentinel_expected,
        kinds={kind: count for kind, count in sorted(traffic.kinds.items()) if kind != "sentinel"},
        contradictions=_contradictions(traffic, carrier, marks or {}, sentinel_expected),
    )


@dataclass
class _Traffic:
    sentinels: tuple[bytes, bytes]
    marks: Mapping[str, bytes]
    frames: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    begun: dict[tuple[tuple[bytes, int], tuple[bytes, int]], str] = field(default_factory=dict)
    """What the first payload of each direction of each TCP connection was."""

    def take(self, frame: bytes) -> None:
        self.frames += 1
        self.kinds["sentinel"] += any(sentinel in frame for sentinel in self.sentinels)
        for name, mark in self.marks.items():
            self.kinds[name] += mark in frame
        if (tcp := segment(frame)) and tcp.payload:
            kind = _record(tcp)
            self.kinds[kind] += 1
            self.begun.setdefault((tcp.source, tcp.destination), kind)
        elif udp := datagram(frame):
            long_header = len(udp.payload) > 5 and udp.payload[0] & _QUIC_LONG == _QUIC_LONG
            self.kinds["QUIC handshake"] += long_header and udp.payload[1:5] == _QUIC_VERSION_1
            self.kinds["UDP datagram"] += 1


def _record(tcp: Datagram) -> str:
    """The TLS record a segment begins with. Inside a longer record, or without TLS, it begins with something else."""
    payload = tcp.payload
    if len(payload) >= 3 and payload[0] in _RECORDS and payload[1] == 3 and payload[2] <= 4:
        return _RECORDS[payload[0]]
    return "TCP segment"


def _contradictions(
    traffic: _Traffic, carrier: Carrier, marks: Mapping[str, bytes], sentinel_expected: bool
) -> list[str]:
    if not traffic.frames:
        return ["the capture holds no frames"]
    kinds = traffic.kinds
    if carrier == "clear":
        # A segment from amid a message may look like a handshake; the beginning of a connection does not.
        secured = list(traffic.begun.values()).count("TLS handshake") + kinds["QUIC handshake"]
        hidden = sentinel_expected and not kinds["sentinel"]
        found = ["no frame shows the payload, which nothing should hide"] if hidden else []
        return found + ([f"{secured} messages of a TLS or QUIC handshake seen"] if secured else [])
    found = [f"{kinds[name]} frames show the {name} in clear" for name in ("sentinel", *marks) if kinds[name]]
    found = [text.replace("sentinel", "payload") for text in found]
    if carrier == "quic":
        tcp = len(traffic.begun)
        return (
            found
            + ([] if kinds["QUIC handshake"] else ["no QUIC handshake seen"])
            + ([f"{tcp} directions of TCP connections carry data beside QUIC"] if tcp else [])
        )
    for wanted in ("TLS handshake", "TLS application data"):
        found += [] if kinds[wanted] else [f"no {wanted} seen"]
    clear = sorted({to[1] for (_, to), kind in traffic.begun.items() if kind == "TCP segment"})
    return found + [f"a connection to port {port} began without TLS" for port in clear]
