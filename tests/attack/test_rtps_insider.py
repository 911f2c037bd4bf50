"""An insider in a user's keystore gets an identity from its authorities, or the user is told why not."""

import shutil
from pathlib import Path

import pytest
from cryptography import x509

from comseclab.errors import LabError
from comseclab.protection import dds
from comseclab.protection.dds import Participant
from comseclab.protection.keystore import Keystore, load_certificate
from comseclab.trial.spec import ProtectionSpec

TOPIC = frozenset({"rt/scan"})
NOTHING = frozenset[str]()
ROGUE = Participant("attacker-publisher-no-permission", "attacker", NOTHING, NOTHING)


@pytest.fixture
def users(tmp_path: Path) -> ProtectionSpec:
    """A protection with a keystore of the user's, which knows robot and station alone."""
    own = ProtectionSpec(name="auth", base="auth")
    hosts = [Participant("robot", "robot", TOPIC, NOTHING), Participant("station", "station", NOTHING, TOPIC)]
    files = dds.prepare(own, hosts, 0, tmp_path).files
    for host in hosts:
        permissions = tmp_path / "keystore" / "enclaves" / host.node / "permissions.p7s"
        if files[host.node]["permissions"] != permissions:
            shutil.copy(files[host.node]["permissions"], permissions)
    return own.model_copy(update={"keystore": tmp_path / "keystore"})


def test_insider_is_known_to_the_users_authorities(users: ProtectionSpec, tmp_path: Path) -> None:
    assert users.keystore is not None
    before = sorted(users.keystore.rglob("*"))
    files = dds.insider(users, ROGUE, 0, tmp_path / "trial")
    certificate = load_certificate(files["certificate"])
    certificate.verify_directly_issued_by(load_certificate(users.keystore / "public" / "identity_ca.cert.pem"))
    assert certificate.subject == x509.Name.from_rfc4514_string(f"CN=/{ROGUE.node}")
    assert files["governance"] == users.keystore / "enclaves" / "governance.p7s"
    assert b"rt/scan" not in files["permissions"].read_bytes()
    assert sorted(users.keystore.rglob("*")) == before, "the user's keystore stays as it was"


@pytest.mark.parametrize("missing", ["identity", "permissions"])
def test_without_a_key_the_remedy_is_named(users: ProtectionSpec, tmp_path: Path, missing: str) -> None:
    assert users.keystore is not None
    for name in (f"{missing}_ca", "ca"):
        (users.keystore / "private" / f"{name}.key.pem").unlink()
    with pytest.raises(LabError, match=f"no key of its {missing} CA.*private/{missing}_ca.key.pem"):
        dds.insider(users, ROGUE, 0, tmp_path / "trial")
    assert Keystore.open(users.keystore).identity_ca.exists()
