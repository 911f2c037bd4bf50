"""mtls: nothing in clear, no port without TLS, and no one without the right certificate."""

import datetime
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.x509.oid import NameOID

from comseclab.middleware.base import Material
from comseclab.middleware.ice import BROKER, MANAGER_PORT, MIDDLEWARE, PUBLISH_PORT
from comseclab.protection.authority import Authority, write_certificate
from comseclab.protection.keystore import Keystore, load_certificate, load_key
from comseclab.trial.spec import ProtectionSpec
from fastdds.lab import PUBLISHER, SUBSCRIBER, Capture, Outcome, places
from fastdds.network import loopback
from ice.lab import HEADER, Bed, brokered, listening, node, trial_spec


@dataclass
class Run:
    """Twenty messages over lo, captured."""

    outcome: Outcome
    capture: Path
    log: str


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    found = {}
    for protection in MIDDLEWARE.protections:
        folder = tmp_path_factory.mktemp(protection)
        with (
            loopback() as namespace,
            Capture(namespace, "lo", folder / "capture.pcapng") as capture,
            brokered(namespace, folder, trial_spec(protection)) as bed,
        ):
            outcome = bed.exchange()
        found[protection] = Run(outcome, capture.path, bed.log.read_text())
    return found


@pytest.mark.parametrize("protection", MIDDLEWARE.protections)
def test_the_proof_holds_for_what_is_on_and_for_nothing_else(runs: dict[str, Run], protection: str) -> None:
    assert runs[protection].outcome.intact == list(range(20))
    for claimed in MIDDLEWARE.protections:
        proof = MIDDLEWARE.prove(runs[protection].capture, trial_spec(claimed))
        assert (proof.contradictions == []) == (claimed == protection)
        assert proof.sentinel_seen == (protection == "none")
        assert (proof.kinds["Ice header"] > 0) == (protection == "none")


def test_both_ends_tell_version_suite_and_peer(runs: dict[str, Run]) -> None:
    outcome = runs["mtls"].outcome
    sending = outcome.published["statistics"]["writers"]["0"]["connection"]
    receiving = outcome.subscribed["statistics"]["readers"]["0"]["connection"]
    for connection in (sending, receiving):
        assert connection["version"] == "TLS 1.3"
        assert connection["cipher"].startswith("TLS_")
        assert connection["verified"] is True
        assert connection["peer"] == f"CN={BROKER}"
    assert (sending["incoming"], receiving["incoming"]) == (False, True)
    assert "protocol = TLSv1.3" in runs["mtls"].log
    assert "cipher" not in runs["none"].outcome.published["statistics"]["writers"]["0"]["connection"]


Answers = dict[str, dict[str, list[str]]]


def probe(bed: Bed, ports: set[int], identities: dict[str, dict[str, Path] | None]) -> Answers:
    """What each port answers to each identity, see probe.py."""
    asked = json.dumps({"ports": sorted(ports), "identities": identities}, default=str)
    command = bed.namespace.within([sys.executable, str(Path(__file__).with_name("probe.py")), asked])
    answers: Answers = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return answers


@pytest.fixture
def probed(tmp_path: Path) -> dict[str, Answers]:
    """Per protection, the answers of all ports that broker and subscriber listen on."""
    found = {}
    foreign = MIDDLEWARE.prepare(trial_spec("mtls"), places(), tmp_path / "foreign").files[PUBLISHER]
    for protection in MIDDLEWARE.protections:
        with loopback() as namespace, brokered(namespace, tmp_path / protection, trial_spec(protection)) as bed:
            reader = node(namespace, "subscribe", bed.reader)
            writer = node(namespace, "publish", bed.writer, count=0)
            try:
                writer.wait_matched()
                ours = dict(bed.material.files.get(PUBLISHER, foreign))
                identities = {
                    "plain": None,
                    "none": {"identity_ca": ours["identity_ca"]},
                    "foreign": foreign | {"identity_ca": ours["identity_ca"]},
                    "right": ours,
                }
                ports = listening(bed.broker.pid)
                assert len(ports - {MANAGER_PORT, PUBLISH_PORT}) == 1, "and the subscriber's"
                found[protection] = probe(bed, ports, identities)
            finally:
                for peer in (reader, writer):
                    peer.process.kill()
                    peer.process.communicate()
    return found


def test_every_open_port_speaks_tls_to_the_right_identity_alone(probed: dict[str, Answers]) -> None:
    def served(answers: Answers, identity: str) -> list[bool]:
        return [bytes.fromhex(received).startswith(HEADER) for received, _error in answers[identity].values()]

    assert served(probed["none"], "plain") == [True] * 3, "the control: a plain port greets whoever comes"
    assert served(probed["mtls"], "right") == [True] * 3, "the control: the right identity is let in"
    for identity in ("plain", "none", "foreign"):
        assert served(probed["mtls"], identity) == [False] * 3


