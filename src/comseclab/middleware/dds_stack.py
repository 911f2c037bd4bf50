"""What the DDS stacks have in common: the documents of DDS Security, ROS 2's topic names, the proof on the wire."""

from collections.abc import Iterable
from pathlib import Path

from comseclab.middleware.base import Material, Middleware, Place
from comseclab.middleware.names import ECHO, dds_topic
from comseclab.protection import dds, proof
from comseclab.protection.levels import LEVELS
from comseclab.results.record import WireProof
from comseclab.trial.spec import TrialSpec

DOMAIN = 0
"""Hosts are alone on their network, so one domain serves all trials."""
LEAST_BUFFER = 4 << 20
"""Bytes. With the kernel's default of 208 KiB, a third of all 900 kB messages is lost."""


class DdsStack(Middleware):
    """A DDS implementation with the plugins of DDS Security."""

    announces_early = False
    """Whether it tells endpoints that governance leaves in clear to participants before they have authenticated."""
    protections = tuple(LEVELS)
    reliabilities = ("best-effort", "reliable")

    def prepare(self, spec: TrialSpec, places: tuple[Place, ...], folder: Path) -> Material:
        participants = [_participant(spec, place) for place in places]
        return dds.prepare(spec.protection, participants, DOMAIN, folder)

    def insider(self, spec: TrialSpec, place: Place, governance: Path, folder: Path) -> Material:
        """Material of one more node; see `dds.insider`."""
        return dds.insider(spec.protection, _participant(spec, place), governance, DOMAIN, folder)

    def prove(self, capture: Path, spec: TrialSpec) -> WireProof:
        named = sorted(topics(spec, (stream.topic for stream in spec.streams)))
        least_size = min((stream.max_size for stream in spec.streams), default=0)
        level = LEVELS[spec.protection.base]
        return proof.prove(capture, level, named, spec.nonce, least_size, announces_early=self.announces_early)


def receive_buffer(spec: TrialSpec) -> int:
    """Bytes: room for two of the largest messages, as one may wait while the one before is being put together."""
    return max(LEAST_BUFFER, 2 * max((stream.max_size for stream in spec.streams), default=0))


def _participant(spec: TrialSpec, place: Place) -> dds.Participant:
    """What a node may write and read: its streams, and the way back where the pattern has one."""
    writes, reads = set(place.writes), set(place.reads)
    if spec.factors.pattern == "echo" and place.role == "publisher":
        reads |= {topic + ECHO for topic in place.writes}
    if place.role == "echo":
        writes |= {topic + ECHO for topic in place.reads}
    return dds.Participant(place.node, place.host, topics(spec, writes), topics(spec, reads))


def topics(spec: TrialSpec, names: Iterable[str]) -> frozenset[str]:
    """The DDS topics of ROS topics of a trial."""
    opaque = {stream.topic for stream in spec.streams if not stream.type}
    return frozenset(
        dds_topic(topic, opaque=topic.removesuffix(ECHO) in opaque, codec=spec.factors.codec) for topic in names
    )
