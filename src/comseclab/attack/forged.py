"""Messages of the attacker's own, of the type that everybody knows."""

import struct
from typing import Any

from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from comseclab.trial.spec import StreamSpec, TrialSpec
from comseclab.workload.spool import ENTRY, HEADER
from comseclab.workload.types import MessageType


def with_nonce(payload: bytes, nonce: str, forged: str) -> bytes:
    """A message with the attacker's nonce where the trial's stood, as text or binary."""
    return payload.replace(nonce.encode(), forged.encode()).replace(bytes.fromhex(nonce), bytes.fromhex(forged))


def from_spool(spec: TrialSpec, stream: StreamSpec, nonce: str, codec: str = "cdr") -> bytes:
    """The first message a stream will send, with the identity (docs/formats.md) of `nonce`, as the codec writes it.

    It stands for any message of a type that is public. Of an opaque stream: its bytes.
    """
    content = _first(stream)
    sentinel = b"comsecl\0" + bytes.fromhex(nonce) + struct.pack("<II", 0, stream.id * 1000)
    if not stream.type:
        return sentinel + content[len(sentinel) :]
    known = message_type(stream.type, spec.types)
    if known.header_path is None:
        made = content[:4] + sentinel + content[4 + len(sentinel) :]
        return made if codec == "cdr" else bytes(known.store.cdr_to_ros1(made, stream.type))
    message = known.store.deserialize_cdr(content, stream.type)
    place: Any = message
    for field in known.header_path:
        place = getattr(place, field)
        place = place[0] if isinstance(place, list) else place
    place.frame_id = f"comseclab:{nonce}"
    place.stamp.sec, place.stamp.nanosec = 0, stream.id * 1000
    if codec == "cdr":
        return bytes(known.store.serialize_cdr(message, stream.type))
    return bytes(known.store.serialize_ros1(message, stream.type))


def message_type(name: str, types: dict[str, list[list[str]]]) -> MessageType:
    """The type that a description (docs/formats.md) describes."""
    store = get_typestore(Stores.EMPTY)
    for described, fields in types.items():
        text = "".join(f"{spelled} {field}\n" for field, spelled in fields)
        store.register(get_types_from_msg(text, described))
    return MessageType(name, store)


def _first(stream: StreamSpec) -> bytes:
    with stream.spool.open("rb") as file:
        index_at = HEADER.unpack(file.read(HEADER.size))[4]
        file.seek(index_at)
        _, at, size, _ = ENTRY.unpack(file.read(ENTRY.size))
        file.seek(at)
        return file.read(size)
