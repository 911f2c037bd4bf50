"""One end of a stream: drives a transport's shared library through its C interface, without the node.

`python peer.py LIBRARY CONFIG`, CONFIG a JSON object: role ("publish" or "subscribe"), settings, stream, size, count,
period_s, settle_s, timeout_s, sentinel (hexadecimal). Prints one JSON object at the end. A publisher waits for a match
and settle_s more, then sends; a subscriber ends when all has arrived, or on end of standard input.
"""

import ctypes as c
import hashlib
import json
import select
import struct
import sys
import threading
import time
from typing import Any


class Error(c.Structure):
    _fields_ = (("text", c.c_char * 512),)


class Event(c.Structure):
    _fields_ = (
        ("struct_size", c.c_uint32), ("kind", c.c_int), ("stream", c.c_uint32), ("is_writer", c.c_int),
        ("count", c.c_uint64), ("text", c.c_char_p),
    )  # fmt: skip


OnEvent = c.CFUNCTYPE(None, c.c_void_p, c.POINTER(Event))
OnMessage = c.CFUNCTYPE(None, c.c_void_p, c.POINTER(c.c_uint8), c.c_size_t, c.POINTER(c.c_uint8 * 16))


class Open(c.Structure):
    _fields_ = (
        ("struct_size", c.c_uint32), ("node", c.c_char_p), ("settings", c.c_char_p),
        ("on_event", OnEvent), ("context", c.c_void_p),
    )  # fmt: skip


class Stream(c.Structure):
    _fields_ = (
        ("struct_size", c.c_uint32), ("stream", c.c_uint32), ("topic", c.c_char_p), ("type", c.c_char_p),
        ("codec", c.c_char_p), ("reliable", c.c_int), ("max_size", c.c_uint32), ("rate_hz", c.c_double),
    )  # fmt: skip


class Limits(c.Structure):
    _fields_ = (
        ("struct_size", c.c_uint32), ("max_message_size", c.c_uint64),
        ("copies_sent", c.c_uint32), ("copies_received", c.c_uint32),
    )  # fmt: skip


class Api(c.Structure):
    _fields_ = (
        ("abi_version", c.c_uint32), ("struct_size", c.c_uint32), ("name", c.c_char_p), ("version", c.c_char_p),
        ("limits", c.CFUNCTYPE(c.c_int, c.POINTER(Limits))),
        ("open", c.CFUNCTYPE(c.c_int, c.POINTER(Open), c.POINTER(c.c_void_p), c.POINTER(Error))),
        ("advertise", c.CFUNCTYPE(c.c_int, c.c_void_p, c.POINTER(Stream), c.POINTER(c.c_void_p), c.POINTER(Error))),
        ("subscribe", c.CFUNCTYPE(c.c_int, c.c_void_p, c.POINTER(Stream), OnMessage, c.c_void_p,
                                  c.POINTER(c.c_void_p), c.POINTER(Error))),
        ("publish", c.CFUNCTYPE(c.c_int, c.c_void_p, c.c_char_p, c.c_size_t, c.POINTER(Error))),
        ("statistics", c.CFUNCTYPE(c.c_int, c.c_void_p, c.c_char_p, c.c_size_t)),
        ("close", c.CFUNCTYPE(None, c.c_void_p)),
    )  # fmt: skip


KINDS = {1: "matched", 2: "lost", 3: "deadline", 4: "rejected"}


