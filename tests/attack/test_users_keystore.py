"""A user's own keystore: who can be made an insider of it, and what is found wrong with it before any trial."""

import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509

from cli.lab import comseclab, one_line
from comseclab import laboratory
from comseclab.attack import run
from comseclab.attack.cells import cells
from comseclab.attack.verdict import Verdict
from comseclab.errors import LabError
from comseclab.plan import Case, Plan, check_documents, expand
from comseclab.plan.read import checked_plan
from comseclab.protection import documents
from comseclab.protection.keystore import Keystore, load_certificate
from comseclab.protection.levels import LEVELS
from kept import with_private_key

OF_INSIDERS = ["insider-publish", "self-signed-permissions", "subscribe-without-right"]
WITH_RIGHTS_ALONE = "self-signed-permissions"
"""Makes no sense on Ice and Zenoh anyhow."""
PLAN = """
[plan]
name = "mine"
[factors]
protection = ["none", "mine"]
link = "direct"
[protections.mine]
base = "sros2-default"
keystore = "keystore"
"""


@pytest.fixture
def keystore(tmp_path: Path) -> Path:
    """As `ros2 security` makes it: no certificate names an address."""
    made = Keystore.create(tmp_path / "keystore")
    authority = made.permissions_authority()
    assert authority is not None
    for host in ("robot", "station"):
        enclave = made.issue(host, x509.Name.from_rfc4514_string(f"CN=/{host}"))
        text = documents.permissions(f"CN=/{host}", ["*"], ["*"], 0)
        (enclave / "permissions.p7s").write_bytes(authority.sign(text))
    governance = documents.governance(LEVELS["sros2-default"], 0)
    (made.root / "enclaves" / "governance.p7s").write_bytes(authority.sign(governance))
    return made.root


def plan_of(keystore: Path, stacks: list[str], base: str, attacks: list[str]) -> Plan:
    content: dict[str, Any] = {
        "plan": {"name": "mine"},
        "factors": {
            "middleware": stacks, "reliability": "reliable", "protection": ["none", "mine"], "settings": "no-names",
        },
        "protections": {"mine": {"base": base, "keystore": str(keystore)}},
        "settings": {"no-names": {"zenoh": {"verify_name": False}}},
        "attack": {"attacks": attacks, "repetitions": 1},
    }  # fmt: skip
    return checked_plan(content, keystore.parent / "mine.toml")


def refusals(keystore: Path, stack: str, base: str) -> dict[str, str | None]:
    """By attack, on the protected configuration."""
    plan = plan_of(keystore, [stack], base, [*OF_INSIDERS, "forged-publish"])
    return {cell.attack.name: cell.refusal for cell in cells(plan, expand(plan)) if cell.protected}


def lose(keystore: Path, *names: str) -> None:
    for name in (*names, "ca"):
        (keystore / "private" / f"{name}.key.pem").unlink()


@pytest.mark.parametrize("missing", ["identity", "permissions"])
@pytest.mark.parametrize("stack", ["fastdds", "cyclonedds"])
def test_an_insider_of_dds_takes_the_keys_of_both_authorities(keystore: Path, stack: str, missing: str) -> None:
    assert set(refusals(keystore, stack, "sros2-default").values()) == {None}
    lose(keystore, f"{missing}_ca")
    reason = f"the keystore holds no key of its {missing} CA, so no insider can be made"
    assert refusals(keystore, stack, "sros2-default") == {
        **dict.fromkeys(OF_INSIDERS, reason),
        "forged-publish": None,
    }


@pytest.mark.parametrize(("stack", "base"), [("ice", "mtls"), ("zenoh", "mtls"), ("zenoh", "quic-mtls-acl")])
def test_an_insider_of_tls_takes_the_identity_authoritys_key_alone(keystore: Path, stack: str, base: str) -> None:
    lose(keystore, "permissions_ca")
    found = refusals(keystore, stack, base)
    assert [name for name, refusal in found.items() if refusal] == [WITH_RIGHTS_ALONE]
    (keystore / "private" / "identity_ca.key.pem").unlink()
    found = refusals(keystore, stack, base)
    assert found.pop("forged-publish") is None
    assert "rules of its own" in found[WITH_RIGHTS_ALONE] or "no permissions" in found[WITH_RIGHTS_ALONE]
    assert "no key of its identity CA" in found["insider-publish"]
    assert "no key of its identity CA" in found["subscribe-without-right"]


