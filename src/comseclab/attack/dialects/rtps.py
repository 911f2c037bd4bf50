"""RTPS, as Fast DDS and Cyclone DDS speak it (DDSI-RTPS 2.2; DDS Security 1.1)."""

from dataclasses import replace

from comseclab.attack.base import Rogue
from comseclab.attack.dialect import Dialect, Prepared, Setting
from comseclab.middleware.base import Material, Place
from comseclab.trial.spec import ProtectionSpec

NONE = ProtectionSpec(name="none", base="none")


class Rtps(Dialect):
    stacks = ("fastdds", "cyclonedds")

    def prepare(self, setting: Setting) -> Prepared:
        """Victims as in any trial; of the rogues, each what its credentials say."""
        spec, middleware = setting.spec, setting.middleware
        insiders = {
            rogue: self._granted(rogue, place) for rogue, place in setting.rogues.items() if rogue.credentials != "none"
        }
        material = middleware.prepare(spec, (*setting.places, *insiders.values()), setting.folder)
        false = Material()
        if any(rogue.credentials in ("self-signed", "stranger") for rogue in insiders):
            false = middleware.prepare(spec, (*setting.places, *setting.rogues.values()), setting.folder / "false")
        settings = {}
        for rogue, place in setting.rogues.items():
            if rogue.credentials == "none":
                plain = spec.model_copy(update={"protection": NONE})
                settings[rogue] = middleware.node_settings(plain, place, Material())
                continue
            files = dict(material.files.get(place.node, {}))
            if rogue.credentials == "self-signed" and files:
                files["permissions"] = false.files[place.node]["permissions"]
            settings[rogue] = middleware.node_settings(spec, place, Material({place.node: files} if files else {}))
        return Prepared(material, settings)

    @staticmethod
    def _granted(rogue: Rogue, place: Place) -> Place:
        """What the documents grant, which may be less than what the node will try."""
        return place if rogue.credentials in ("permitted", "stranger") else replace(place, writes=(), reads=())


DIALECT = Rtps()
