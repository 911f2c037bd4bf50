"""Documents that a DDS insider signs with the key of its own identity.

A node of the stack refuses by itself what its documents do not grant; an attacker's program would not. So an insider's
node gets documents by which it may do everything, and believes them: the victims alone decide.
"""

from collections.abc import Mapping
from pathlib import Path

from comseclab.protection import documents
from comseclab.protection.authority import Authority
from comseclab.protection.keystore import load_certificate, load_key
from comseclab.protection.levels import Level

Files = Mapping[str, Path]


def self_signed(files: Files, writes: frozenset[str], reads: frozenset[str], domain: int, folder: Path) -> Files:
    """The files of an insider with permissions that grant what it likes.

    The signer's certificate is a valid one of the identity CA, which may be the permissions CA too, as sros2 makes it.
    """
    own = _authority(files)
    subject = own.certificate.subject.rfc4514_string()
    permissions = own.sign(documents.permissions(subject, writes, reads, domain))
    return {**_believing(files, folder), "permissions": _write(folder / "permissions.p7s", permissions)}


def unchecked(files: Files, level: Level, domain: int, folder: Path) -> Files:
    """The files of an insider whose own node does not look at its permissions. Governance is never sent to others."""
    text = documents.governance(level, domain)
    for what in ("join", "read", "write"):
        text = text.replace(f"<enable_{what}_access_control>true", f"<enable_{what}_access_control>false")
    return {**_believing(files, folder), "governance": _write(folder / "governance.p7s", _authority(files).sign(text))}


def _authority(files: Files) -> Authority:
    return Authority(load_certificate(files["certificate"]), load_key(files["key"]))


def _believing(files: Files, folder: Path) -> Files:
    """With itself among its permissions CAs, behind the genuine one, by which it goes on to judge others."""
    both = files["permissions_ca"].read_bytes() + files["certificate"].read_bytes()
    return {**files, "permissions_ca": _write(folder / "permissions_ca.cert.pem", both)}


def _write(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path
