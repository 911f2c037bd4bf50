"""Cyclone DDS 0.10 (Eclipse), ROS 2's other middleware. Its transport: native/transports/cyclonedds."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from comseclab.middleware.base import Material, Place, Setting
from comseclab.middleware.dds_stack import DOMAIN, LEAST_BUFFER, DdsStack, receive_buffer
from comseclab.trial.spec import TrialSpec

MESSAGE_SIZE = 65500
"""Bytes of one RTPS message, one UDP datagram."""
HISTORY_SIZE = 256 << 20
"""Bytes not acknowledged that a reliable writer keeps before it makes the publisher wait."""
MOST_RETRANSMITTED = 10_000
"""Messages waiting to be sent again."""
MOST_INCOMPLETE = 64
"""Samples of a reliable writer that a reader puts together at the same time."""

SETTINGS = {
    # Below 1 KiB the handshake's messages would not fit; 65 kB is UDP's own limit.
    "max_message_size": Setting.whole(1024, MESSAGE_SIZE),
    "send_buffer": Setting.whole(65536, 1 << 30),
    "receive_buffer": Setting.whole(65536, 1 << 30),
    "history_depth": Setting.whole(1, 1_000_000),
    "history_size": Setting.whole(1024, (1 << 31) - 1),
    "publish_timeout_ms": Setting.whole(0, 3_600_000),
    "configuration": Setting.xml_file(),
}
"""Sizes in bytes. `configuration` is a Cyclone DDS configuration of the user's; interface and security stay ours."""


class CycloneDds(DdsStack):
    name = "cyclonedds"
    library = "libcomseclab-cyclonedds.so"
    packages = ("cyclonedds-dev", "nlohmann-json3-dev")
    settings = SETTINGS
    announces_early = True

    def node_settings(self, spec: TrialSpec, place: Place, material: Material) -> dict[str, Any]:
        given = dict(spec.settings.get(self.name, {}))
        sizes = {
            "max_message_size": given.pop("max_message_size", MESSAGE_SIZE),
            "history_size": given.pop("history_size", HISTORY_SIZE),
            "receive_buffer": given.get("receive_buffer", receive_buffer(spec)),
            "send_buffer": given.get("send_buffer", LEAST_BUFFER),
        }
        users = given.pop("configuration", None)
        parts = [
            tuned(**sizes),
            *([Path(users).read_text()] if users else []),
            required(place.address, material.files.get(place.node)),
        ]
        return {
            "domain": DOMAIN,
            "configuration": parts,
            "receive_buffer": sizes["receive_buffer"],
            "send_buffer": sizes["send_buffer"],
            **given,
        }


def tuned(*, max_message_size: int, history_size: int, receive_buffer: int, send_buffer: int) -> str:
    """The configuration that a user's own may override. Sizes in bytes."""
    return _xml(
        {
            "Internal/SocketReceiveBufferSize@min": "default",
            "Internal/SocketReceiveBufferSize@max": f"{receive_buffer}B",
            "Internal/SocketSendBufferSize@min": "default",
            "Internal/SocketSendBufferSize@max": f"{send_buffer}B",
            "Internal/Watermarks/WhcAdaptive": "false",
            # A publisher that waits for room goes on as soon as there is some, not when half of all is acknowledged.
            "Internal/Watermarks/WhcLow": f"{history_size // 16 * 15}B",
            "Internal/Watermarks/WhcHigh": f"{history_size}B",
            "Internal/Watermarks/WhcHighInit": f"{history_size}B",
            # Retransmission keeps up with 9 MB messages. By default at most 512 kB are sent again, 100 ms after they
            # were missed, so that one lost message takes seconds and the history fills meanwhile.
            "Internal/MaxQueuedRexmitBytes": f"{history_size}B",
            "Internal/MaxQueuedRexmitMessages": f"{MOST_RETRANSMITTED}",
            "Internal/NackDelay": "10ms",
            "Internal/DefragReliableMaxSamples": f"{MOST_INCOMPLETE}",
            "General/MaxMessageSize": f"{max_message_size}B",
            # What was lost returns as it was sent, not in packets of 1456 B.
            "General/MaxRexmitMessageSize": f"{max_message_size}B",
            # A lossy link may swallow the first announcement, and the default repeats it after 8 s.
            "Discovery/SPDPInterval": "1s",
        }
    )


def required(address: str, security: Mapping[str, Path] | None) -> str:
    """What the trial relies on: all traffic goes over the link, and the protection is the plan's."""
    settings = {
        "General/Interfaces/NetworkInterface@address": address,
        # The loopback interface does not call itself capable of multicast, but is.
        "General/Interfaces/NetworkInterface@multicast": "true",
        # Discovery by multicast, data to each reader: as Fast DDS does.
        "General/AllowMulticast": "spdp",
        "SharedMemory/Enable": "false",
    }
    if security is not None:
        files = {what: f"file:{path}" for what, path in security.items()}
        settings |= {
            "Security/Authentication/IdentityCA": files["identity_ca"],
            "Security/Authentication/IdentityCertificate": files["certificate"],
            "Security/Authentication/PrivateKey": files["key"],
            "Security/AccessControl/Governance": files["governance"],
            "Security/AccessControl/Permissions": files["permissions"],
            "Security/AccessControl/PermissionsCA": files["permissions_ca"],
        }
    return _xml(settings)


def _xml(settings: Mapping[str, str]) -> str:
    """Settings by their path below <Domain>; what follows "@" is an attribute."""
    root = ElementTree.Element("CycloneDDS")
    domain = ElementTree.SubElement(root, "Domain", Id="any")
    for name, value in settings.items():
        path, _, attribute = name.partition("@")
        element = domain
        for tag in path.split("/"):
            found = element.find(tag)
            element = ElementTree.SubElement(element, tag) if found is None else found
        if attribute:
            element.set(attribute, value)
        else:
            element.text = value
    return ElementTree.tostring(root, encoding="unicode")


MIDDLEWARE = CycloneDds()
