"""What the laboratory asks of a middleware. A new stack is one file beside this one and one transport folder."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from comseclab.results.record import WireProof
from comseclab.trial.spec import Factors, TrialSpec


@dataclass(frozen=True)
class Place:
    """One node of a trial: where it runs and what it does."""

    node: str
    host: str
    role: str
    address: str
    interface: str
    peers: tuple[str, ...]
    """Addresses of all hosts of the trial that hold nodes, this one's included."""
    writes: tuple[str, ...]
    """ROS topics this node publishes."""
    reads: tuple[str, ...]
    """ROS topics this node subscribes to."""


@dataclass(frozen=True)
class Material:
    """What a protection made for a trial: files by node, in a folder that ends with the trial."""

    files: Mapping[str, Mapping[str, Path]] = field(default_factory=dict)
    """Per node `identity_ca`, `certificate`, `key`, `permissions_ca`, `governance`, `permissions`, if any."""
    publishable: Mapping[str, Path] = field(default_factory=dict)
    """Documents without secrets, by the name they get in the trial's evidence."""


class Middleware(Protocol):
    """A stack as the laboratory sees it."""

    name: str
    library: str
    """File name of the transport, in the folder of native programs."""
    packages: tuple[str, ...]
    """Debian packages it needs at run time and to build."""
    protections: tuple[str, ...]
    codecs: tuple[str, ...]
    reliabilities: tuple[str, ...]
    patterns: tuple[str, ...]

    def version(self) -> str | None:
        """The installed version, or None where the stack is missing."""

    def refuse(self, factors: Factors, settings: Mapping[str, Any]) -> str | None:
        """Why this stack cannot run such a case (unknown setting included), or None. Called when the plan is read.

        `factors.protection` is the built-in one, also where the plan's own protection is based on it.
        """

    def prepare(self, spec: TrialSpec, places: tuple[Place, ...], folder: Path) -> Material:
        """Make keys, certificates and documents for the protection in `folder`. LabError on bad user documents."""

    def node_settings(self, spec: TrialSpec, place: Place, material: Material) -> dict[str, Any]:
        """The JSON object handed to the transport's open()."""

    def prove(self, capture: Path, spec: TrialSpec) -> WireProof:
        """Read the trial's capture (pcapng) and say whether the wire agrees with the protection."""