class Peer:
    """An open transport, the events it reported and the messages that arrived."""

    def __init__(self, library: str, config: dict[str, Any]) -> None:
        entry = c.CDLL(library).comseclab_transport_entry
        entry.restype = c.POINTER(Api)
        self.api = entry().contents
        self.config = config
        self.events: list[dict[str, Any]] = []
        self.received: list[tuple[int, int, bool, str]] = []
        self.changed = threading.Condition()
        self._keep = (OnEvent(self._on_event), OnMessage(self._on_message))
        self.transport, self.endpoint, self.error = c.c_void_p(), c.c_void_p(), Error()

    def open(self) -> None:
        node, settings = self.config.get("node", "peer").encode(), json.dumps(self.config["settings"]).encode()
        request = Open(c.sizeof(Open), node, settings, self._keep[0], None)
        self._check(self.api.open(c.byref(request), c.byref(self.transport), c.byref(self.error)))
        given = {"stream": 0, "codec": "cdr", "reliable": 0, "rate_hz": 10.0} | self.config["stream"]
        values = [value.encode() if isinstance(value, str) else value for value in
                  (given[name] for name, *_ in Stream._fields_[1:])]  # fmt: skip
        stream = Stream(c.sizeof(Stream), *values)
        if self.config["role"] == "publish":
            self._check(self.api.advertise(self.transport, c.byref(stream), c.byref(self.endpoint), self.error))
        else:
            self._check(self.api.subscribe(self.transport, c.byref(stream), self._keep[1], None,
                                           c.byref(self.endpoint), self.error))  # fmt: skip

    def _check(self, status: int) -> None:
        if status:
            raise RuntimeError(self.error.text.decode())

    def _on_event(self, _context: Any, event: Any) -> None:
        seen = event.contents
        with self.changed:
            self.events.append({"kind": KINDS[seen.kind], "count": seen.count, "text": (seen.text or b"").decode()})
            self.changed.notify_all()

    def _on_message(self, _context: Any, data: Any, size: int, sender: Any) -> None:
        message = c.string_at(data, size)
        with self.changed:
            index = struct.unpack_from("<I", message, 4)[0]
            # The encapsulation header's options, its last two bytes, are the transport's.
            expected = payload(self.config, index)
            intact = message[:2] == expected[:2] and message[4:] == expected[4:]
            self.received.append((index, size, intact, bytes(sender.contents).hex()))
            self.changed.notify_all()

    def wait(self, condition: Any, timeout_s: float) -> bool:
        with self.changed:
            return bool(self.changed.wait_for(condition, timeout_s))

    def matched(self) -> bool:
        counts = [event["count"] for event in self.events if event["kind"] == "matched"]
        return bool(counts) and counts[-1] > 0


def payload(config: dict[str, Any], index: int) -> bytes:
    """Encapsulation header, index, the sentinel, then bytes that depend on the index."""
    head = b"\x00\x01\x00\x00" + struct.pack("<I", index) + bytes.fromhex(config.get("sentinel", ""))
    filler = hashlib.shake_128(struct.pack("<I", index)).digest(min(4096, config["size"]))
    body = filler * (config["size"] // max(len(filler), 1) + 1)
    return (head + body)[: config["size"]]


def publish(peer: Peer, config: dict[str, Any]) -> dict[str, Any]:
    messages = [payload(config, index) for index in range(config["count"])]
    matched = peer.wait(peer.matched, config["timeout_s"])
    statuses = []
    print(json.dumps({"matched": matched}), flush=True)
    if matched:
        time.sleep(config.get("settle_s", 0.2))  # the reader may match later, and best effort repeats nothing
        for message in messages:
            statuses.append(peer.api.publish(peer.endpoint, message, len(message), c.byref(peer.error)))
            time.sleep(config["period_s"])
    print(json.dumps({"sent": len(statuses)}), flush=True)
    sys.stdin.read()
    return {"matched": matched, "statuses": statuses}


def subscribe(peer: Peer, config: dict[str, Any]) -> dict[str, Any]:
    deadline = time.monotonic() + config["timeout_s"]
    while time.monotonic() < deadline and not select.select([sys.stdin], [], [], 0)[0]:
        if peer.wait(lambda: len(peer.received) >= config["count"], 0.1):
            break
    else:
        take_the_rest(peer)
    return {"matched": any(e["kind"] == "matched" for e in peer.events), "received": peer.received}


def take_the_rest(peer: Peer) -> None:
    """What is still on its way when a subscriber is told to end, until nothing more comes for a while."""
    seen = -1
    while seen < len(peer.received):
        seen = len(peer.received)
        peer.wait(lambda seen=seen: len(peer.received) > seen, 0.5)


def main() -> None:
    config = json.loads(sys.argv[2])
    peer = Peer(sys.argv[1], config)
    try:
        peer.open()
    except RuntimeError as error:
        print(json.dumps({"error": str(error)}))
        return
    result = publish(peer, config) if config["role"] == "publish" else subscribe(peer, config)
    statistics = c.create_string_buffer(65536)
    peer.api.statistics(peer.transport, statistics, len(statistics))
    peer.api.close(peer.transport)
    print(json.dumps(result | {"events": peer.events, "statistics": json.loads(statistics.value)}))


if __name__ == "__main__":
    main()
