"""Fast DDS 2.9 (eProsima), ROS 2's default middleware. Its transport: native/transports/fastdds."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from comseclab.middleware.base import Material, Middleware, Place, Setting
from comseclab.middleware.names import ECHO, dds_topic
from comseclab.protection import dds, proof
from comseclab.protection.levels import LEVELS
from comseclab.results.record import WireProof
from comseclab.trial.spec import Factors, TrialSpec

DOMAIN = 0
"""Hosts are alone on their network, so one domain serves all trials."""
LEAST_BUFFER = 4 << 20
"""Bytes. With the kernel's default of 208 KiB, a third of all 900 kB messages is lost."""


SETTINGS = {
    # Below 1 KiB the handshake's messages would not fit; 65 kB is UDP's own limit.
    "max_message_size": Setting.whole(1024, 65500),
    "send_buffer": Setting.whole(65536, 1 << 30),
    "receive_buffer": Setting.whole(65536, 1 << 30),
    "history_depth": Setting.whole(1, 1_000_000),
    "publish_timeout_ms": Setting.whole(0, 3_600_000),
    "publish_mode": Setting.one_of("synchronous", "asynchronous"),
    "qos_profile": Setting(lambda value: isinstance(value, str) and Path(value).is_file(), "an XML file that exists"),
}
"""Sizes in bytes; meaning: settings.hpp."""


class FastDds(Middleware):
    name = "fastdds"
    library = "libcomseclab-fastdds.so"
    packages = ("libfastrtps-dev", "nlohmann-json3-dev")
    protections = tuple(LEVELS)
    reliabilities = ("best-effort", "reliable")
    settings = SETTINGS

    def refuse(self, factors: Factors, settings: Mapping[str, Any]) -> str | None:
        if refusal := super().refuse(factors, settings):
            return refusal
        if settings.get("max_message_size", 0) > settings.get("send_buffer", LEAST_BUFFER):
            return f"{self.name}: send_buffer must hold max_message_size"
        return None

    def prepare(self, spec: TrialSpec, places: tuple[Place, ...], folder: Path) -> Material:
        participants = [_participant(spec, place) for place in places]
        return dds.prepare(spec.protection, participants, DOMAIN, folder)

    def node_settings(self, spec: TrialSpec, place: Place, material: Material) -> dict[str, Any]:
        largest = max((stream.max_size for stream in spec.streams), default=0)
        settings: dict[str, Any] = {
            "domain": DOMAIN,
            "addresses": [place.address],
            # Room for two of the largest messages: a whole one may wait while the one before is being put together.
            "receive_buffer": max(LEAST_BUFFER, 2 * largest),
            "send_buffer": LEAST_BUFFER,
            **spec.settings.get(self.name, {}),
        }
        if place.node in material.files:
            settings["security"] = {what: str(path) for what, path in material.files[place.node].items()}
        return settings

    def prove(self, capture: Path, spec: TrialSpec) -> WireProof:
        topics = sorted(_topics(spec, (stream.topic for stream in spec.streams)))
        least_size = min((stream.max_size for stream in spec.streams), default=0)
        return proof.prove(capture, LEVELS[spec.protection.base], topics, spec.nonce, least_size)


def _participant(spec: TrialSpec, place: Place) -> dds.Participant:
    """What a node may write and read: its streams, and the way back where the pattern has one."""
    writes, reads = set(place.writes), set(place.reads)
    if spec.factors.pattern == "echo" and place.role == "publisher":
        reads |= {topic + ECHO for topic in place.writes}
    if place.role == "echo":
        writes |= {topic + ECHO for topic in place.reads}
    return dds.Participant(place.node, place.host, _topics(spec, writes), _topics(spec, reads))


def _topics(spec: TrialSpec, topics: Any) -> frozenset[str]:
    opaque = {stream.topic for stream in spec.streams if not stream.type}
    return frozenset(
        dds_topic(topic, opaque=topic.removesuffix(ECHO) in opaque, codec=spec.factors.codec) for topic in topics
    )


MIDDLEWARE = FastDds()
