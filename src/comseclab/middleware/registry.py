"""Every middleware there is: each module beside this one that defines `MIDDLEWARE`."""

import importlib
import pkgutil

import comseclab.middleware
from comseclab.middleware.base import Middleware


def _find() -> dict[str, Middleware]:
    modules = (
        importlib.import_module(f"{comseclab.middleware.__name__}.{found.name}")
        for found in pkgutil.iter_modules(comseclab.middleware.__path__)
        if found.name != __name__.rpartition(".")[2]
    )
    stacks: list[Middleware] = [module.MIDDLEWARE for module in modules if hasattr(module, "MIDDLEWARE")]
    return {stack.name: stack for stack in stacks}


MIDDLEWARES = _find()
