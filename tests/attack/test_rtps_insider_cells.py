"""An insider is refused by its victims' permission check: neither by its own node nor for a governance of its own."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509

from attack.campaign import at_once
from comseclab import plan as plans
from comseclab.attack import run
from comseclab.attack.verdict import Verdict
from comseclab.plan.read import checked_plan
from comseclab.protection import documents
from comseclab.protection.authority import Authority, write_certificate, write_key
from comseclab.protection.levels import LEVELS
from kept import with_private_key

ATTACKS = {"insider-publish": "station-subscriber", "subscribe-without-right": "robot-publisher"}
"""With the victim that is asked."""
NOT_OF_THE_AUTHORITY = {
    "fastdds": "Failed verification of the permissions file",
    "cyclonedds": "permissions from plugin: Failed to parse PKCS7",
}


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The trials with permissions by the CA of the identities, and by one of their own."""
    one, two = tmp_path_factory.mktemp("one"), tmp_path_factory.mktemp("two")
    own = {"mine": {"base": "rtps-sign", "keystore": str(two_authorities(two / "keystore"))}}
    return at_once(
        partial(attack, one, ["cyclonedds"], "rtps-sign", list(ATTACKS)),
        partial(attack, two, list(NOT_OF_THE_AUTHORITY), "mine", ["self-signed-permissions"], protections=own),
    )


def test_the_permission_check_of_cyclonedds_refuses_the_insider(both: list[Path]) -> None:
    """It says so where discovery is not protected. For Fast DDS: test_attack_cells_real."""
    trials, _ = both
    for name, victim in ATTACKS.items():
        (trial,) = trials.glob(f"*_rtps-sign_*_{name}_attack-1")
        assert "rt/scan denied by default rule" in (trial / "log" / f"{victim}.log").read_text()


def test_the_victims_refuse_what_an_identity_signed_where_permissions_have_a_ca_of_their_own(both: list[Path]) -> None:
    _, trials = both
    for middleware, said in NOT_OF_THE_AUTHORITY.items():
        (trial,) = trials.glob(f"{middleware}_*_attack-1")
        assert said in (trial / "log" / "station-subscriber.log").read_text()


def attack(folder: Path, stacks: list[str], protection: str, attacks: list[str], **tables: Any) -> Path:
    """Attack stacks; what is protected must stop all, and no key may stay. Returns the folder of the trials."""
    factors = {"middleware": stacks, "reliability": "reliable", "protection": ["none", protection]}
    content = {
        "plan": {"name": "insiders"},
        "factors": factors,
        "attack": {"attacks": attacks, "repetitions": 1},
        **tables,
    }
    plan = checked_plan(content, folder / "insiders.toml")
    work = run.begin(plan, plans.expand(plan), "", folder)
    judged = run.carry_out(work, lambda *_: None)
    protected = {cell.title: judged[cell.id].verdict for cell in work.cells if cell.protected}
    assert protected == dict.fromkeys(protected, Verdict.STOPPED)
    check_that_no_key_stays(work.run.path)
    return work.run.path / "trials"


def check_that_no_key_stays(folder: Path) -> None:
    assert [*folder.rglob("evidence/governance.p7s")]
    assert [*folder.rglob("evidence/wire.pcapng.gz")]
    assert with_private_key(folder) == []


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
