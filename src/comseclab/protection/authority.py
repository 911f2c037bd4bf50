"""A certificate authority for one trial: identities, and the signature of governance and permissions.

As `sros2` does, one ECDSA P-256 key is both the identity CA and the permissions CA.
"""

import datetime
import ipaddress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import pkcs7
from cryptography.x509.oid import NameOID

_CA_NAME = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "comseclab CA")])


@dataclass(frozen=True)
class Authority:
    """A CA's certificate and key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey

    @classmethod
    def create(cls, name: x509.Name = _CA_NAME) -> "Authority":
        """A new one. Where several are believed they need names of their own: by these certificates find theirs."""
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = (
            _builder(name, name, key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=1), critical=True)
            .sign(key, hashes.SHA256())
        )
        return cls(certificate, key)

    def issue(
        self, subject: x509.Name, address: str | None = None
    ) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
        """A certificate for `subject`, valid for the IP address if one is given, and its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(subject, self.certificate.subject, key.public_key()).add_extension(
            x509.BasicConstraints(ca=False, path_length=None), critical=True
        )
        if address is not None:
            names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))])
            builder = builder.add_extension(names, critical=False)
        return builder.sign(self.key, hashes.SHA256()), key

    def sign(self, document: str) -> bytes:
        """The document as signed S/MIME (RFC 8551, multipart/signed), as `openssl smime -sign -text` writes it."""
        return (
            pkcs7.PKCS7SignatureBuilder()
            .set_data(document.encode())
            .add_signer(self.certificate, self.key, hashes.SHA256())
            .sign(serialization.Encoding.SMIME, [pkcs7.PKCS7Options.Text, pkcs7.PKCS7Options.DetachedSignature])
        )


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=30))
    )


def write_certificate(path: Path, certificate: x509.Certificate) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    return path


def write_key(path: Path, key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> Path:
    """Write a private key, readable by its owner alone."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600)
    encryption = serialization.NoEncryption()
    path.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption))
    return path