def test_where_nothing_is_left_to_try_the_keystore_is_named(keystore: Path) -> None:
    shutil.rmtree(keystore / "private")
    plan = plan_of(keystore, ["fastdds"], "sros2-default", ["insider-publish"])
    with pytest.raises(LabError, match=r"nothing to try: insider-publish on fastdds mine.* identity CA"):
        run.planned(plan, expand(plan))


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_users_authority_issues_insiders_of_ice_and_zenoh(keystore: Path, tmp_path: Path) -> None:
    """Neither knows rights without access control: who has a certificate may publish."""
    before = contents(keystore)
    plan = plan_of(keystore, ["ice", "zenoh"], "mtls", ["insider-publish"])
    work = run.begin(plan, expand(plan), "", tmp_path / "runs")
    judged = run.carry_out(work, lambda *_: None)
    assert len(judged) == 2
    for found in judged.values():
        assert (found.verdict, found.control_succeeded) == (Verdict.SUCCEEDED, 1), found.text
    shown = list(work.run.path.glob("trials/*/evidence/attacker-*.cert.pem"))
    assert len(shown) >= 4  # more where a trial was repeated
    for path in shown:
        load_certificate(path).verify_directly_issued_by(load_certificate(keystore / "public" / "ca.cert.pem"))
    assert contents(keystore) == before, "the user's keystore stays as it was"
    assert with_private_key(work.run.path) == []


@pytest.mark.parametrize("verb", ["run", "attack"])
def test_an_empty_keystore_is_refused_by_a_dry_run(tmp_path: Path, verb: str) -> None:
    (tmp_path / "keystore" / "enclaves").mkdir(parents=True)
    (tmp_path / "mine.toml").write_text(PLAN)
    line = one_line(comseclab(verb, "mine.toml", "--dry-run", cwd=tmp_path, expect=2))
    assert "keystore/public/ca.cert.pem cannot be read" in line


@pytest.mark.parametrize("begin", [laboratory.begin, run.begin])
def test_a_run_with_documents_that_cannot_serve_does_not_begin(
    keystore: Path, tmp_path: Path, begin: Callable[[Plan, Sequence[Case], str, Path], object]
) -> None:
    shutil.rmtree(keystore / "enclaves" / "station")
    plan = plan_of(keystore, ["fastdds"], "sros2-default", ["eavesdrop"])
    with pytest.raises(LabError, match="enclaves/station/"):
        begin(plan, expand(plan), "", tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("stack", "base", "missing", "named"),
    [
        ("cyclonedds", "sros2-default", "station/key.pem", "station/key.pem is missing"),
        ("fastdds", "sros2-default", "robot/permissions.p7s", "robot/permissions.p7s cannot be read"),
        ("fastdds", "all-encrypt", None, 'base = "sros2-default" fits'),
        ("ice", "mtls", "station/cert.pem", "station/cert.pem is missing"),
        ("zenoh", "quic", "robot/cert.pem", "robot/cert.pem is missing"),
        ("zenoh", "mtls", None, None),
        ("fastdds", "sros2-default", None, None),
    ],
)
def test_documents_are_tried_without_a_trial(
    keystore: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    stack: str, base: str, missing: str | None, named: str | None,
) -> None:  # fmt: skip
    if missing:
        (keystore / "enclaves" / missing).unlink()
    made = tmp_path / "made"
    made.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(made))
    before = contents(keystore)
    plan = plan_of(keystore, [stack], base, ["insider-publish"])
    if named:
        with pytest.raises(LabError) as caught:
            check_documents(plan, expand(plan))
        assert named in str(caught.value)
    else:
        check_documents(plan, expand(plan))
    assert not list(made.iterdir())
    assert contents(keystore) == before