def test_a_plain_node_gets_nothing(tmp_path: Path) -> None:
    with loopback() as namespace, brokered(namespace, tmp_path, trial_spec("mtls")) as bed:
        plain = {key: value for key, value in bed.reader.items() if key != "tls"}
        outsider = node(namespace, "subscribe", plain, timeout_s=60.0)
        outcome = bed.exchange()
        heard = outsider.end()
    assert outcome.intact == list(range(20)), "the control: a node with a certificate hears them"
    assert heard["matched"] is False
    assert heard["received"] == []


def test_an_identity_of_another_authority_is_refused_by_the_broker(tmp_path: Path) -> None:
    foreign = MIDDLEWARE.prepare(trial_spec("mtls"), places(), tmp_path / "foreign").files[SUBSCRIBER]
    with loopback() as namespace, brokered(namespace, tmp_path / "ours", trial_spec("mtls")) as bed:
        trusted = bed.reader["tls"]["identity_ca"]
        files = bed.reader["tls"] | {key: str(foreign[key]) for key in ("certificate", "key")}
        error = node(namespace, "subscribe", bed.reader | {"tls": files | {"identity_ca": trusted}}).end()["error"]
        assert bed.exchange().intact == list(range(20)), "the control"
    assert error.startswith("IceStorm at ssl -h 127.0.0.1 -p 10000 hung up")
    assert str(foreign["certificate"]) in error


def test_a_broker_of_another_authority_is_refused_by_the_node(tmp_path: Path) -> None:
    other = MIDDLEWARE.prepare(trial_spec("mtls"), places(), tmp_path / "other").files[SUBSCRIBER]
    with loopback() as namespace, brokered(namespace, tmp_path / "ours", trial_spec("mtls")) as bed:
        files = bed.reader["tls"] | {key: str(path) for key, path in other.items()}
        error = node(namespace, "subscribe", bed.reader | {"tls": files}).end()["error"]
    assert "certificate verification failed" in error


def test_a_broker_certificate_for_another_address_is_refused(tmp_path: Path) -> None:
    elsewhere = MIDDLEWARE.prepare(trial_spec("mtls"), places(("10.9.0.1", "127.0.0.1")), tmp_path / "ours")
    with (
        loopback() as namespace,
        brokered(namespace, tmp_path / "bed", trial_spec("mtls"), material=elsewhere) as bed,
    ):
        error = node(namespace, "subscribe", bed.reader).end()["error"]
    assert "127.0.0.1" in error
    assert "certificate" in error


def users_keystore(folder: Path) -> Keystore:
    """As `ros2 security create_keystore` and `create_enclave` make it: certificates that name no address."""
    keystore = Keystore.create(folder)
    for host in ("robot", "station"):
        keystore.issue(host, x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"/{host}")]))
    return keystore


def prepared(keystore: Keystore, folder: Path) -> tuple[Any, Material]:
    spec = trial_spec(ProtectionSpec(name="own", base="mtls", keystore=keystore.root))
    return spec, MIDDLEWARE.prepare(spec, places(), folder)


def test_a_users_keystore_serves(tmp_path: Path) -> None:
    spec, material = prepared(users_keystore(tmp_path / "keystore"), tmp_path)
    with loopback() as namespace, brokered(namespace, tmp_path, spec, material=material) as bed:
        outcome = bed.exchange()
    assert outcome.intact == list(range(20))


@pytest.mark.parametrize("host", ["robot", "station"])
def test_an_expired_certificate_is_refused(tmp_path: Path, host: str) -> None:
    keystore = users_keystore(tmp_path / "keystore")
    expire(keystore, host)
    spec, material = prepared(keystore, tmp_path)
    with loopback() as namespace, brokered(namespace, tmp_path, spec, material=material) as bed:
        error = node(namespace, "subscribe", bed.reader).end()["error"]
    if host == "robot":  # the broker's
        assert "certificate verification failed: certificate has expired" in error
    else:
        assert "hung up" in error
        assert bed.reader["tls"]["certificate"] in error
        assert "certificate has expired" in bed.log.read_text()


def expire(keystore: Keystore, enclave: str) -> None:
    """Issue the enclave's certificate again, as valid until yesterday."""
    path = keystore.root / "enclaves" / enclave / "cert.pem"
    authority = Authority(load_certificate(keystore.identity_ca), load_key(keystore.root / "private" / "ca.key.pem"))
    certificate, now = load_certificate(path), datetime.datetime.now(datetime.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(certificate.subject)
        .issuer_name(certificate.issuer)
        .public_key(certificate.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=2))
        .not_valid_after(now - datetime.timedelta(days=1))
    )
    write_certificate(path, builder.sign(authority.key, hashes.SHA256()))


def test_a_key_that_does_not_fit_is_named(tmp_path: Path) -> None:
    with loopback() as namespace, brokered(namespace, tmp_path, trial_spec("mtls")) as bed:
        files = bed.reader["tls"] | {"key": bed.writer["tls"]["key"]}
        error = node(namespace, "subscribe", bed.reader | {"tls": files}).end()["error"]
    assert "key values mismatch" in error
