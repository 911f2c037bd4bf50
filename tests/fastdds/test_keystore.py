"""Identities, signatures, and keystores and documents of the user's."""

import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from cryptography import x509

from comseclab.errors import LabError
from comseclab.middleware.base import Material
from comseclab.middleware.fastdds import MIDDLEWARE
from comseclab.protection import documents
from comseclab.protection.authority import Authority, write_certificate, write_key
from comseclab.protection.keystore import Keystore
from comseclab.protection.levels import LEVELS
from comseclab.trial.spec import ProtectionSpec
from fastdds.lab import PUBLISHER, SUBSCRIBER, exchange, places, settings_of, trial_spec
from fastdds.network import loopback


def prepare(protection: str | ProtectionSpec, folder: Path) -> Material:
    return MIDDLEWARE.prepare(trial_spec(protection), places(), folder)


def verify(document: Path, ca: Path) -> subprocess.CompletedProcess[bytes]:
    command = ["openssl", "smime", "-verify", "-text", "-in", str(document), "-CAfile", str(ca)]
    return subprocess.run(command, capture_output=True, check=False)


@pytest.fixture
def keystore(tmp_path: Path) -> Path:
    """A keystore as `ros2 security` makes it: enclaves /robot and /station, every topic allowed, its governance."""
    root = tmp_path / "users"
    made = Keystore.create(root)
    authority = made.permissions_authority()
    assert authority is not None
    governance = documents.governance(LEVELS["sros2-default"], 0)
    for host in ("robot", "station"):
        enclave = made.issue(host, x509.Name.from_rfc4514_string(f"CN=/{host}"))
        text = documents.permissions(f"CN=/{host}", ["*"], ["*"], 0)
        (enclave / "permissions.xml").write_text(text)
        (enclave / "permissions.p7s").write_bytes(authority.sign(text))
    (root / "enclaves" / "governance.xml").write_text(governance)
    (root / "enclaves" / "governance.p7s").write_bytes(authority.sign(governance))
    return root


def users(keystore: Path | None, base: str = "sros2-default", **given: object) -> ProtectionSpec:
    return ProtectionSpec.model_validate({"name": "mine", "base": base, "keystore": keystore, **given})


@pytest.mark.parametrize("level", [name for name, level in LEVELS.items() if level.secured])
def test_openssl_verifies_what_we_sign(tmp_path: Path, level: str) -> None:
    material = prepare(level, tmp_path)
    for files in material.files.values():
        for document in ("governance", "permissions"):
            checked = verify(files[document], files["permissions_ca"])
            assert checked.returncode == 0, checked.stderr
            assert checked.stdout.replace(b"\r\n", b"\n").startswith(b"<?xml")


def test_openssl_finds_an_altered_document(tmp_path: Path) -> None:
    files = prepare("sros2-default", tmp_path).files[PUBLISHER]
    altered = tmp_path / "altered.p7s"
    altered.write_bytes(files["governance"].read_bytes().replace(b"ENCRYPT", b"NONE", 1))
    assert verify(altered, files["permissions_ca"]).returncode != 0


def test_documents_are_the_same_in_every_trial() -> None:
    for level in LEVELS.values():
        assert documents.governance(level, 0) == documents.governance(level, 0)
    assert documents.permissions("CN=/a", ["rt/b", "rt/a"], [], 0) == documents.permissions(
        "CN=/a", ["rt/a", "rt/b"], [], 0
    )


def test_a_node_may_do_no_more_than_it_needs(tmp_path: Path) -> None:
    files = prepare("auth", tmp_path).files
    publisher = files[PUBLISHER]["permissions"].read_text().replace("\r\n", "\n")
    assert "<publish><topics><topic>rt/scan</topic></topics></publish>" in publisher
    assert "<subscribe>" not in publisher
    assert "<default>DENY</default>" in publisher
    subscriber = files[SUBSCRIBER]["permissions"].read_text()
    assert "<publish>" not in subscriber
    assert f"<subject_name>CN=/{SUBSCRIBER}</subject_name>" in subscriber


def test_echo_needs_the_way_back(tmp_path: Path) -> None:
    spec = trial_spec("auth", pattern="echo")
    robot, station = places()
    station = station.__class__(**{**vars(station), "role": "echo"})
    files = MIDDLEWARE.prepare(spec, (robot, station), tmp_path).files
    assert "<subscribe><topics><topic>rt/scan/echo</topic>" in files[PUBLISHER]["permissions"].read_text()
    assert "<publish><topics><topic>rt/scan/echo</topic>" in files[SUBSCRIBER]["permissions"].read_text()


