"""Ice 3.7 (ZeroC): topics of an IceStorm broker in an IceBox. Its transport: native/transports/ice.

Everything goes over TCP, or TLS; what the levels of reliability differ in is who waits for an answer:

- `best-effort`: oneway calls from publisher to broker and from broker to subscriber, IceStorm's usual way.
- `reliable`: twoway calls on both ways: the broker confirms each message to the publisher before it goes on, and every
  subscriber to the broker, which keeps up to five on their way.

IceStorm never holds a publisher back: a subscriber that the link keeps behind has a queue at the broker, and beyond its
bound the oldest messages are dropped, whatever the reliability. Datagrams (UDP) are not used.
"""

from pathlib import Path
from typing import Any

from comseclab.middleware.base import Material, Middleware, Place, Service, Setting
from comseclab.protection import tls
from comseclab.results.record import WireProof
from comseclab.trial.spec import TrialSpec

BROKER = "icebox"
MANAGER_PORT, PUBLISH_PORT = 10000, 10001
"""Of IceStorm's topic manager and of its topics."""
DEFAULT_SIZE_KB = 1024
"""Ice.MessageSizeMax unless set."""
HEADER_BYTES = 1024
"""More than Ice writes before a message: protocol header, identity, operation."""
QUEUE_BYTES = 512 << 20
"""What IceStorm may hold for one subscriber that a link keeps behind; unbounded, as it is by default, a minute of
point clouds would fill the memory of the machine."""
LEAST_QUEUE = 16
MARKS = {"Ice header": b"IceP\x01\x00\x01\x00"}
"""Magic and versions of protocol and encoding, The Ice Protocol, "Protocol Messages"."""

SETTINGS = {
    # kB, 0 for no limit. Ice enforces it where a message arrives: at the broker and at the subscriber.
    "message_size_max_kb": Setting.whole(0, (1 << 21) - 1),
}


class Ice(Middleware):
    name = "ice"
    library = "libcomseclab-ice.so"
    packages = ("libzeroc-ice-dev", "zeroc-icebox", "libzeroc-icestorm3.7", "nlohmann-json3-dev")
    protections = ("none", "mtls")
    reliabilities = ("best-effort", "reliable")
    settings = SETTINGS
    start_s = 1.0

    def prepare(self, spec: TrialSpec, places: tuple[Place, ...], folder: Path) -> Material:
        if spec.protection.base == "none":
            return Material()
        parties = [tls.Party(place.node, place.host, place.address) for place in places]
        address = _broker_address(places[0])
        return tls.prepare(spec.protection, [*parties, tls.Party(BROKER, _host(places, address), address)], folder)

    def services(
        self, spec: TrialSpec, places: tuple[Place, ...], material: Material, folder: Path
    ) -> tuple[Service, ...]:
        address = _broker_address(places[0])
        secured = spec.protection.base == "mtls"
        properties = _broker_properties(address, "ssl" if secured else "tcp") | {
            "Ice.MessageSizeMax": self._size_kb(spec),
            "IceStorm.Send.QueueSizeMax": max(LEAST_QUEUE, QUEUE_BYTES // max(1, _largest(spec))),
        }
        if secured:
            properties |= _ssl_properties(spec, material)
        config = folder / "icebox.conf"
        config.write_text("".join(f"{key} = {value}\n" for key, value in properties.items()))
        argv = (BROKER, f"--Ice.Config={config}")
        return (Service(BROKER, _host(places, address), argv, (MANAGER_PORT, PUBLISH_PORT)),)

    def node_settings(self, spec: TrialSpec, place: Place, material: Material) -> dict[str, Any]:
        settings: dict[str, Any] = {
            "broker_address": _broker_address(place),
            "broker_port": MANAGER_PORT,
            "address": place.address,
            "message_size_max_kb": self._size_kb(spec),
        }
        if files := material.files.get(place.node):
            settings["tls"] = {what: str(path) for what, path in files.items()} | {"check_address": _own(spec)}
        return settings

    def _size_kb(self, spec: TrialSpec) -> int:
        """The level of the plan, else what the largest message needs."""
        needed = max(DEFAULT_SIZE_KB, -(-(_largest(spec) + HEADER_BYTES) // 1024))
        return int(spec.settings.get(self.name, {}).get("message_size_max_kb", needed))

    def prove(self, capture: Path, spec: TrialSpec) -> WireProof:
        if spec.protection.base == "mtls":
            return tls.prove(capture, spec, "tls", MARKS)
        # The broker drops what exceeds the limit, and between it and the publisher there may be no link.
        limit = self._size_kb(spec) * 1024
        pass_limit = any(not limit or stream.max_size + HEADER_BYTES <= limit for stream in spec.streams)
        proof = tls.prove(capture, spec, "clear", MARKS, messages_expected=pass_limit)
        lacking = [f"no frame shows the {name}" for name in MARKS if proof.frames and not proof.kinds[name]]
        return proof.model_copy(update={"contradictions": [*proof.contradictions, *lacking]})


def _largest(spec: TrialSpec) -> int:
    """Bytes of the largest message."""
    return max((stream.max_size for stream in spec.streams), default=0)


def _broker_address(place: Place) -> str:
    """Alike for all places of a trial: that of the first host, as on a robot."""
    return place.peers[0]


def _host(places: tuple[Place, ...], address: str) -> str:
    return next(place.host for place in places if place.address == address)


def _own(spec: TrialSpec) -> bool:
    """Whether the certificates are ours, made out to addresses; a user's in sros2's layout name none."""
    return spec.protection.keystore is None


def _broker_properties(address: str, transport: str) -> dict[str, Any]:
    """IceStorm keeps no database: nothing of a trial outlives it, and messages are never stored in any case."""
    return {
        "IceBox.InheritProperties": 1,
        "IceBox.Service.IceStorm": "IceStormService,37:createIceStorm",
        "IceStorm.Transient": 1,
        "IceStorm.TopicManager.Endpoints": f"{transport} -h {address} -p {MANAGER_PORT}",
        "IceStorm.Publish.Endpoints": f"{transport} -h {address} -p {PUBLISH_PORT}",
        "IceStorm.Send.QueueSizeMaxPolicy": "DropEvents",
        # A slow link is no idle one.
        "Ice.ACM.Close": 0,
        "Ice.ACM.Heartbeat": 0,
        "Ice.Override.CloseTimeout": 1000,
        "Ice.Warn.Connections": 1,
    }


def _ssl_properties(spec: TrialSpec, material: Material) -> dict[str, Any]:
    files = material.files[BROKER]
    return {
        "Ice.Plugin.IceSSL": "IceSSL:createIceSSL",
        "IceSSL.CAs": files["identity_ca"],
        "IceSSL.CertFile": files["certificate"],
        "IceSSL.KeyFile": files["key"],
        "IceSSL.VerifyPeer": 2,
        "IceSSL.CheckCertName": int(_own(spec)),
        "IceSSL.Protocols": "TLS1_2,TLS1_3",
        "IceSSL.Trace.Security": 1,
    }


MIDDLEWARE = Ice()
