"""What an insider is given: an identity of the authorities, the genuine governance, and a node that lets it try."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from cryptography import x509

from comseclab.attack import dds_insider
from comseclab.attack.base import Credentials, Rogue
from comseclab.attack.dialect import Prepared, Setting, dialect_of
from comseclab.errors import LabError
from comseclab.middleware import cyclonedds
from comseclab.middleware.base import Place
from comseclab.middleware.registry import MIDDLEWARES
from comseclab.protection import dds, documents, user_documents
from comseclab.protection.dds import Participant
from comseclab.protection.keystore import Keystore, load_certificate
from comseclab.protection.levels import LEVELS
from comseclab.trial.spec import Factors, ProtectionSpec, StreamSpec, TrialSpec

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
    governance = users.keystore / "enclaves" / "governance.p7s"
    material = dds.insider(users, ROGUE, governance, 0, tmp_path / "trial")
    files = material.files[ROGUE.node]
    certificate = load_certificate(files["certificate"])
    certificate.verify_directly_issued_by(load_certificate(users.keystore / "public" / "identity_ca.cert.pem"))
    assert certificate.subject == x509.Name.from_rfc4514_string(f"CN=/{ROGUE.node}")
    assert files["governance"] == governance
    assert b"rt/scan" not in files["permissions"].read_bytes()
    assert set(material.publishable.values()) == {files["certificate"], files["permissions"]}
    assert sorted(users.keystore.rglob("*")) == before, "the user's keystore stays as it was"


@pytest.mark.parametrize("missing", ["identity", "permissions"])
def test_without_a_key_the_remedy_is_named(users: ProtectionSpec, tmp_path: Path, missing: str) -> None:
    assert users.keystore is not None
    for name in (f"{missing}_ca", "ca"):
        (users.keystore / "private" / f"{name}.key.pem").unlink()
    with pytest.raises(LabError, match=f"no key of its {missing} CA.*private/{missing}_ca.key.pem"):
        dds.insider(users, ROGUE, users.keystore / "enclaves" / "governance.p7s", 0, tmp_path / "trial")
    assert Keystore.open(users.keystore).identity_ca.exists()


def test_insider_in_a_keystore_of_ours_joins_the_others(tmp_path: Path) -> None:
    spec = ProtectionSpec(name="auth", base="auth")
    genuine = dds.prepare(spec, [Participant("robot", "robot", TOPIC, NOTHING)], 0, tmp_path)
    governance = genuine.files["robot"]["governance"]
    files = dds.insider(spec, ROGUE, governance, 0, tmp_path).files[ROGUE.node]
    assert files["governance"] == governance
    load_certificate(files["certificate"]).verify_directly_issued_by(load_certificate(files["identity_ca"]))
    assert files["identity_ca"].read_bytes() == genuine.files["robot"]["identity_ca"].read_bytes()


def test_fast_dds_reads_other_permissions_at_first_than_those_it_shows(tmp_path: Path) -> None:
    spec = ProtectionSpec(name="auth", base="auth")
    genuine = dds.prepare(spec, [Participant("robot", "robot", TOPIC, NOTHING)], 0, tmp_path)
    files = dds.insider(spec, ROGUE, genuine.files["robot"]["governance"], 0, tmp_path).files[ROGUE.node]
    insider = dds_insider.of_fastdds(files, TOPIC, NOTHING, 0, files["permissions"], tmp_path / "own")
    insider["permissions"].open("rb", buffering=0).close()  # as the transport does to see whether it is there
    with insider["permissions"].open() as document:
        # No further than to the signature's end, as a reader of MIME documents may: it need not see the file's.
        first = document.readline() + document.readline()
        end = "--" + first.split('boundary="')[1].split('"')[0] + "--"
        while end not in first:
            first += document.readline()
        then = insider["permissions"].read_bytes()
    assert "<topic>rt/scan</topic>" in first
    genuine_ca, own_ca = x509.load_pem_x509_certificates(insider["permissions_ca"].read_bytes())
    assert genuine_ca == load_certificate(files["permissions_ca"])
    assert own_ca.subject not in (genuine_ca.subject, load_certificate(files["identity_ca"]).subject)
    assert then == files["permissions"].read_bytes()
    assert {what: insider[what] for what in insider if what not in ("permissions", "permissions_ca")} == {
        what: files[what] for what in files if what not in ("permissions", "permissions_ca")
    }


def test_cyclone_dds_gets_the_plugin_beside_the_genuine_documents(tmp_path: Path) -> None:
    documents = dds.prepare(
        ProtectionSpec(name="auth", base="auth"), [Participant("robot", "robot", TOPIC, NOTHING)], 0, tmp_path
    ).files["robot"]
    given = cyclonedds.required("10.77.0.3", documents)
    with pytest.raises(LabError, match=r"insider.*comseclab build"):
        dds_insider.with_plugin(given, tmp_path)
    (tmp_path / "libcomseclab-cyclonedds-insider.so").touch()
    root = ElementTree.fromstring(dds_insider.with_plugin(given, tmp_path))
    control = root.find("Domain/Security/AccessControl")
    assert control is not None
    (library,) = control.findall("Library")
    assert library.get("path") == str(tmp_path / "libcomseclab-cyclonedds-insider.so")
    control.remove(library)
    assert ElementTree.tostring(root, encoding="unicode") == given


@pytest.mark.parametrize("middleware", ["fastdds", "cyclonedds"])
def test_a_users_governance_need_not_know_what_insiders_may_write(middleware: str, tmp_path: Path) -> None:
    governance = tmp_path / "mine.xml"
    text = documents.governance(LEVELS["rtps-sign"], 0).replace("<topic_expression>*<", "<topic_expression>rt/scan<")
    governance.write_text(text)
    mine = ProtectionSpec(name="mine", base="rtps-sign", governance=governance)
    prepared = prepare(middleware, mine, tmp_path, "none", "no-permission", "self-signed", "permitted")
    theirs = Path(prepared.material.files["robot-publisher"]["governance"])
    assert b"<topic_expression>rt/scan<" in theirs.read_bytes()
    for rogue, settings in prepared.rogues.items():
        assert (str(theirs) in json.dumps(settings)) == (rogue.credentials != "none")
    assert set(prepared.material.files) == {"robot-publisher"}
    evidence = prepared.material.publishable
    shown = {name: evidence[f"{name}.permissions.p7s"].read_bytes() for name in ("self-signed", "no-permission")}
    assert b"rt/scan" in shown["self-signed"], "what is shown to others"
    assert b"rt/scan" not in shown["no-permission"]
    assert "no-permission.cert.pem" in evidence
    for document in (tmp_path / "trial" / "insiders").glob("*/permissions.p7s"):
        document.read_bytes()  # as its node would, which ends what stands behind a pipe


@pytest.mark.parametrize("credentials", ["no-permission", "self-signed", "permitted"])
@pytest.mark.parametrize("middleware", ["fastdds", "cyclonedds"])
def test_who_holds_the_right_is_opened_as_who_does_not(
    middleware: str, credentials: Credentials, tmp_path: Path
) -> None:
    """All differ in what they show alone: where the control works, so does what the attack stands on."""
    prepared = prepare(middleware, ProtectionSpec(name="auth", base="auth"), tmp_path, credentials)
    settings = json.dumps(*prepared.rogues.values())
    own = tmp_path / "trial" / "insiders" / credentials / "permissions.p7s"
    shown = prepared.material.publishable[f"{credentials}.permissions.p7s"].read_bytes()
    assert (b"rt/scan" in shown) == (credentials != "no-permission")
    assert str(own) in settings
    if middleware == "cyclonedds":
        assert "comseclab_init_insider" in settings
        assert b"rt/scan" not in own.read_bytes()
        assert Path(f"{own}.shown").read_bytes() == shown
    else:
        first = own.read_bytes()
        assert b"rt/scan" in first
        assert first != shown == own.read_bytes()


def test_the_right_is_given_by_the_genuine_authority(tmp_path: Path) -> None:
    prepared = prepare("cyclonedds", ProtectionSpec(name="auth", base="auth"), tmp_path, "permitted")
    authority = load_certificate(Path(prepared.material.files["robot-publisher"]["permissions_ca"]))
    shown = prepared.material.publishable["permitted.permissions.p7s"]
    document = user_documents.load(shown, "permissions", authority)
    assert user_documents.subjects(document) == ["CN=/permitted"]


def prepare(middleware: str, protection: ProtectionSpec, folder: Path, *credentials: Credentials) -> Prepared:
    """A trial's documents where the attacker has nodes with these credentials, each named like them."""
    native = folder / "bin"
    native.mkdir()
    (native / "libcomseclab-cyclonedds-insider.so").touch()
    stream = StreamSpec.model_construct(id=0, topic="/scan", type="sensor_msgs/msg/LaserScan", max_size=8000)
    spec = TrialSpec.model_construct(
        streams=[stream], settings={}, native=native, protection=protection,
        factors=Factors.model_construct(middleware=middleware, codec="cdr", pattern="stream"),
    )  # fmt: skip
    robot = Place("robot-publisher", "robot", "publisher", "10.77.0.1", "eth0", (), ("/scan",), ())
    rogues = {Rogue("publisher", these): replace(robot, node=these, host="attacker") for these in credentials}
    setting = Setting(spec, MIDDLEWARES[middleware], (robot,), rogues, folder / "trial")
    return dialect_of(middleware).prepare(setting)


def test_cyclone_dds_shows_other_permissions_than_its_own(tmp_path: Path) -> None:
    own = tmp_path / "own.p7s"
    own.write_bytes(b"own")
    shown = tmp_path / "shown.p7s"
    shown.write_bytes(b"shown")
    insider = dds_insider.of_cyclonedds({"permissions": own}, shown, tmp_path / "insider")
    assert insider["permissions"].read_bytes() == b"own"
    assert Path(f"{insider['permissions']}.shown").read_bytes() == b"shown"
