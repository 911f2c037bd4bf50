"""Certificates for TLS and the proof on the wire, on real connections."""

import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from comseclab.errors import LabError
from comseclab.protection import tls
from comseclab.protection.wire import segment
from comseclab.results.record import WireProof
from comseclab.trial.spec import ProtectionSpec, TrialSpec
from fastdds.lab import NONCE, SENTINEL, Capture
from fastdds.network import loopback

MTLS = ProtectionSpec(name="mtls", base="mtls")
BOTH = tls.Party("both-ends", "robot", "127.0.0.1")
MARKS = {"header": b"HDR1"}


def material(folder: Path) -> Path:
    files = tls.prepare(MTLS, [BOTH], folder / "made").files[BOTH.name]
    for name, what in (("ca.pem", "identity_ca"), ("cert.pem", "certificate"), ("key.pem", "key")):
        shutil.copy(files[what], folder / name)
    return folder


def proof(folder: Path, carrier: tls.Carrier, *connections: str) -> WireProof:
    with loopback() as namespace, Capture(namespace, "lo", folder / "capture.pcapng") as capture:
        talk = [sys.executable, str(Path(__file__).with_name("talk.py")), str(material(folder)), *connections]
        subprocess.run(namespace.within(talk), input=SENTINEL, check=True)
    return tls.prove(capture.path, cast(TrialSpec, SimpleNamespace(nonce=NONCE)), carrier, MARKS)


@pytest.mark.parametrize(("carrier", "connection"), [("clear", "tcp"), ("tls", "tls")])
def test_what_is_claimed_is_proven(tmp_path: Path, carrier: tls.Carrier, connection: str) -> None:
    found = proof(tmp_path, carrier, connection)
    assert found.contradictions == []
    assert found.sentinel_seen == (carrier == "clear")
    assert (found.kinds.get("TLS handshake", 0) > 0) == (carrier == "tls")


@pytest.mark.parametrize(
    ("carrier", "connections", "wrong"),
    [
        ("tls", ["tcp"], ["show the payload in clear", "show the header in clear", "no TLS handshake"]),
        ("tls", ["tls", "hello"], ["began without TLS"]),
        ("clear", ["tls"], ["no frame shows the payload", "handshake seen"]),
        ("quic", ["tls"], ["no QUIC handshake", "beside QUIC"]),
    ],
)
def test_what_is_not_so_is_found(
    tmp_path: Path, carrier: tls.Carrier, connections: list[str], wrong: list[str]
) -> None:
    found = "; ".join(proof(tmp_path, carrier, *connections).contradictions)
    assert all(text in found for text in wrong), found


def test_an_empty_capture_proves_nothing(tmp_path: Path) -> None:
    spec = cast(TrialSpec, SimpleNamespace(nonce=NONCE))
    assert tls.prove(tmp_path / "none.pcapng", spec, "tls").contradictions == ["the capture holds no frames"]


def test_private_keys_are_not_published(tmp_path: Path) -> None:
    made = tls.prepare(MTLS, [BOTH], tmp_path)
    texts = [path.read_text() for path in made.publishable.values()]
    assert texts
    assert not any("PRIVATE" in text for text in texts)


def test_a_users_own_keystore_serves_as_it_is(tmp_path: Path) -> None:
    tls.prepare(MTLS, [tls.Party("robot", "robot", "127.0.0.1")], tmp_path / "made")
    own = MTLS.model_copy(update={"keystore": tmp_path / "made" / "keystore"})
    for name in ("permissions_ca", "ca"):  # TLS has no use for it
        (tmp_path / "made" / "keystore" / "public" / f"{name}.cert.pem").unlink()
    files = tls.prepare(own, [BOTH], tmp_path).files[BOTH.name]
    assert files["certificate"].parent.name == "robot"
    with pytest.raises(LabError, match=r"station.cert\.pem is missing"):
        tls.prepare(own, [tls.Party("other", "station", "127.0.0.1")], tmp_path)


def test_documents_of_dds_are_refused(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="governance"):
        tls.prepare(MTLS.model_copy(update={"governance": tmp_path}), [BOTH], tmp_path)


@given(st.binary(max_size=120), st.binary(max_size=80))
def test_any_frame_is_taken_or_skipped(head: bytes, rest: bytes) -> None:
    for frame in (head + rest, bytes(12) + b"\x08\x00\x45" + head + rest):
        found = segment(frame)
        assert found is None or len(found.payload) <= len(frame)
