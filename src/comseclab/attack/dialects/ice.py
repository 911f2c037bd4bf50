"""Ice and IceStorm: a broker that knows certificates at most, and no rights to topics."""

from typing import TYPE_CHECKING, Any

from comseclab.attack.base import Rogue
from comseclab.attack.dialect import Dialect, Prepared, Setting
from comseclab.attack.frame import TCP, Frame
from comseclab.middleware.base import Material, Place
from comseclab.protection import tls
from comseclab.trial.spec import Factors

if TYPE_CHECKING:
    from comseclab.attack.scene import Scene


class Ice(Dialect):
    stacks = ("ice",)

    def refuse(self, attack: str, factors: Factors) -> str | None:
        if attack == "self-signed-permissions":
            return "IceStorm knows no permissions: whoever may connect may do everything"
        return super().refuse(attack, factors)

    def prepare(self, setting: Setting) -> Prepared:
        """Certificates for the genuine nodes and for insiders; outsiders make their own."""
        insiders = {rogue: place for rogue, place in setting.rogues.items() if _is_insider(rogue)}
        material = setting.middleware.prepare(setting.spec, (*setting.places, *insiders.values()), setting.folder)
        settings = {}
        for rogue, place in setting.rogues.items():
            files = material.files if rogue in insiders else _strange(setting, place, material)
            settings[rogue] = setting.middleware.node_settings(setting.spec, place, Material(files))
        return Prepared(material, settings)

    def is_message(self, frame: Frame, scene: "Scene") -> bool:
        """Of the broker's frames to the subscriber, those with a message, in clear or as TLS records.

        The broker is on the writer's host, so the way from publisher to broker never shows.
        """
        stream = scene.spec.trial.streams[0]
        return (
            frame.protocol == TCP
            and frame.source[0] == scene.writer.address
            and frame.destination[0] == scene.reader.address
            and len(frame.payload) > stream.max_size // 2
        )


def _is_insider(rogue: Rogue) -> bool:
    return rogue.credentials in ("no-permission", "permitted")


def _strange(setting: Setting, place: Place, genuine: Material) -> dict[str, Any]:
    """What an outsider can have under TLS: the genuine authority's certificate, which is public, to accept the broker by; and
    a certificate of an authority that it made itself."""
    if setting.spec.protection.base == "none":
        return {}
    own = setting.spec.protection.model_copy(update={"keystore": None})
    party = tls.Party(place.node, place.host, place.address)
    files = tls.prepare(own, [party], setting.folder / "strange").files[place.node]
    ca = next(iter(genuine.files.values()))["identity_ca"]
    return {place.node: {**files, "identity_ca": ca}}


DIALECT = Ice()
