"""An insider is refused by its victims' permission check: neither by its own node nor for a governance of its own."""

from pathlib import Path

import pytest
from cryptography import x509

from attack.campaign import run_cells
from comseclab import plan as plans
from comseclab.attack import run
from comseclab.attack.verdict import Verdict
from comseclab.plan.read import checked_plan
from comseclab.protection import documents
from comseclab.protection.authority import Authority, write_certificate, write_key
from comseclab.protection.levels import LEVELS

ATTACKS = {"insider-publish": "station-subscriber", "subscribe-without-right": "robot-publisher"}
"""With the victim that is asked."""
REFUSED = {"fastdds": "rt/scan topic not found in allow rule", "cyclonedds": "rt/scan denied by default rule"}
"""Cyclone DDS says so only where discovery is not protected."""
NOT_OF_THE_AUTHORITY = {
    "fastdds": "Failed verification of the permissions file",
    "cyclonedds": "permissions from plugin: Failed to parse PKCS7",
}


@pytest.mark.parametrize("middleware", ["fastdds", "cyclonedds"])
def test_the_victims_permission_check_refuses_the_insider(middleware: str, tmp_path: Path) -> None:
    cells = run_cells(middleware, ["rtps-sign"], list(ATTACKS), out=tmp_path)
    for attack, victim in ATTACKS.items():
        assert cells["rtps-sign", attack].verdict is Verdict.STOPPED, cells["rtps-sign", attack].text
        (trial,) = tmp_path.glob(f"**/trials/*_rtps-sign_*_{attack}_attack-1")
        assert REFUSED[middleware] in (trial / "log" / f"{victim}.log").read_text()
    check_that_no_key_stays(tmp_path)


def test_the_victims_refuse_what_an_identity_signed_where_permissions_have_a_ca_of_their_own(tmp_path: Path) -> None:
    content = {
        "plan": {"name": "authorities"},
        "factors": {"middleware": list(REFUSED), "reliability": "reliable", "protection": ["none", "mine"]},
        "protections": {"mine": {"base": "rtps-sign", "keystore": str(two_authorities(tmp_path / "keystore"))}},
        "attack": {"attacks": ["self-signed-permissions"], "repetitions": 1},
    }
    plan = checked_plan(content, tmp_path / "authorities.toml")
    work = run.begin(plan, plans.expand(plan), "", tmp_path)
    judged = run.carry_out(work, lambda *_: None).values()
    assert [one.verdict for one in judged] == [Verdict.STOPPED] * 2, [one.text for one in judged]
    for middleware, said in NOT_OF_THE_AUTHORITY.items():
        (trial,) = tmp_path.glob(f"**/trials/{middleware}_*_attack-1")
        assert said in (trial / "log" / "station-subscriber.log").read_text()
    check_that_no_key_stays(work.run.path)


def check_that_no_key_stays(folder: Path) -> None:
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    assert [path for path in files if path.name == "governance.p7s"]
    assert not [path for path in files if b"PRIVATE KEY" in path.read_bytes()]


def two_authorities(root: Path) -> Path:
    """A user's keystore in which one CA signs identities, another governance and permissions."""
    identities, permissions = Authority.create(), Authority.create()
    for name, authority in (("identity_ca", identities), ("permissions_ca", permissions)):
        write_certificate(root / "public" / f"{name}.cert.pem", authority.certificate)
        write_key(root / "private" / f"{name}.key.pem", authority.key)
    governance = root / "enclaves" / "governance.p7s"
    governance.parent.mkdir()
    governance.write_bytes(permissions.sign(documents.governance(LEVELS["rtps-sign"], 0)))
    for host in ("robot", "station"):
        enclave = root / "enclaves" / host
        certificate, key = identities.issue(x509.Name.from_rfc4514_string(f"CN=/{host}"))
        write_certificate(enclave / "cert.pem", certificate)
        write_key(enclave / "key.pem", key)
        text = documents.permissions(f"CN=/{host}", ["rt/scan"], ["rt/scan"], 0)
        (enclave / "permissions.p7s").write_bytes(permissions.sign(text))
    return root
