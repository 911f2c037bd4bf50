"""ROS 1 (roscpp 1.15) with its roscore. Its transport: native/transports/ros1.

`reliable` is TCPROS (without Nagle's delay), `best-effort` is UDPROS. ROS 1 pushes nothing back: publish() always takes
a message, and a full queue of the publisher drops its oldest message without a word.

UDPROS sends a message as one burst of datagrams; its receiver drops the message unless all of them come, in order. So

- a link that lets frames overtake each other (`ethernet-2018`, `wifi-2018`) loses nearly every message of more than one
  datagram, about 1490 bytes;
- up to about 135 kB fit the receiver's socket buffer, which roscpp leaves at the kernel's default
  (`net.core.rmem_default`, 212992 bytes with what the kernel adds to each datagram) and no namespace can change. What
  is longer arrives only if the receiver empties the buffer fast enough meanwhile: nobody can tell beforehand, and
  what is lost so is a result;
- 16 bits number the datagrams: messages above 97 MB are refused when the stream is opened.

A datagram of roscpp's default size, 1500 bytes without the headers of IP and UDP, is two frames where the MTU is 1500.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rosbags.typesys import Stores, get_typestore

from comseclab.middleware.base import Material, Middleware, Place, Service, Setting
from comseclab.protection import tls
from comseclab.results.record import WireProof
from comseclab.trial.spec import Factors, TrialSpec
from comseclab.workload.types import HEADER, Description, MessageType

MASTER_PORT = 11311
TCPROS_HEADER = "TCPROS connection header"
MARKS = {TCPROS_HEADER: b"callerid=/"}
"""Both ends of a TCPROS connection begin with their names; under UDPROS the names go in XML-RPC, as base64."""

SETTINGS = {
    "queue_size": Setting.whole(0, 1_000_000),
    # Whatever is asked for, roscpp's receiver has room for 1500 bytes and cuts off the rest.
    "max_datagram_size": Setting.whole(548, 1500),
}
"""Messages, 0 for no limit; bytes. Meaning: settings.hpp, names.hpp."""


class Ros1(Middleware):
    name = "ros1"
    library = "libcomseclab-ros1.so"
    packages = ("libroscpp-dev", "nlohmann-json3-dev", "python3-roslaunch")
    protections = ("none",)
    reliabilities = ("best-effort", "reliable")
    settings = SETTINGS
    start_s = 3.0

    def refuse(self, factors: Factors, settings: Mapping[str, Any]) -> str | None:
        if factors.protection != "none":
            return (
                f'ROS 1 has no protection of its own, so no "{factors.protection}":'
                " only a tunnel below it or a cipher over its payload could give one"
            )
        return super().refuse(factors, settings)

    def prepare(self, spec: TrialSpec, places: tuple[Place, ...], folder: Path) -> Material:
        return Material()

    def services(
        self, spec: TrialSpec, places: tuple[Place, ...], material: Material, folder: Path
    ) -> tuple[Service, ...]:
        address = _master(places[0])
        host = next(place.host for place in places if place.address == address)
        environment = {
            "HOME": str(folder),
            "ROS_IP": address,
            "ROS_MASTER_URI": f"http://{address}:{MASTER_PORT}",
        }
        return (Service("roscore", host, ("roscore", "-p", str(MASTER_PORT)), (MASTER_PORT,), environment),)

    def node_settings(self, spec: TrialSpec, place: Place, material: Material) -> dict[str, Any]:
        types = {stream.type: definition(stream.type, spec.types) for stream in spec.streams if stream.type}
        return {
            "master": _master(place),
            "master_port": MASTER_PORT,
            "address": place.address,
            "types": {name: known for name, known in types.items() if known},
            **spec.settings.get(self.name, {}),
        }

    def prove(self, capture: Path, spec: TrialSpec) -> WireProof:
        proof = tls.prove(capture, spec, "clear", MARKS)
        headers = proof.kinds.get(TCPROS_HEADER, 0)
        tcpros = spec.factors.reliability == "reliable"
        contradictions = list(proof.contradictions)
        if proof.frames and tcpros and not headers:
            contradictions.append("no TCPROS connection seen")
        if not tcpros and headers:
            contradictions.append(f"{headers} headers of TCPROS connections seen, where all should be UDPROS")
        return proof.model_copy(update={"contradictions": contradictions})


def definition(name: str, types: Description) -> dict[str, str] | None:
    """The ROS 1 type of a ROS 2 name: `datatype`, `md5sum`, `definition`. `types` describe the trial's own.

    None where ROS 1 Noetic's packages have no such type, or one that is laid out differently.
    """
    store = get_typestore(Stores.ROS1_NOETIC)
    if name not in store.fielddefs or _shape(name, MessageType(name, store).description) != _shape(name, types):
        return None
    text, md5sum = store.generate_msgdef(name, ros_version=1)
    return {"datatype": name.replace("/msg/", "/"), "md5sum": md5sum, "definition": text}


def _shape(name: str, types: Description) -> tuple[Any, ...]:
    """A type's fields without their names, and without the `seq` that headers have in ROS 1 alone."""
    fields = types[name][1:] if name == HEADER and types[name][0][0] == "seq" else types[name]
    parts = (spelled.partition("[") for _, spelled in fields)
    return tuple((_shape(element, types) if element in types else element, count) for element, _, count in parts)


def _master(place: Place) -> str:
    """The address of roscore, alike for all places of a trial: that of the first host, as on a robot."""
    return place.peers[0]


MIDDLEWARE = Ros1()
