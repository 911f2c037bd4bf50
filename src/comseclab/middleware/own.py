"""A transport of the user's own, named in the plan: a shared library that comseclab knows nothing else of."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from comseclab.errors import LabError
from comseclab.middleware.base import Material, Middleware, Place, Setting
from comseclab.protection.proof import MOST_FRAMES, sentinels
from comseclab.protection.wire import frames
from comseclab.results.record import WireProof
from comseclab.trial.spec import Factors, OwnTransport, TrialSpec

EVERY_PEER = "{peers}"


class Own(Middleware):
    """Any transport behind the C interface. Of a protection of its own the plan says which settings switch it on, and
    whether it hides the payload; without, the payload must show on the wire.

    In its settings `{address}`, `{interface}`, `{host}` and `{node}` stand for the node's own; a list's element
    `{peers}` for the addresses of all hosts.
    """

    packages: tuple[str, ...] = ()
    reliabilities: tuple[str, ...] = ("best-effort", "reliable")
    settings: Mapping[str, Setting] = {}

    def __init__(self, name: str, transport: OwnTransport) -> None:
        self.name = name
        self.library = str(transport.library)
        self._transport = transport
        self.protections = ("none", *transport.protections)

    def version(self) -> str | None:
        try:
            return f"sha256:{hashlib.sha256(Path(self.library).read_bytes()).hexdigest()[:16]}"
        except OSError:
            return None

    def refuse(self, factors: Factors, settings: Mapping[str, Any]) -> str | None:
        if factors.protection not in self.protections:
            known = ", ".join(self.protections)
            return f'the transport {self.name} has no protection "{factors.protection}"; known: {known}'
        if settings:
            return f"options of {self.name} stand in [transports.{self.name}.settings]"
        return None

    def prepare(self, spec: TrialSpec, places: tuple[Place, ...], folder: Path) -> Material:
        return Material()

    def node_settings(self, spec: TrialSpec, place: Place, material: Material) -> dict[str, Any]:
        known = {"address": place.address, "interface": place.interface, "host": place.host, "node": place.node}
        own = self._transport.protections.get(spec.protection.base)
        settings = {**self._transport.settings, **(own.settings if own else {})}
        return {key: _filled(value, known, place.peers) for key, value in settings.items()}

    def prove(self, capture: Path, spec: TrialSpec) -> WireProof:
        own = self._transport.protections.get(spec.protection.base)
        expected = not (own and own.hides)
        seen, count = False, 0
        for count, frame in enumerate(frames(capture) if capture.exists() else (), 1):
            seen = seen or any(sentinel in frame for sentinel in sentinels(spec.nonce))
            if count == MOST_FRAMES:
                break
        contradictions = []
        if seen != expected:
            contradictions = [
                "no frame shows the payload, which nothing should hide"
                if expected
                else "a frame shows the payload, which should be hidden"
            ]
        return WireProof(
            frames=count, sentinel_seen=seen, sentinel_expected=expected, kinds={}, contradictions=contradictions
        )


def _filled(value: Any, known: Mapping[str, str], peers: tuple[str, ...]) -> Any:
    if isinstance(value, str):
        try:
            return value.format_map(known)
        except (KeyError, ValueError, IndexError):
            raise LabError(
                f"the transport setting {value!r} names an unknown place", f"known: {sorted(known)}"
            ) from None
    if isinstance(value, list):
        parts = [[*peers] if part == EVERY_PEER else [_filled(part, known, peers)] for part in value]
        return [part for group in parts for part in group]
    if isinstance(value, dict):
        return {key: _filled(part, known, peers) for key, part in value.items()}
    return value