def test_secrets_are_kept(tmp_path: Path) -> None:
    material = prepare("auth", tmp_path)
    for path in tmp_path.rglob("*.key.pem"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len({files["key"] for files in material.files.values()}) == 2
    assert not any(b"PRIVATE" in path.read_bytes() for path in material.publishable.values())


def test_none_makes_nothing(tmp_path: Path) -> None:
    assert prepare("none", tmp_path) == Material()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("_built")
@pytest.mark.parametrize("unsigned", [False, True])
def test_a_users_keystore_is_used_as_it_is(keystore: Path, tmp_path: Path, unsigned: bool) -> None:
    given = {}
    if unsigned:
        enclaves = keystore / "enclaves"
        given = {
            "governance": enclaves / "governance.xml",
            "permissions": {host: enclaves / host / "permissions.xml" for host in ("robot", "station")},
        }
    spec = trial_spec(users(keystore, **given))
    material = MIDDLEWARE.prepare(spec, places(), tmp_path / "trial")
    assert material.files[PUBLISHER]["key"] == keystore / "enclaves" / "robot" / "key.pem"
    writer, reader = settings_of(spec, material, places())
    with loopback() as namespace:
        outcome = exchange((namespace, writer), (namespace, reader))
    assert outcome.intact == list(range(20))
    assert outcome.subscribed["statistics"]["participants_authenticated"] == 1
    made = tmp_path / "trial"
    assert made.exists() == unsigned
    assert not list(made.rglob("*key*"))


@pytest.mark.usefixtures("_built")
def test_a_users_governance_without_a_keystore_is_signed(tmp_path: Path) -> None:
    governance = tmp_path / "mine.xml"
    governance.write_text(documents.governance(LEVELS["payload-sign"], 0))
    permissions = tmp_path / "robot.xml"
    permissions.write_text(documents.permissions("CN=arm,O=X", ["rt/scan"], [], 0))
    spec = trial_spec(users(None, "payload-sign", governance=governance, permissions={"robot": permissions}))
    writer, reader = settings_of(spec, MIDDLEWARE.prepare(spec, places(), tmp_path / "trial"), places())
    with loopback() as namespace:
        outcome = exchange((namespace, writer), (namespace, reader))
    assert outcome.intact == list(range(20))


def refused(spec: ProtectionSpec, folder: Path) -> str:
    with pytest.raises(LabError) as caught:
        prepare(spec, folder / "trial")
    assert caught.value.remedy
    return str(caught.value)


def test_another_base_is_refused_and_the_fitting_one_named(keystore: Path, tmp_path: Path) -> None:
    text = refused(users(keystore, "payload-encrypt"), tmp_path)
    assert "governance.p7s protects rt/scan otherwise than payload-encrypt" in text
    assert 'base = "sros2-default" fits' in text


@pytest.mark.parametrize(
    ("missing", "named"),
    [
        ("enclaves", "is no keystore"),
        ("enclaves/robot", "enclaves/robot"),
        ("enclaves/robot/key.pem", "key.pem is missing"),
        ("enclaves/station/permissions.p7s", "station/permissions.p7s cannot be read"),
        ("enclaves/governance.p7s", "governance.p7s cannot be read"),
        ("public", "ca.cert.pem cannot be read"),
    ],
)
def test_what_is_missing_is_named(keystore: Path, tmp_path: Path, missing: str, named: str) -> None:
    path = keystore / missing
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert named in refused(users(keystore), tmp_path)


@pytest.mark.parametrize("document", ["cert.pem", "key.pem", "permissions.p7s"])
@pytest.mark.parametrize("content", [b"", b"\xff\x00rubbish", b"<dds>", b"MIME-Version: 1.0\n\n"])
def test_rubbish_is_named(keystore: Path, tmp_path: Path, document: str, content: bytes) -> None:
    (keystore / "enclaves" / "robot" / document).write_bytes(content)
    assert f"robot/{document}" in refused(users(keystore), tmp_path)


def test_documents_of_another_authority_are_named(keystore: Path, tmp_path: Path) -> None:
    other = Authority.create()
    governance = keystore / "enclaves" / "governance.p7s"
    governance.write_bytes(other.sign(documents.governance(LEVELS["sros2-default"], 0)))
    assert "governance.p7s is signed by CN=comseclab CA, not by" in refused(users(keystore), tmp_path)


def test_an_identity_of_another_authority_is_named(keystore: Path, tmp_path: Path) -> None:
    certificate, key = Authority.create().issue(x509.Name.from_rfc4514_string("CN=/robot"))
    write_certificate(keystore / "enclaves" / "robot" / "cert.pem", certificate)
    write_key(keystore / "enclaves" / "robot" / "key.pem", key)
    assert "robot/cert.pem is not issued by" in refused(users(keystore), tmp_path)


def test_a_key_of_another_certificate_is_named(keystore: Path, tmp_path: Path) -> None:
    shutil.copy(keystore / "enclaves" / "station" / "key.pem", keystore / "enclaves" / "robot" / "key.pem")
    assert "robot/key.pem is not the key of" in refused(users(keystore), tmp_path)


def test_permissions_of_another_subject_are_named(keystore: Path, tmp_path: Path) -> None:
    enclaves = keystore / "enclaves"
    shutil.copy(enclaves / "station" / "permissions.p7s", enclaves / "robot" / "permissions.p7s")
    text = refused(users(keystore), tmp_path)
    assert "grants nothing to CN=/robot" in text
    assert "write <subject_name>CN=/robot</subject_name>" in text


def test_unsigned_documents_need_the_authoritys_key(keystore: Path, tmp_path: Path) -> None:
    shutil.rmtree(keystore / "private")
    given = users(keystore, governance=keystore / "enclaves" / "governance.xml")
    assert "governance.xml is not signed, and the keystore has no key" in refused(given, tmp_path)


@pytest.mark.parametrize(
    ("settings", "hint"),
    [
        ({"max_mesage_size": 1400}, 'did you mean "max_message_size"?'),
        ({"publish_mode": "later"}, "publish_mode is synchronous or asynchronous"),
        ({"history_depth": 0}, "history_depth is a whole number from 1"),
        ({"history_depth": True}, "history_depth is a whole number from 1"),
        ({"qos_profile": "/nowhere.xml"}, "qos_profile is a well-formed XML file"),
        ({"max_message_size": 65500, "send_buffer": 65536}, None),
    ],
)
def test_settings_are_refused_when_the_plan_is_read(settings: dict[str, object], hint: str | None) -> None:
    answer = MIDDLEWARE.refuse(trial_spec("none").factors, settings)
    assert (answer is None) if hint is None else (answer is not None and hint in answer)


def test_an_unknown_protection_is_refused() -> None:
    answer = MIDDLEWARE.refuse(trial_spec("none").factors.model_copy(update={"protection": "payload-encript"}), {})
    assert answer == 'fastdds has no protection "payload-encript"; did you mean "payload-encrypt"?'
