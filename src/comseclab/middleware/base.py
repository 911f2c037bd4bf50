"""What the laboratory asks of a middleware. A new stack is one file beside this one and one transport folder."""

import re
import shutil
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

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
    """Per node or service, by what they are: `certificate`, `key`, `identity_ca`, `permissions` ..."""
    publishable: Mapping[str, Path] = field(default_factory=dict)
    """Documents without secrets, by the name they get in the trial's evidence."""


@dataclass(frozen=True)
class Service:
    """A program of the stack that nodes need beside them: a master, a broker. What it uses counts as the stack's."""

    name: str
    host: str
    argv: tuple[str | Path, ...]
    ports: tuple[int, ...]
    """TCP ports it listens on once it is ready."""
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Setting:
    """A key of [settings.NAME.STACK] in a plan: what its value must be, and the same in words."""

    fits: Callable[[Any], bool]
    wanted: str

    @classmethod
    def whole(cls, least: int, most: int) -> "Setting":
        """A whole number between two bounds, both included."""
        return cls(
            lambda value: type(value) is int and least <= value <= most, f"a whole number from {least} to {most}"
        )

    @classmethod
    def xml_file(cls) -> "Setting":
        """The path of a well-formed XML file."""
        return cls(lambda value: isinstance(value, str) and _is_xml(value), "a well-formed XML file")

    @classmethod
    def one_of(cls, *values: str) -> "Setting":
        """One of some words."""
        return cls(lambda value: value in values, " or ".join(values))


class Middleware(ABC):
    """A stack as the laboratory sees it."""

    name: str
    library: str
    """File name of the transport, in the folder of native programs."""
    packages: tuple[str, ...]
    """Debian packages it needs at run time and to build; the first one's version is the stack's. A stack that is built
    from source has none, and says its `version` itself."""
    protections: tuple[str, ...]
    codecs: tuple[str, ...] = ("cdr", "ros1")
    reliabilities: tuple[str, ...]
    patterns: tuple[str, ...] = ("stream", "echo")
    settings: Mapping[str, Setting]
    start_s: float = 0.0
    """What starting its services adds to the time of a trial, about."""
    repair_s: float = 0.0
    """How long a reliable writer may leave its readers without knowing what they miss, where that is longer than the
    usual drain."""

    def version(self) -> str | None:
        """The installed version, or None where the stack is missing."""
        query = shutil.which("dpkg-query")
        if query is None:
            return None
        asked = [query, "--show", "--showformat=${Version}", self.packages[0]]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
        return re.split("[+-]", done.stdout)[0] or None if done.returncode == 0 else None

    def how_to_install(self) -> str:
        """What to do where `version` is None or the transport is missing."""
        install = f"sudo apt-get install {' '.join(self.packages)}, then " if self.packages else ""
        return f"{install}`comseclab build`"

    def refuse(self, factors: Factors, settings: Mapping[str, Any]) -> str | None:
        """Why this stack cannot run such a case (unknown setting included), or None. Called when the plan is read.

        `factors.protection` is the built-in one, also where the plan's own protection is based on it.
        """
        supported = {
            "protection": self.protections, "codec": self.codecs,
            "reliability": self.reliabilities, "pattern": self.patterns,
        }  # fmt: skip
        for factor, levels in supported.items():
            level = getattr(factors, factor)
            if level not in levels:
                return f'{self.name} has no {factor} "{level}"; {_nearest(level, levels)}'
        return self.refuse_settings(settings)

    def refuse_settings(self, settings: Mapping[str, Any]) -> str | None:
        """What is wrong with a table [settings.NAME.STACK] of a plan, whether a case has it or not; None: nothing."""
        for key, value in settings.items():
            if key not in self.settings:
                return f'{self.name} has no setting "{key}"; {_nearest(key, tuple(self.settings))}'
            if not self.settings[key].fits(value):
                return f"{self.name}: {key} is {self.settings[key].wanted}, not {value!r}"
        return None

    @abstractmethod
    def prepare(self, spec: TrialSpec, places: tuple[Place, ...], folder: Path) -> Material:
        """Make keys, certificates and documents for the protection in `folder`. LabError on bad user documents."""

    def services(
        self, spec: TrialSpec, places: tuple[Place, ...], material: Material, folder: Path
    ) -> tuple[Service, ...]:
        """Programs to start before the nodes, in order; each may keep files in `folder`, which ends with the trial."""
        return ()

    @abstractmethod
    def node_settings(self, spec: TrialSpec, place: Place, material: Material) -> dict[str, Any]:
        """The JSON object handed to the transport's open()."""

    @abstractmethod
    def prove(self, capture: Path, spec: TrialSpec) -> WireProof:
        """Read the trial's capture (pcapng) and say whether the wire agrees with the protection."""


def _is_xml(path: str) -> bool:
    try:
        ElementTree.parse(path)
    except (OSError, ValueError, LookupError, ElementTree.ParseError):  # the middle two: of an unknown encoding
        return False
    return True


def _nearest(name: str, known: tuple[str, ...]) -> str:
    close = get_close_matches(name, known, 1)
    return f'did you mean "{close[0]}"?' if close else f"known: {', '.join(known) or 'none'}"
