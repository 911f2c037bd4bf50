"""Message types: their description for the node, the place of the identity, and a message's size in either codec.

Descriptions and the identity are those of docs/formats.md.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from rosbags.interfaces import MessageDefinition, MessageDefinitionFormat, Nodetype
from rosbags.interfaces.typing import FieldDesc, Typesdict
from rosbags.typesys import Stores, get_types_from_idl, get_types_from_msg, get_typestore
from rosbags.typesys.store import Typestore

from comseclab.errors import LabError

IDENTITY_BYTES = 24
SENTINEL_BYTES = 26
HEADER = "std_msgs/msg/Header"
CDR_LITTLE_ENDIAN = b"\x00\x01\x00\x00"
SIZES = {
    "bool": 1, "byte": 1, "char": 1, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2,
    "int32": 4, "uint32": 4, "float32": 4, "int64": 8, "uint64": 8, "float64": 8,
}  # fmt: skip
PRIMITIVES = {*SIZES, "string", "wstring"}

Description = dict[str, list[list[str]]]


@dataclass(frozen=True)
class MessageType:
    """A ROS type with all it names. `name` is the ROS 2 name, as in "sensor_msgs/msg/LaserScan"."""

    name: str
    store: Typestore

    @cached_property
    def description(self) -> Description:
        """The type and those it names. Raises LabError when one has no definition or a field nobody can carry."""
        result: Description = {}
        self._describe(self.name, result)
        return result

    def _describe(self, name: str, result: Description) -> None:
        if name in result:
            return
        if name not in self.store.fielddefs:
            raise LabError(f"no definition of type {name}", "record with a tool that stores definitions, such as MCAP")
        result[name] = []
        for field, desc in self.store.fielddefs[name][1]:
            element, suffix = _spell(desc)
            if element not in PRIMITIVES:
                if "/" not in element:
                    raise LabError(f"field {field} of type {name} is a {element}, which no node can carry")
                self._describe(element, result)
            result[name].append([field, element + suffix])

    @cached_property
    def header_path(self) -> tuple[str, ...] | None:
        """Field names from the message to its first Header, depth first; None where the type has none."""
        return _find_header(self.name, self.description, ())

    def check_identity(self) -> None:
        """Raise LabError when neither a header nor 24 leading fixed-size bytes can carry a message's identity."""
        if self.header_path is None and _leading_bytes(self.name, self.description)[0] < IDENTITY_BYTES:
            raise LabError(
                f"type {self.name} has no room for a message's identity",
                f"it needs a {HEADER} or {IDENTITY_BYTES} leading bytes of fixed-size fields; choose another topic",
            )

    def normalise(self, raw: bytes, *, ros1: bool) -> bytes:
        """A recorded message as little-endian CDR with a plain encapsulation header. Raises rosbags' errors."""
        if ros1:
            return bytes(self.store.ros1_to_cdr(raw, self.name))
        if raw[:2] == b"\x00\x00":
            message = self.store.deserialize_cdr(raw, self.name)
            return bytes(self.store.serialize_cdr(message, self.name, little_endian=True))
        return CDR_LITTLE_ENDIAN + raw[4:] if raw[:2] == b"\x00\x01" and raw[2:4] != b"\x00\x00" else raw

    def sizes(self, payload: bytes) -> dict[str, int]:
        """Bytes of the message in each codec once the sentinel stands in its frame_id.

        Raises LabError when the bytes are not such a message, or the sequence that holds its header is empty.
        """
        functions = self.store.get_msgdef(self.name)
        try:
            message = self.store.deserialize_cdr(payload, self.name)
            ros1 = functions.getsize_cdr_to_ros1(memoryview(payload)[4:], 0, None, 0, self.store)[1]
        except Exception as error:
            raise LabError(
                f"a message is not a {self.name}: {error}", "the recording is damaged; choose another"
            ) from None
        if self.header_path is not None:
            header = self._header(message)
            ros1 += SENTINEL_BYTES - len(header.frame_id.encode())
            header.frame_id = "x" * SENTINEL_BYTES
        return {"cdr": 4 + functions.getsize_cdr(0, message, self.store), "ros1": ros1}

    def _header(self, message: object) -> Any:
        place: Any = message
        for field in self.header_path or ():
            place = getattr(place, field)
            if isinstance(place, list):
                if not place:
                    raise LabError(
                        f"a {self.name} has an empty {field}, which leaves no room for the message's identity",
                        "choose another topic or recording",
                    )
                place = place[0]
        return place


def standard_type(name: str) -> MessageType:
    """A type of ROS 2 Humble's own packages."""
    return MessageType(name, get_typestore(Stores.ROS2_HUMBLE))


def recorded_type(name: str, definition: MessageDefinition) -> MessageType:
    """A type as a recording defines it, or ROS 2 Humble's where the recording holds no definition.

    Raises LabError when neither knows it, and rosbags' errors on a malformed definition.
    """
    if definition.format == MessageDefinitionFormat.NONE:
        known = standard_type(name)
        if name not in known.store.fielddefs:
            raise LabError(f"no definition of type {name}", "record with a tool that stores definitions, such as MCAP")
        return known
    parsed = _parse(name, definition)
    if HEADER in parsed:
        constants, fields = parsed[HEADER]
        parsed[HEADER] = constants, [field for field in fields if field[0] != "seq"]
    store = get_typestore(Stores.EMPTY)
    store.register(parsed)
    return MessageType(name, store)


def _parse(name: str, definition: MessageDefinition) -> Typesdict:
    if definition.format == MessageDefinitionFormat.MSG:
        return get_types_from_msg(definition.data, name)
    rule = "=" * 80 + "\n"
    if not definition.data.startswith(f"{rule}IDL: "):
        return get_types_from_idl(definition.data)
    parsed: Typesdict = {}
    for part in definition.data.split(rule)[1:]:
        parsed.update(get_types_from_idl(part.partition("\n")[2]))
    return parsed


def _spell(desc: FieldDesc) -> tuple[str, str]:
    """A field's element type and its suffix: "", "[]" or "[9]"."""
    if desc[0] == Nodetype.BASE:
        return desc[1][0], ""
    if desc[0] == Nodetype.NAME:
        return desc[1], ""
    element, count = cast("tuple[FieldDesc, int]", desc[1])
    return _spell(element)[0], f"[{count}]" if desc[0] == Nodetype.ARRAY else "[]"


def _find_header(name: str, types: Description, path: tuple[str, ...]) -> tuple[str, ...] | None:
    if name == HEADER:
        return path
    for field, spelled in types[name]:
        element = spelled.partition("[")[0]
        if element in types and (found := _find_header(element, types, (*path, field))) is not None:
            return found
    return None


def _leading_bytes(name: str, types: Description) -> tuple[int, bool]:
    """Bytes of leading fixed-size primitives, and whether the whole type is of fixed size."""
    total = 0
    for _, spelled in types[name]:
        element, _, count = spelled.partition("[")
        if count == "]":
            return total, False
        size, fixed = (SIZES[element], True) if element in SIZES else (0, False)
        if element in types:
            size, fixed = _leading_bytes(element, types)
        if not fixed:
            return total + size, False
        total += size * int(count.rstrip("]") or 1)
    return total, True
