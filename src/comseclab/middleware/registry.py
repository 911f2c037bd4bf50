"""Every middleware there is: each module beside this one that defines `MIDDLEWARE`."""

import importlib
import pkgutil

import comseclab.middleware
from comseclab.errors import LabError
from comseclab.middleware.base import Middleware
from comseclab.middleware.own import Own
from comseclab.trial.spec import OwnTransport


def _find() -> dict[str, Middleware]:
    modules = (
        importlib.import_module(f"{comseclab.middleware.__name__}.{found.name}")
        for found in pkgutil.iter_modules(comseclab.middleware.__path__)
        if found.name != __name__.rpartition(".")[2]
    )
    stacks: list[Middleware] = [module.MIDDLEWARE for module in modules if hasattr(module, "MIDDLEWARE")]
    return {stack.name: stack for stack in stacks}


MIDDLEWARES = _find()


def stack(name: str, own: OwnTransport | None) -> Middleware:
    """The middleware of that name, or the user's own transport under it. Raises LabError when there is neither."""
    if own is not None:
        return Own(name, own)
    if name not in MIDDLEWARES:
        raise LabError(f"there is no middleware {name}", f"take one of {', '.join(MIDDLEWARES)}")
    return MIDDLEWARES[name]
