"""Zenoh 1.x: sessions over TCP, TLS and QUIC, and rights by the common name in a certificate."""

from typing import TYPE_CHECKING, Any

from comseclab.attack.base import Rogue
from comseclab.attack.dialect import Dialect, Prepared, Setting
from comseclab.attack.frame import TCP, UDP, Frame
from comseclab.middleware import zenoh
from comseclab.middleware.base import Material, Place
from comseclab.trial.spec import Factors

if TYPE_CHECKING:
    from comseclab.attack.scene import Scene

LONG_HEADER = 0x80
"""First bit of a QUIC packet of a handshake (RFC 9000, 17.2)."""
FULL_PACKET = 1000
"""Bytes. A message of the stream fills several QUIC packets but the last; acknowledgements are much shorter."""


class Zenoh(Dialect):
    stacks = ("zenoh",)

    def refuse(self, attack: str, factors: Factors) -> str | None:
        if attack == "self-signed-permissions":
            return "a node of Zenoh goes by rules of its own; nobody brings permissions along"
        return super().refuse(attack, factors)

    def prepare(self, setting: Setting) -> Prepared:
        """Certificates for the genuine nodes and for insiders; rules for the genuine and those that are permitted."""
        spec, folder = setting.spec, setting.folder
        rogues = setting.rogues.items()
        insiders = [place for rogue, place in rogues if rogue.credentials in ("no-permission", "permitted")]
        permitted = [place for rogue, place in rogues if rogue.credentials == "permitted"]
        certified = zenoh.certificates(spec, (*setting.places, *insiders), folder)
        known = zenoh.nodes_of(spec, (*setting.places, *permitted), certified)
        genuine = known[: len(setting.places)]
        material = zenoh.configured(
            {node: zenoh.configuration(spec, node, known) for node in genuine}, certified, folder
        )
        settings = {
            rogue: setting.middleware.node_settings(spec, place, _rogue(setting, rogue, place, certified))
            for rogue, place in rogues
        }
        return Prepared(material, settings)

    def is_message(self, frame: Frame, scene: "Scene") -> bool:
        """A TCP segment with most of a message, in clear or in a TLS record; of QUIC, any full packet.

        A message is several QUIC packets, and nobody on the path can tell which ones make one.
        """
        if frame.source[0] != scene.writer.address or frame.destination[0] != scene.reader.address:
            return False
        payload = frame.payload
        if frame.protocol == UDP:
            return len(payload) > FULL_PACKET and not payload[0] & LONG_HEADER
        return frame.protocol == TCP and len(payload) > scene.spec.trial.streams[0].max_size // 2


def _rogue(setting: Setting, rogue: Rogue, place: Place, certified: Material) -> Material:
    """A node of the attacker's connects to the genuine ones and asks nobody's leave.

    An outsider knows the authority's certificate, which is public, to accept its victims by. Its own is of an authority
    that it made itself, or it shows none.
    """
    spec, files = setting.spec, certified
    if zenoh.LEVELS[spec.protection.base].carrier != "clear" and place.node not in certified.files:
        own = spec.model_copy(update={"protection": spec.protection.model_copy(update={"keystore": None})})
        made = zenoh.certificates(own, (place,), setting.folder / f"of-{place.node}").files[place.node]
        ca = next(iter(certified.files.values()))["identity_ca"]
        files = Material({**certified.files, place.node: {**made, "identity_ca": ca}})
    nodes = zenoh.nodes_of(spec, (*setting.places, place), files)
    content = zenoh.configuration(spec, nodes[-1], nodes)
    content["listen"]["endpoints"] = []
    content["access_control"] = {"enabled": False}
    if rogue.credentials == "none":
        _show_no_certificate(content["transport"]["link"])
    return zenoh.configured({nodes[-1]: content}, Material(), setting.folder)


def _show_no_certificate(link: dict[str, Any]) -> None:
    if "tls" in link:
        ours = ("root_ca_certificate", "verify_name_on_connect")
        link["tls"] = {**{key: link["tls"][key] for key in ours}, "enable_mtls": False}


DIALECT = Zenoh()
