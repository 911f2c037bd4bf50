"""Keystores in the layout of `sros2`: one made for a trial, or a user's own.

public/{identity_ca,permissions_ca}.cert.pem      private/{identity_ca,permissions_ca}.key.pem
enclaves/governance.p7s                           enclaves/<path>/{cert.pem,key.pem,permissions.p7s}
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from comseclab.errors import LabError
from comseclab.protection.authority import Authority, write_certificate, write_key

IDENTITY_CA, PERMISSIONS_CA = "identity_ca", "permissions_ca"


@dataclass(frozen=True)
class Keystore:
    """A folder in that layout. `own`: made by us, so that it can issue what is missing."""

    root: Path
    own: bool

    @classmethod
    def create(cls, root: Path) -> "Keystore":
        """A new keystore; one CA signs identities and permissions, as with `ros2 security create_keystore`."""
        authority = Authority.create()
        for name in ("ca", "identity_ca", "permissions_ca"):
            write_certificate(root / "public" / f"{name}.cert.pem", authority.certificate)
            write_key(root / "private" / f"{name}.key.pem", authority.key)
        return cls(root, own=True)

    @classmethod
    def open(cls, root: Path) -> "Keystore":
        """A user's keystore. Raises LabError where it is none."""
        if not (root / "enclaves").is_dir():
            raise LabError(
                f"{root} is no keystore: it has no folder enclaves", "make one with `ros2 security create_keystore`"
            )
        keystore = cls(root, own=False)
        load_certificate(keystore.identity_ca)
        return keystore

    @property
    def identity_ca(self) -> Path:
        return self._public(IDENTITY_CA)

    @property
    def permissions_ca(self) -> Path:
        return self._public(PERMISSIONS_CA)

    def _public(self, name: str) -> Path:
        path = self.root / "public" / f"{name}.cert.pem"
        return path if path.exists() else self.root / "public" / "ca.cert.pem"

    def permissions_authority(self) -> Authority | None:
        """The permissions CA with its key, or None where the keystore holds no key of it."""
        return self._authority(PERMISSIONS_CA)

    def identity_authority(self) -> Authority | None:
        """The identity CA with its key, or None where the keystore holds no key of it."""
        return self._authority(IDENTITY_CA)

    def _authority(self, name: str) -> Authority | None:
        candidates = (self.root / "private" / f"{known}.key.pem" for known in (name, "ca"))
        path = next((path for path in candidates if os.access(path, os.R_OK)), None)
        if path is None:
            return None
        certificate, key = load_certificate(self._public(name)), load_key(path)
        if key.public_key() != certificate.public_key():
            raise LabError(f"{path} is not the key of {self._public(name)}", "give the pair that belongs together")
        return Authority(certificate, key)

    def lacks(self, names: Sequence[str]) -> str | None:
        """The first of these authorities of which the keystore holds no key, in words; None where it holds all."""
        return next((_words(name) for name in names if self._authority(name) is None), None)

    def copy(self, root: Path, names: Sequence[str]) -> "Keystore":
        """These authorities of a user's keystore in a new one of ours, which can issue what the user's does not hold.

        Raises LabError where the user's holds no key of one.
        """
        for name in names:
            authority = self._authority(name)
            if authority is None:
                raise LabError(f"{self.root} holds no key of its {_words(name)}", f"add private/{name}.key.pem")
            write_certificate(root / "public" / f"{name}.cert.pem", authority.certificate)
            write_key(root / "private" / f"{name}.key.pem", authority.key)
        return Keystore(root, own=True)

    def enclave(self, name: str) -> Path:
        """The folder of an enclave. Raises LabError where it, its certificate or its key is missing or does not fit."""
        folder = self.root / "enclaves" / name
        for document in ("cert.pem", "key.pem"):
            if not (folder / document).is_file():
                raise LabError(
                    f"{folder / document} is missing", f"`ros2 security create_enclave {self.root} /{name}` makes it"
                )
        certificate = load_certificate(folder / "cert.pem")
        if load_key(folder / "key.pem").public_key() != certificate.public_key():
            raise LabError(f"{folder / 'key.pem'} is not the key of {folder / 'cert.pem'}", "make the enclave anew")
        try:
            certificate.verify_directly_issued_by(load_certificate(self.identity_ca))
        except Exception as error:
            raise LabError(
                f"{folder / 'cert.pem'} is not issued by {self.identity_ca}", "make the enclave anew"
            ) from error
        return folder

    def issue(self, name: str, subject: x509.Name, address: str | None = None) -> Path:
        """Make the enclave `name` with a certificate of `subject` (and an IP address), in a keystore of ours."""
        folder = self.root / "enclaves" / name
        authority = self.identity_authority()
        assert authority is not None, "a keystore of ours holds its keys"
        certificate, key = authority.issue(subject, address)
        write_certificate(folder / "cert.pem", certificate)
        write_key(folder / "key.pem", key)
        return folder


def for_insiders(given: Path | None, folder: Path, names: Sequence[str]) -> Keystore:
    """The keystore that issues nodes beside the genuine ones, whose material was made in `folder`.

    It is theirs, or where they have a user's, a new one with these authorities of it: the user's stays as it is.
    Raises LabError where the user's holds no key of one.
    """
    if given is None:
        return Keystore(folder / "keystore", own=True)
    return Keystore.open(given).copy(folder / "insiders", names)


def _words(name: str) -> str:
    return name.replace("_ca", " CA")


def load_certificate(path: Path) -> x509.Certificate:
    """Raises LabError where the file is missing or no PEM certificate."""
    try:
        return x509.load_pem_x509_certificate(read(path))
    except ValueError as error:
        raise LabError(f"{path} is no PEM certificate", "give the certificate itself, in PEM") from error


def load_key(path: Path) -> ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey:
    """Raises LabError where the file is missing or no unencrypted PEM key of a kind DDS Security knows."""
    remedy = "give an unencrypted EC or RSA key in PEM"
    try:
        key = serialization.load_pem_private_key(read(path), password=None)
    except (ValueError, TypeError) as error:
        raise LabError(f"{path} is no private key that can be read", remedy) from error
    if not isinstance(key, ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey):
        raise LabError(f"{path} is a key of a kind that DDS Security does not know", remedy)
    return key


def read(path: Path) -> bytes:
    """A user's file. Raises LabError where it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise LabError(f"{path} cannot be read: {reason}", "name a file that exists and that you may read") from error
