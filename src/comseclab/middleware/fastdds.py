"""Fast DDS 2.9 (eProsima), ROS 2's default middleware. Its transport: native/transports/fastdds."""

from collections.abc import Mapping
from typing import Any

from comseclab.middleware.base import Material, Place, Setting
from comseclab.middleware.dds_stack import DOMAIN, LEAST_BUFFER, DdsStack, receive_buffer
from comseclab.trial.spec import TrialSpec

SETTINGS = {
    # Below 1 KiB the handshake's messages would not fit; 65 kB is UDP's own limit.
    "max_message_size": Setting.whole(1024, 65500),
    "send_buffer": Setting.whole(65536, 1 << 30),
    "receive_buffer": Setting.whole(65536, 1 << 30),
    "history_depth": Setting.whole(1, 1_000_000),
    "publish_timeout_ms": Setting.whole(0, 3_600_000),
    "publish_mode": Setting.one_of("synchronous", "asynchronous"),
    "qos_profile": Setting.xml_file(),
}
"""Sizes in bytes; meaning: settings.hpp."""


class FastDds(DdsStack):
    name = "fastdds"
    library = "libcomseclab-fastdds.so"
    packages = ("libfastrtps-dev", "nlohmann-json3-dev")
    settings = SETTINGS
    repair_s = 3.0  # the period of its heartbeats

    def refuse_settings(self, settings: Mapping[str, Any]) -> str | None:
        if refusal := super().refuse_settings(settings):
            return refusal
        if settings.get("max_message_size", 0) > settings.get("send_buffer", LEAST_BUFFER):
            return f"{self.name}: send_buffer must hold max_message_size"
        return None

    def node_settings(self, spec: TrialSpec, place: Place, material: Material) -> dict[str, Any]:
        settings: dict[str, Any] = {
            "domain": DOMAIN,
            "addresses": [place.address],
            "receive_buffer": receive_buffer(spec),
            "send_buffer": LEAST_BUFFER,
            **spec.settings.get(self.name, {}),
        }
        if place.node in material.files:
            settings["security"] = {what: str(path) for what, path in material.files[place.node].items()}
        return settings


MIDDLEWARE = FastDds()
