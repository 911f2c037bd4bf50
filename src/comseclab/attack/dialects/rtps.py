"""RTPS, as Fast DDS and Cyclone DDS speak it (DDSI-RTPS 2.5; DDS Security 1.1)."""

import random
import struct
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from comseclab.attack import dds_insider, forged
from comseclab.attack import rtps_replay as replaying
from comseclab.attack import rtps_wire as wire
from comseclab.attack.base import Rogue
from comseclab.attack.dialect import NONE, Dialect, Prepared, Setting
from comseclab.attack.frame import Frame, udp_frame
from comseclab.attack.rtps_known import MANY, Known, learn, message_in, participant
from comseclab.attack.rtps_wire import Message
from comseclab.errors import LabError
from comseclab.middleware.base import Material, Place
from comseclab.middleware.dds_stack import DOMAIN, DdsStack, topics
from comseclab.protection import dds
from comseclab.protection.keystore import for_insiders
from comseclab.protection.rtps import ENDPOINTS, PARTICIPANTS, Submessage
from comseclab.testbed.network import hardware_of
from comseclab.trial.spec import Factors

if TYPE_CHECKING:
    from comseclab.attack.scene import Scene

OTHER = ("/other",)
"""What those may write and read that have no right to the topic."""
FORGED, REPEATED = 5, 3
"""Messages forged, and how often a control message is sent, as any may get lost."""
FRAGMENT_BYTES = 8192
"""A forged message above it travels in fragments, each in a frame of its own."""
GROUP = ("239.255.0.1", 7400)
"""Where participants of domain 0 announce themselves (DDSI-RTPS 2.5, 9.6.1.4)."""
GROUP_HARDWARE = "01:00:5e:7f:00:01"
ANNOUNCED_TO, TOLD_TO = bytes.fromhex("000100c7"), bytes.fromhex("000003c7")
"""The builtin readers of SPDP, and of SEDP for writers (DDSI-RTPS 2.5, table 9.2)."""
PORT = 7410


