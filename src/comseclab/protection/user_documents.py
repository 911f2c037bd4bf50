"""A user's own governance and permissions: read, checked before anything starts, signed if need be."""

import email
from dataclasses import dataclass
from email.message import Message
from fnmatch import fnmatchcase
from pathlib import Path
from xml.etree import ElementTree

from cryptography import x509
from cryptography.hazmat.primitives.serialization import pkcs7

from comseclab.errors import LabError
from comseclab.protection.authority import Authority
from comseclab.protection.keystore import read
from comseclab.protection.levels import LEVELS, Kind, Level


@dataclass(frozen=True)
class Document:
    """A document of the user's: its XML, and the signed form it came in, if it did."""

    path: Path
    tree: ElementTree.Element
    text: str
    signed: bytes | None

    def sign(self, authority: Authority | None) -> bytes:
        """The signed form. Raises LabError where there is none and no key to make it."""
        if self.signed is not None:
            return self.signed
        if authority is None:
            raise LabError(
                f"{self.path} is not signed, and the keystore has no key of its permissions CA",
                "sign it: openssl smime -sign -text -in X.xml -out X.p7s -signer CA -inkey KEY",
            )
        return authority.sign(self.text)


def load(path: Path, root: str, permissions_ca: x509.Certificate) -> Document:
    """A governance (root `domain_access_rules`) or permissions document (root `permissions`), signed or plain XML.

    Raises LabError where it cannot be read, is not such a document, or another CA signed it. Whether the signature
    fits the text is left to the middleware, which refuses to start where it does not.
    """
    content = read(path)
    signed = None if content.lstrip().startswith(b"<") else content
    text = content.decode(errors="replace") if signed is None else _signed_text(path, content, permissions_ca)
    try:
        tree = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise LabError(f"{path} is not well-formed XML: {error}", "correct it") from error
    if tree.tag != "dds" or tree.find(root) is None:
        raise LabError(f"{path} has no <dds><{root}>", "see DDS Security 1.1, clause 9.4.1, or the ones sros2 makes")
    return Document(path, tree, text, signed)


def _signed_text(path: Path, content: bytes, permissions_ca: x509.Certificate) -> str:
    message = email.message_from_bytes(content)
    parts = message.get_payload()
    if message.get_content_type() != "multipart/signed" or not isinstance(parts, list) or len(parts) != 2:
        raise LabError(f"{path} is neither XML nor signed S/MIME", "sign it with `openssl smime -sign -text`")
    text, signature = (part.get_payload(decode=True) if isinstance(part, Message) else b"" for part in parts)
    try:
        signers = pkcs7.load_der_pkcs7_certificates(signature if isinstance(signature, bytes) else b"")
    except ValueError as error:
        raise LabError(f"{path} holds no readable signature", "sign it with `openssl smime -sign -text`") from error
    if signers and permissions_ca not in signers:
        raise LabError(
            f"{path} is signed by {signers[0].subject.rfc4514_string()}, not by the keystore's permissions CA",
            "sign it with the key of public/permissions_ca.cert.pem",
        )
    return text.decode(errors="replace").replace("\r\n", "\n") if isinstance(text, bytes) else ""


def check_governance(document: Document, level: Level, topics: list[str]) -> None:
    """Raises LabError where the document asks for other kinds or less than `level`, the one whose proof shall hold.

    Every level that is secured admits nobody without an identity, and asks everybody for permissions.
    """
    for topic in topics:
        rule, topic_rule = _rules_for(document, topic)
        asked = _level_of(document, rule, topic_rule)
        if asked != _kinds(level):
            fitting = [name for name, known in LEVELS.items() if known.secured and _kinds(known) == asked]
            remedy = f'base = "{fitting[0]}" fits' if fitting else "no built-in protection fits; see the table of kinds"
            raise LabError(f"{document.path} protects {topic} otherwise than {level.name} does", remedy)
        _require(document, rule, "allow_unauthenticated_participants", wanted=False)
        _require(document, rule, "enable_join_access_control", wanted=True)
        _require(document, topic_rule, "enable_read_access_control", wanted=True)
        _require(document, topic_rule, "enable_write_access_control", wanted=True)
        if level.discovery is not Kind.NONE:
            _require(document, topic_rule, "enable_discovery_protection", wanted=True)


def _kinds(level: Level) -> tuple[Kind, Kind, Kind, Kind]:
    return level.discovery, level.rtps, level.metadata, level.data


def _rules_for(document: Document, topic: str) -> tuple[ElementTree.Element, ElementTree.Element]:
    """The domain's rule, and within it the first that fits the topic."""
    rule = document.tree.find("domain_access_rules/domain_rule")
    topic_rules = [] if rule is None else rule.findall("topic_access_rules/topic_rule")
    fitting = (
        found for found in topic_rules if fnmatchcase(topic, (found.findtext("topic_expression") or "").strip() or "*")
    )
    topic_rule = next(fitting, None)
    if rule is None or topic_rule is None:
        raise LabError(f"{document.path} has no rule for {topic}", "add a topic_rule that covers it")
    return rule, topic_rule


def _level_of(document: Document, rule: ElementTree.Element, topic_rule: ElementTree.Element) -> tuple[Kind, ...]:
    return (
        _kind(document, rule, "discovery_protection_kind"),
        _kind(document, rule, "rtps_protection_kind"),
        _kind(document, topic_rule, "metadata_protection_kind"),
        _kind(document, topic_rule, "data_protection_kind"),
    )


def _require(document: Document, rule: ElementTree.Element, name: str, *, wanted: bool) -> None:
    """Raises LabError where a switch (XML Schema's boolean) is missing or not as wanted."""
    text = (rule.findtext(name) or "").strip()
    if text.lower() not in (("true", "1") if wanted else ("false", "0")):
        needed = str(wanted).lower()
        raise LabError(
            f"{document.path}: {name} is {text or 'missing'}, but its base needs {needed}",
            f"write <{name}>{needed}</{name}>",
        )


def _kind(document: Document, rule: ElementTree.Element, name: str) -> Kind:
    text = (rule.findtext(name) or "").strip()
    try:
        return Kind(text)
    except ValueError:
        raise LabError(f"{document.path}: {name} is {text or 'missing'}", f"one of {', '.join(Kind)}") from None


def subjects(document: Document) -> list[str]:
    """The subject names a permissions document grants something to."""
    return [(found.text or "").strip() for found in document.tree.iterfind("permissions/grant/subject_name")]
