"""Zenoh in whole trials of the laboratory: both ways, with a user's own certificates, and with such as cannot serve."""

import datetime
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

from comseclab.plan.links import PROFILES
from comseclab.protection.authority import Authority, write_certificate
from comseclab.protection.keystore import Keystore, load_certificate, load_key
from comseclab.results.record import TrialRecord
from comseclab.trial.launch import run_trial
from comseclab.trial.spec import ProtectionSpec, StreamSpec, TrialSpec
from comseclab.workload.spool import Spools
from comseclab.workload.synthetic import Synthetic
from fastdds.lab import BUILD
from zenoh.lab import trial_spec

pytestmark = pytest.mark.usefixtures("_built")

NOISE = ("other programs used", "the hypervisor took", "the switch was late")
"""Beginnings of the reasons that a busy machine gives: not what these tests are about."""
MESSAGES = 50


def make_spec(folder: Path, protection: str | ProtectionSpec, settings: dict[str, Any] | None = None,
              **changes: Any) -> TrialSpec:  # fmt: skip
    """Half a second of 2 kB messages over lo."""
    spool = Spools(folder / "spools").prepare(Synthetic("opaque", 100.0, 1, 2000), 0.5)
    stream = StreamSpec(
        id=0, topic="/data", type=spool.type, writer_host="robot", reader_hosts=["station"], spool=spool.path,
        spool_sha256=spool.sha256, messages=spool.messages, max_size=spool.max_size["cdr"], rate_hz=100.0,
    )  # fmt: skip
    pattern = changes.pop("pattern", "stream")
    small = {
        "streams": [stream], "types": spool.types, "link": PROFILES["localhost"], "round_s": 0.5, "drain_s": 0.3,
        "probes": 20, "native": BUILD / "bin",
    }  # fmt: skip
    return trial_spec(protection, pattern=pattern, settings=settings).model_copy(update=small | changes)


def serious(record: TrialRecord) -> list[str]:
    return [reason for reason in record.reasons if not reason.startswith(NOISE)]


def delivered(record: TrialRecord, node: str) -> int:
    (reader,) = record.transport["nodes"][node]["closed"]["statistics"]["zenoh"]["readers"].values()
    return int(reader["delivered"])


def test_an_echo_comes_back_under_access_control(tmp_path: Path) -> None:
    record = run_trial(make_spec(tmp_path, "mtls-acl", pattern="echo"), tmp_path / "trial")
    assert serious(record) == []
    assert delivered(record, "station-echo") == delivered(record, "robot-publisher") == record.streams[0].sent > 0
    assert record.transport["version"] == "1.10.2"
    evidence = sorted(path.name for path in (tmp_path / "trial" / "evidence").iterdir())
    assert {"robot-publisher.zenoh.json", "station-echo.zenoh.json", "identity_ca.cert.pem"} <= set(evidence)
    assert not [path for path in tmp_path.rglob("trial/**/*") if path.is_file() and b"PRIVATE" in path.read_bytes()]


@pytest.fixture
def keystore(tmp_path: Path) -> Path:
    """A user's keystore as `ros2 security` makes it: its certificates name enclaves and no address."""
    made = Keystore.create(tmp_path / "users")
    for host in ("robot", "station"):
        made.issue(host, x509.Name.from_rfc4514_string(f"CN=/{host}"))
    return made.root


def mine(keystore: Path) -> ProtectionSpec:
    return ProtectionSpec(name="mine", base="mtls-acl", keystore=keystore)


def test_a_users_own_certificates_serve(tmp_path: Path, keystore: Path) -> None:
    record = run_trial(make_spec(tmp_path, mine(keystore), {"verify_name": False}), tmp_path / "trial")
    assert serious(record) == []
    assert delivered(record, "station-subscriber") == MESSAGES


def expire(keystore: Path, host: str) -> None:
    """Put an expired certificate in the place of a host's."""
    path = keystore / "enclaves" / host / "cert.pem"
    valid, authority = load_certificate(path), Authority(*_authority(keystore))
    begin = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
    builder = x509.CertificateBuilder(
        issuer_name=valid.issuer, subject_name=valid.subject, public_key=valid.public_key(),  # type: ignore[arg-type]
        serial_number=x509.random_serial_number(), not_valid_before=begin,
        not_valid_after=begin + datetime.timedelta(days=1),
    )  # fmt: skip
    for extension in valid.extensions:
        builder = builder.add_extension(extension.value, extension.critical)
    write_certificate(path, builder.sign(authority.key, hashes.SHA256()))


def _authority(keystore: Path) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    key = load_key(keystore / "private" / "ca.key.pem")
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    return load_certificate(keystore / "public" / "ca.cert.pem"), key


@pytest.mark.parametrize(
    ("host", "link", "cause"),
    [
        ("robot", "localhost", "station-subscriber: invalid peer certificate: certificate expired"),
        ("station", "localhost", "robot-publisher: invalid peer certificate: certificate expired"),
        ("station", "wifi", "robot-publisher: invalid peer certificate: certificate expired"),
        (None, "localhost", "certificate not valid for name"),
    ],
    ids=["server expired", "client expired", "over a link that loses", "no address"],
)
def test_a_certificate_that_cannot_serve_is_named(
    tmp_path: Path, keystore: Path, host: str | None, link: str, cause: str
) -> None:
    if host:
        expire(keystore, host)
    over = {"link": PROFILES[link], "backend": "switch" if link == "wifi" else "none"}
    spec = make_spec(tmp_path, mine(keystore), {"verify_name": host is None}, match_timeout_s=4.0, **over)
    record = run_trial(spec, tmp_path / "trial")
    (reason,) = serious(record)
    assert reason.startswith("no connection in 4 s: ")
    assert cause in reason
