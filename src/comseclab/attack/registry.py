"""Every attack there is: each module in `attacks/` defines `ATTACKS`."""

import importlib
import pkgutil

import comseclab.attack.attacks
from comseclab.attack.base import Attack
from comseclab.errors import LabError


def _find() -> dict[str, Attack]:
    package = comseclab.attack.attacks
    modules = (
        importlib.import_module(f"{package.__name__}.{found.name}") for found in pkgutil.iter_modules(package.__path__)
    )
    return {attack.name: attack for module in modules for attack in module.ATTACKS}


ATTACKS = _find()


def attack_of(name: str) -> Attack:
    """The attack of that name. Raises LabError when there is none."""
    if name not in ATTACKS:
        raise LabError(f"there is no attack {name}", f"take one of {', '.join(ATTACKS)}")
    return ATTACKS[name]
