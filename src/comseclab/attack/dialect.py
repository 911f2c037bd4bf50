"""What only a stack knows: how its messages look on the wire, and what a stranger may say to its nodes.

A stack, or a protection that comes later, joins the attacks with one file in `dialects/` that defines `DIALECT`. Every
method has a default that is right for a stack of which nothing special is known.
"""

import functools
import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import comseclab.attack.dialects
from comseclab.attack.base import Rogue
from comseclab.attack.frame import Frame
from comseclab.errors import LabError
from comseclab.middleware.base import Material, Middleware, Place
from comseclab.trial.spec import Factors, ProtectionSpec, TrialSpec

if TYPE_CHECKING:
    from comseclab.attack.scene import Scene

OWN = "own"
NONE = ProtectionSpec(name="none", base="none")


@dataclass(frozen=True)
class Setting:
    """What is known of a trial when its nodes are prepared."""

    spec: TrialSpec
    middleware: Middleware
    places: tuple[Place, ...]
    """Of the genuine nodes."""
    rogues: Mapping[Rogue, Place]
    """Of the attacker's, which name the topics they will try to write or read."""
    folder: Path


@dataclass(frozen=True)
class Prepared:
    """Material of the genuine nodes, and for each rogue the settings its transport is opened with."""

    material: Material
    rogues: Mapping[Rogue, dict[str, Any]]


class Dialect(ABC):
    """One stack, or several that speak alike."""

    stacks: tuple[str, ...]
    """Names of middlewares."""
    authorities: Sequence[str] = ()
    """Of a user's keystore, those whose keys it takes to make an insider."""
    silences: Mapping[str, str] = {}
    """Forged control messages that may silence a subscriber: name -> what it is, as `gap`, an RTPS GAP submessage."""

    def refuse(self, attack: str, factors: Factors) -> str | None:
        """Why an attack makes no sense for this stack or protection, or None."""
        known = {f"silence-{name}" for name in self.silences}
        if attack.startswith("silence-") and attack not in known:
            return f"{factors.middleware} has no such control message"
        if attack == "master-hijack":
            return f"{factors.middleware} has no master"
        if attack == "reflection":
            return f"nodes of {factors.middleware} send to nobody but whom they have a connection with"
        return None

    @abstractmethod
    def prepare(self, setting: Setting) -> Prepared:
        """Make keys and documents for the genuine nodes, and what each rogue may have of them."""

    def is_message(self, frame: Frame, scene: "Scene") -> bool:
        """Whether a frame carries a message of the attacked stream, on its last way to the subscriber."""
        stream = scene.spec.trial.streams[0]
        to = scene.hosts[stream.reader_hosts[0]].address
        return bool(frame.protocol) and frame.destination[0] == to and len(frame.payload) > stream.max_size // 2

    def forge(self, scene: "Scene") -> None:
        """As an outsider, send messages for the attacked topic in clear, under any protection.

        A rogue node without identity publishes at the same time; this adds what no node of the stack would send. Where
        it sends nothing, `forged-publish` is never said to be stopped: right for a stack that protects nothing.
        """
        return

    def before_restart(self, scene: "Scene") -> None:
        """Prepare for `replay` to a subscriber that is about to be restarted, as by keeping new messages from it."""
        return

    def replay(self, scene: "Scene", *, resequenced: bool) -> None:
        """Send recorded messages again: as they were, or numbered so that they look new."""
        for frame in scene.messages()[-20:]:
            scene.inject_on_path(frame)

    def silence(self, scene: "Scene", message: str) -> None:
        """Send one of `silences` in the writer's name."""
        raise LabError(f"there is no control message {message}")

    def hijack(self, scene: "Scene") -> None:
        """Have the master send the subscriber to a publisher of the attacker's, of forged messages."""
        raise LabError("this stack has no master")

    def reflect(self, scene: "Scene") -> None:
        """Send one message that makes a victim send to a third party, the host `bystander`."""
        raise LabError("this stack's nodes answer nobody but who asked")


@functools.cache
def dialects() -> dict[str, Dialect]:
    """Every dialect, by the names of its stacks. Not at import: dialects import this module."""
    package = comseclab.attack.dialects
    modules = (
        importlib.import_module(f"{package.__name__}.{one.name}") for one in pkgutil.iter_modules(package.__path__)
    )
    found: Sequence[Dialect] = [module.DIALECT for module in modules if hasattr(module, "DIALECT")]
    return {stack: dialect for dialect in found for stack in dialect.stacks}


def dialect_of(middleware: str) -> Dialect:
    """The dialect of a stack; for one that has none, that of the user's own transports."""
    return dialects().get(middleware, dialects()[OWN])