class Rtps(Dialect):
    stacks = ("fastdds", "cyclonedds")
    authorities = dds.AUTHORITIES
    silences = {  # noqa: RUF012
        "gap": "an RTPS GAP: the next messages are irrelevant and will not come",
        "heartbeat": "an RTPS HEARTBEAT: the writer holds none of the next messages any more",
        "dispose": "an SPDP announcement that the writer's participant is gone",
        "dispose-writer": "an SEDP announcement that the writer is gone",
    }

    def refuse(self, attack: str, factors: Factors) -> str | None:
        if attack == "reflection":
            return None
        if attack in ("silence-gap", "silence-heartbeat") and factors.reliability == "best-effort":
            return "a best-effort reader waits for no number, so it heeds neither GAP nor HEARTBEAT"
        return super().refuse(attack, factors)

    def prepare(self, setting: Setting) -> Prepared:
        """Victims as in any trial; of the rogues, each what its credentials say.

        Raises LabError where a user's keystore cannot give an insider an identity.
        """
        spec, middleware = setting.spec, setting.middleware
        assert isinstance(middleware, DdsStack)
        material = middleware.prepare(spec, setting.places, setting.folder)
        publishable, settings = dict(material.publishable), {}
        for rogue, place in setting.rogues.items():
            if rogue.credentials == "none" or not material.files:
                stranger = spec.model_copy(update={"protection": NONE})
                settings[rogue] = middleware.node_settings(stranger, place, Material())
                continue
            governance = material.files[setting.places[0].node]["governance"]
            own = middleware.insider(spec, replace(place, writes=OTHER, reads=OTHER), governance, setting.folder)
            files = own.files[place.node]
            shown = _shown(setting, rogue, place, files)
            publishable |= {**own.publishable, f"{place.node}.permissions.p7s": shown}
            settings[rogue] = _insider_settings(setting, place, files, shown)
        return Prepared(Material(material.files, publishable), settings)

    def is_message(self, frame: Frame, scene: "Scene") -> bool:
        """By the writer's kind where headers are in clear; where they are encrypted, by size."""
        if (frame.source[0], frame.destination[0]) != (scene.writer.address, scene.reader.address):
            return False
        message = message_in(frame)
        if message is None:
            return False
        if any(data.of_user and data.carries for data in wire.data_of(message)):
            return True
        least = scene.spec.trial.streams[0].max_size // 2
        return any(part.kind == wire.SEC_BODY and len(part.body) >= least for part in message.parts)

    def forge(self, scene: "Scene") -> None:
        """Plain DATA of numbers that the writer will come to, under any protection: a receiver may not insist on it."""
        known = self._known(scene)
        if known is None:
            return
        spec = scene.spec
        if known.payload is not None:
            payload = forged.with_nonce(known.payload, spec.trial.nonce, spec.forged_nonce)
        else:
            payload = _encapsulated(scene)
        # The writer goes on meanwhile, and who is late with a number comes to nothing: so each is twice as far ahead.
        numbers = [known.last + 2**step for step in range(1, FORGED + 1)]
        for number in numbers:
            parts = [wire.data(known.entity, number, payload)]
            if len(payload) > FRAGMENT_BYTES * 3 // 2:
                parts = wire.fragments(known.entity, number, payload, FRAGMENT_BYTES)
            for part in parts:
                self._send(scene, known, [part], known.reader.user)
        scene.note(f"messages forged, numbers {', '.join(map(str, numbers))}, {_learned(known)}")

    def before_restart(self, scene: "Scene") -> None:
        """Have the new subscriber hear nothing of the stream before it is sent what was recorded."""
        if known := self._known(scene):
            replaying.hold_back(scene, known)
            scene.note("what the writer sends is held back")

    def replay(self, scene: "Scene", *, resequenced: bool) -> None:
        """The last messages again; all from before a restart where the subscriber has a new participant."""
        known = self._known(scene)
        if known is None:
            return
        if scene.restarted_ns is None:
            done = replaying.again(scene, known, resequenced=resequenced)
        else:
            done = replaying.to_restarted(scene, known)
        scene.note(f"{done}, {_learned(known)}")

    def silence(self, scene: "Scene", message: str) -> None:
        """Send the control message in the writer's name, a few times."""
        known = self._known(scene)
        if known is None:
            return
        if message not in self.silences:
            raise LabError(f"there is no control message {message}", f"one of {', '.join(self.silences)}")
        for _ in range(REPEATED):
            self._send(scene, known, *_control(message, known))
        scene.note(f"{message} sent {REPEATED} times, {_learned(known)}")

    def reflect(self, scene: "Scene") -> None:
        """Announce a participant that is not there, at the bystander's address."""
        genuine = participant(list(scene.path.seen), scene.writer.address)
        if genuine is None:
            return
        victim = scene.hosts["bystander"]
        fresh = genuine.prefix[:2] + random.Random(scene.spec.trial.seed).randbytes(10)
        content = genuine.announcement.replace(genuine.prefix, fresh)
        for old in (genuine.metatraffic, genuine.user):
            content = content.replace(wire.locator(*old), wire.locator(victim.address, old[1]))
        header = genuine.header[: -wire.PREFIX_BYTES] + fresh
        message = Message(header, (wire.data(PARTICIPANTS, 1, content),))
        ends = hardware_of(scene.attacker.address), GROUP_HARDWARE
        scene.inject(udp_frame(ends, (scene.attacker.address, PORT), GROUP, message.raw()))
        scene.note(f"announced a participant at {victim.address}")

    @staticmethod
    def _known(scene: "Scene") -> Known | None:
        known = learn(scene)
        if known is None:
            scene.note("the participants of the stream were not seen, nothing was sent")
        return known

    @staticmethod
    def _send(scene: "Scene", known: Known, parts: Iterable[Submessage], target: tuple[str, int]) -> None:
        """Send submessages in the writer's name to the reader's participant, from the attacker's port."""
        message = Message(known.writer.header, (wire.to(known.reader.prefix), *parts))
        ends = hardware_of(scene.attacker.address), hardware_of(target[0])
        raw = udp_frame(ends, (scene.writer.address, PORT), target, message.raw())
        scene.inject_on_path(Frame(scene.port_of(scene.attacker), raw))


