"""The material of a DDS protection for one trial: who may do what, and the documents that say so."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.x509.oid import NameOID

from comseclab.errors import LabError
from comseclab.middleware.base import Material
from comseclab.protection import documents, user_documents
from comseclab.protection.keystore import IDENTITY_CA, PERMISSIONS_CA, Keystore, for_insiders, load_certificate
from comseclab.protection.levels import LEVELS, Level
from comseclab.trial.spec import ProtectionSpec

AUTHORITIES = (IDENTITY_CA, PERMISSIONS_CA)
"""Whose keys it takes to make a node known to the others."""


@dataclass(frozen=True)
class Participant:
    """One node as access control sees it. Topics are DDS names."""

    node: str
    host: str
    writes: frozenset[str]
    reads: frozenset[str]


def prepare(spec: ProtectionSpec, participants: Sequence[Participant], domain: int, folder: Path) -> Material:
    """Make in `folder` all that the protection needs; private keys stay there, or where the user keeps them.

    Without a user's keystore every node gets an identity of its own and the right to its own topics alone. With one,
    the nodes of a host share the enclave named like the host, as it is.

    Raises LabError, naming file and remedy, for documents of the user's that cannot serve.
    """
    level = LEVELS[spec.base]
    if not level.secured:
        if spec.keystore or spec.governance or spec.permissions:
            raise LabError(
                f'protection "{spec.name}" gives documents, but its base is none', 'base it on "auth" or more'
            )
        return Material()
    keystore = Keystore.open(spec.keystore) if spec.keystore else Keystore.create(folder / "keystore")
    governance = _governance(spec, level, keystore, participants, domain, folder)
    files, publishable = {}, {"governance.p7s": governance, "identity_ca.cert.pem": keystore.identity_ca}
    for participant in participants:
        own = _identity(spec, keystore, participant, domain, folder / participant.node)
        files[participant.node] = {
            "identity_ca": keystore.identity_ca,
            "permissions_ca": keystore.permissions_ca,
            "governance": governance,
            **own,
        }
        publishable |= _published(participant, own)
    return Material(files, publishable)


def insider(spec: ProtectionSpec, participant: Participant, governance: Path, domain: int, folder: Path) -> Material:
    """Material of one more node, with the genuine nodes' governance, in the `folder` in which `prepare` made theirs.

    In a user's keystore, which does not know the node, its authorities make it an identity all the same. Raises
    LabError where the keystore holds no keys of theirs.
    """
    ours = for_insiders(spec.keystore, folder, AUTHORITIES)
    unnamed = spec.model_copy(update={"permissions": {}})
    own = _identity(unnamed, ours, participant, domain, folder / participant.node)
    files = {"identity_ca": ours.identity_ca, "permissions_ca": ours.permissions_ca, "governance": governance}
    return Material({participant.node: {**files, **own}}, _published(participant, own))


def _published(participant: Participant, own: Mapping[str, Path]) -> dict[str, Path]:
    """The documents of a node that it shows to everybody."""
    return {
        f"{participant.node}.cert.pem": own["certificate"],
        f"{participant.node}.permissions.p7s": own["permissions"],
    }


def _governance(
    spec: ProtectionSpec,
    level: Level,
    keystore: Keystore,
    participants: Sequence[Participant],
    domain: int,
    folder: Path,
) -> Path:
    given = spec.governance
    stored = keystore.root / "enclaves" / "governance.p7s"
    if given is None and not keystore.own:
        given = stored
    if given is None:
        return _write(stored, _signed(documents.governance(level, domain), keystore))
    document = user_documents.load(given, "domain_access_rules", load_certificate(keystore.permissions_ca))
    topics = sorted(frozenset[str]().union(*(one.writes | one.reads for one in participants)))
    user_documents.check_governance(document, level, topics)
    return (
        given if document.signed else _write(folder / "governance.p7s", document.sign(keystore.permissions_authority()))
    )


def _identity(
    spec: ProtectionSpec, keystore: Keystore, participant: Participant, domain: int, folder: Path
) -> dict[str, Path]:
    given = spec.permissions.get(participant.host)
    if given is None and not keystore.own:
        given = keystore.root / "enclaves" / participant.host / "permissions.p7s"
    document = None
    if given is not None:
        document = user_documents.load(given, "permissions", load_certificate(keystore.permissions_ca))
    if keystore.own:
        enclave = keystore.issue(participant.node, _subject(participant, document))
    else:
        enclave = keystore.enclave(participant.host)
    subject = load_certificate(enclave / "cert.pem").subject.rfc4514_string()
    if document is None or given is None:
        text = documents.permissions(subject, participant.writes, participant.reads, domain)
        permissions = _write(enclave / "permissions.p7s", _signed(text, keystore))
    else:
        if subject not in user_documents.subjects(document):
            raise LabError(
                f"{given} grants nothing to {subject}, the subject of {enclave / 'cert.pem'}",
                f"write <subject_name>{subject}</subject_name>, in this order",
            )
        signed = document.sign(keystore.permissions_authority())
        permissions = given if document.signed else _write(folder / "permissions.p7s", signed)
    return {"certificate": enclave / "cert.pem", "key": enclave / "key.pem", "permissions": permissions}


def _subject(participant: Participant, document: user_documents.Document | None) -> x509.Name:
    """`CN=/node` as sros2 names enclaves, or what the user's permissions are made out to."""
    if document is None:
        return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"/{participant.node}")])
    named = user_documents.subjects(document)
    try:
        return x509.Name.from_rfc4514_string(named[0])
    except (IndexError, ValueError) as error:
        raise LabError(f"{document.path} has no usable <subject_name>", "for example CN=/robot") from error


def _signed(text: str, keystore: Keystore) -> bytes:
    authority = keystore.permissions_authority()
    assert authority is not None, "a keystore of ours holds its keys"
    return authority.sign(text)


def _write(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path
