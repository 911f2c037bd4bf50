"""The protections of DDS, one row each: what governance asks for, and what follows from it.

The kinds are those of DDS Security 1.1, clause 9.4.1.2 (governance document); the names are the laboratory's.
"""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """A protection kind. SIGN authenticates (GMAC), ENCRYPT authenticates and hides (GCM)."""

    NONE = "NONE"
    SIGN = "SIGN"
    ENCRYPT = "ENCRYPT"
    ENCRYPT_ORIGIN = "ENCRYPT_WITH_ORIGIN_AUTHENTICATION"

    @property
    def hides(self) -> bool:
        return self in (Kind.ENCRYPT, Kind.ENCRYPT_ORIGIN)

    @property
    def on_wire(self) -> "Kind":
        """The kind as a submessage shows it: origin authentication only adds codes to its end."""
        return Kind.ENCRYPT if self.hides else self


@dataclass(frozen=True)
class Level:
    """One protection: the governance kinds of its layers. `secured` is false where the plugins are off."""

    name: str
    discovery: Kind = Kind.NONE
    """Of the discovery and of the liveliness topics."""
    rtps: Kind = Kind.NONE
    """Of whole RTPS messages."""
    metadata: Kind = Kind.NONE
    """Of the user topics' submessages, headers included."""
    data: Kind = Kind.NONE
    """Of the user topics' serialised payloads."""
    secured: bool = True

    @property
    def authentication(self) -> bool:
        return self.secured

    @property
    def access_control(self) -> bool:
        return self.secured

    @property
    def payload_integrity(self) -> bool:
        return any(kind is not Kind.NONE for kind in (self.rtps, self.metadata, self.data))

    @property
    def payload_confidentiality(self) -> bool:
        return any(kind.hides for kind in (self.rtps, self.metadata, self.data))

    @property
    def header_integrity(self) -> bool:
        return any(kind is not Kind.NONE for kind in (self.rtps, self.metadata))

    @property
    def discovery_integrity(self) -> bool:
        return any(kind is not Kind.NONE for kind in (self.rtps, self.discovery))

    @property
    def discovery_confidentiality(self) -> bool:
        """Of endpoints. Participants, certificates and permissions documents always travel in clear."""
        return self.rtps.hides or self.discovery.hides

    @property
    def origin_authentication(self) -> bool:
        """A reader cannot pass for the writer before other readers."""
        return Kind.ENCRYPT_ORIGIN in (self.rtps, self.metadata)


_SIGN, _ENCRYPT, _ORIGIN = Kind.SIGN, Kind.ENCRYPT, Kind.ENCRYPT_ORIGIN

LEVELS: dict[str, Level] = {
    level.name: level
    for level in (
        Level("none", secured=False),
        Level("auth"),
        Level("rtps-sign", rtps=_SIGN),
        Level("rtps-encrypt", rtps=_ENCRYPT),
        Level("metadata-sign", metadata=_SIGN),
        Level("metadata-encrypt", metadata=_ENCRYPT),
        Level("payload-sign", data=_SIGN),
        Level("payload-encrypt", data=_ENCRYPT),
        Level("all-sign", discovery=_SIGN, rtps=_SIGN, metadata=_SIGN, data=_SIGN),
        Level("all-encrypt", discovery=_ENCRYPT, rtps=_ENCRYPT, metadata=_ENCRYPT, data=_ENCRYPT),
        Level("all-encrypt-origin", discovery=_ORIGIN, rtps=_ORIGIN, metadata=_ORIGIN, data=_ENCRYPT),
        Level("sros2-default", discovery=_ENCRYPT, rtps=_SIGN, metadata=_ENCRYPT, data=_ENCRYPT),
    )
}
