"""Nodes over the example transport on loopback, and the spools they send."""

import json
import socket
import struct
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from comseclab.testbed.program import Program, wait_until
from comseclab.trial.nodes import RETURN
from comseclab.workload.source import Message
from comseclab.workload.spool import Spool, Spools
from comseclab.workload.types import MessageType, standard_type

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "native"
PROGRAM = BUILD / "bin" / "comseclab-node"
NONCE = "0123456789abcdef"
TIMEOUT_S = 20.0


@dataclass(frozen=True)
class Given:
    """A source of given payloads, evenly paced."""

    payloads: Sequence[bytes]
    rate_hz: float
    type: MessageType | None
    origin: str = "given"

    def messages(self, duration_ns: int) -> Iterator[Message]:
        for slot, payload in enumerate(self.payloads):
            yield Message(round(slot * 1e9 / self.rate_hz), slot, payload, len(self.payloads))


def spool(folder: Path, type_name: str, payloads: Sequence[bytes], rate_hz: float = 500) -> Spool:
    kind = standard_type(type_name) if type_name else None
    return Spools(folder).prepare(Given(payloads, rate_hz, kind), len(payloads) / rate_hz)


def stream(
    written: Spool, *, number: int = 0, codec: str = "cdr", reader: int = 0, echo: bool = False
) -> dict[str, Any]:
    return {
        "id": number, "transport": 0, "topic": f"/topic{number}", "type": written.type, "codec": codec,
        "reliable": False, "max_size": written.max_size[codec], "rate_hz": written.rate_hz, "reader": reader,
        "spool": str(written.path), "messages": written.messages, "readers": 1, "echo": echo,
    }  # fmt: skip


@dataclass
class Lab:
    """A folder, a transport, a calibration and a range of ports: what a trial's nodes share."""

    folder: Path
    library: Path
    clock: dict[str, Any]
    port: int
    types: dict[str, Any] = field(default_factory=dict)
    nonce: str = NONCE

    def config(self, name: str, role: str, streams: Sequence[dict[str, Any]], rounds: int = 1) -> dict[str, Any]:
        return {
            "version": 1, "node": name, "role": role, "nonce": self.nonce, "clock": self.clock, "cpus": [],
            "fifo_priority": None, "lock_memory": True, "rounds": rounds, "records": str(self.records(name)),
            "types": self.types,
            "transports": [{"library": str(self.library),
                            "settings": {"listen": f"127.0.0.1:{self.port}", "peers": ["127.0.0.1"]}}],
            "streams": list(streams),
        }  # fmt: skip

    def records(self, name: str) -> Path:
        return self.folder / f"{name}-records"

    def start(self, config: dict[str, Any]) -> Program:
        path = self.folder / f"{config['node']}.json"
        path.write_text(json.dumps(config))
        return Program(config["node"], [PROGRAM, path], self.folder / f"{config['node']}.log")


def wait_for(programs: Sequence[Program], kind: str, count: int = 1) -> None:
    assert wait_until(programs, lambda: all(len(program.of(kind)) >= count for program in programs), TIMEOUT_S), kind


def calibration() -> dict[str, Any]:
    return dict(json.loads(subprocess.check_output([PROGRAM, "--calibrate"])))


def trial(lab: Lab, publisher: dict[str, Any], others: Sequence[dict[str, Any]], rounds: int = 1) -> dict[str, Any]:
    """Run nodes from match to close; `closed` events by node."""
    programs = [lab.start(config) for config in (*others, publisher)]
    try:
        wait_for(programs, "ready")
        readers = {stream["id"]: 0 for stream in publisher["streams"]}
        for config in others:
            for stream in config["streams"]:
                readers[stream["id"]] += 1
        readers |= {stream["id"] + RETURN: 1 for stream in publisher["streams"] if stream.get("echo")}
        assert wait_until(programs, lambda: _matched(programs[-1], readers), TIMEOUT_S), "no match"
        for number in range(rounds):
            programs[-1].send({"command": "start", "round": number, "at_ns": time.monotonic_ns() + 50_000_000})
            wait_for(programs[-1:], "finished", number + 1)
        time.sleep(0.2)
        for program in programs:
            program.send({"command": "stop"})
        assert wait_until(programs, lambda: all(p.of("closed") for p in programs), TIMEOUT_S, expect_end=True)
        closed = {program.name: program.of("closed")[0] for program in programs}
    finally:
        codes = [program.end(TIMEOUT_S) for program in programs]
    assert codes == [0] * len(programs)
    return closed


def _matched(publisher: Program, readers: dict[int, int]) -> bool:
    counts = {event["stream"]: event["count"] for event in publisher.of("matched")}
    return all(counts.get(stream, 0) >= count for stream, count in readers.items())


class Peer:
    """An end of the example transport in Python: reads and writes one topic's bytes as they stand on the wire."""

    def __init__(self, lab: Lab, one: dict[str, Any]) -> None:
        self.port = lab.port
        self.type, self.codec = one["type"], one["codec"] if one["type"] else "opaque"
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", lab.port))
        self.socket.settimeout(TIMEOUT_S)

    def close(self) -> None:
        self.socket.close()

    def prefix(self, kind: int, topic: str) -> bytes:
        value = 2166136261
        for letter in f"{topic}\n{self.type}\n{self.codec}".encode():
            value = (value ^ letter) * 16777619 & 0xFFFFFFFF
        return struct.pack("<3sBI", b"CSU", kind, value)

    def hello(self, topic: str) -> None:
        """Let the node's writer of the topic match us. It has the port after ours."""
        self.socket.sendto(self.prefix(1, topic), ("127.0.0.1", self.port + 1))

    def receive(self, topic: str) -> bytes:
        wanted, deadline = self.prefix(3, topic), time.monotonic() + TIMEOUT_S
        while time.monotonic() < deadline:
            datagram = self.socket.recv(65536)
            if datagram.startswith(wanted):
                return datagram[8:]
        raise TimeoutError(topic)

    def send(self, topic: str, payload: bytes) -> None:
        self.socket.sendto(self.prefix(3, topic) + payload, ("127.0.0.1", self.port + 1))