def _shown(setting: Setting, rogue: Rogue, place: Place, files: Mapping[str, Path]) -> Path:
    """The permissions that an insider shows to others. Those of its own never grant what it tries.

    So who holds the right, and stands for the control, gets it by the same tricks as who does not: where these fail,
    its own node refuses it, too.
    """
    if rogue.credentials == "no-permission":
        return files["permissions"]
    wanted, path = _wanted(setting, place), setting.folder / "shown" / f"{place.node}.p7s"
    if rogue.credentials == "self-signed":
        return dds_insider.granted_by(dds_insider.itself(files), files, *wanted, path)
    authority = for_insiders(setting.spec.protection.keystore, setting.folder, dds.AUTHORITIES).permissions_authority()
    assert authority, "whoever made the insider's documents has its key"
    return dds_insider.granted_by(authority, files, *wanted, path)


def _insider_settings(setting: Setting, place: Place, files: Mapping[str, Path], shown: Path) -> dict[str, Any]:
    """What an insider's node is opened with: such that nobody but the victims refuses it."""
    spec, middleware, folder = setting.spec, setting.middleware, setting.folder / "insiders" / place.node
    if middleware.name == "fastdds":
        files = dds_insider.of_fastdds(files, *_wanted(setting, place), shown, folder)
        return middleware.node_settings(spec, place, Material({place.node: files}))
    files = dds_insider.of_cyclonedds(files, shown, folder)
    settings = middleware.node_settings(spec, place, Material({place.node: files}))
    *parts, required = settings["configuration"]
    return {**settings, "configuration": [*parts, dds_insider.with_plugin(required, spec.native)]}


def _wanted(setting: Setting, place: Place) -> tuple[frozenset[str], frozenset[str], int]:
    """The topics that an insider means to write and to read, and their domain."""
    return topics(setting.spec, place.writes), topics(setting.spec, place.reads), DOMAIN


def _control(message: str, known: Known) -> tuple[list[Submessage], tuple[str, int]]:
    """One of `silences`, and where it goes."""
    beyond, entity = known.last + MANY, known.entity
    if message == "gap":
        return [wire.gap(entity, known.last + 1, beyond, known.reader_entity)], known.reader.user
    if message == "heartbeat":
        return [wire.heartbeat(entity, beyond, beyond - 1, known.beats + MANY)], known.reader.user
    if message == "dispose":
        gone = known.writer.prefix + wire.PARTICIPANT
        told = [wire.disposal(ANNOUNCED_TO, PARTICIPANTS, known.writer.number + 1, wire.PID_PARTICIPANT_GUID, gone)]
        return told, known.reader.metatraffic
    numbers, gone = range(known.told, known.told + 2), known.writer.prefix + entity
    told = [wire.disposal(TOLD_TO, ENDPOINTS[0], number, wire.PID_ENDPOINT_GUID, gone) for number in numbers]
    return told, known.reader.metatraffic


def _learned(known: Known) -> str:
    seen = "payload in clear" if known.payload is not None else "payload of the type that everybody knows"
    return f"writer {(known.writer.prefix + known.entity).hex()}, last number {known.last}, {seen}"


def _encapsulated(scene: "Scene") -> bytes:
    """A message of the stream's type as DDS carries it: padded, as the transport pads it; octets where it is no CDR."""
    trial = scene.spec.trial
    stream, codec = trial.streams[0], trial.factors.codec
    content = forged.from_spool(trial, stream, scene.spec.forged_nonce, codec)
    padding = -len(content) % 4
    if stream.type and codec == "cdr":
        return content[:3] + bytes([content[3] | padding]) + content[4:] + bytes(padding)
    return b"\x00\x01\x00\x00" + struct.pack("<I", len(content)) + content + bytes(padding)


DIALECT = Rtps()
