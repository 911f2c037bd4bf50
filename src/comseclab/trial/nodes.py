"""Which nodes a trial has, where they run, and what each is told."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from comseclab.errors import LabError
from comseclab.middleware.base import Middleware, Place
from comseclab.testbed.host import Host
from comseclab.testbed.program import Program
from comseclab.trial.spec import StreamSpec, TrialSpec

RETURN = 10000
"""Added to a stream's id on the way back of `echo`, whose topic has /echo appended."""


@dataclass
class Node:
    """A publisher holds all streams its host writes; the n-th reader on a host, each stream's n-th there."""

    name: str
    host: Host
    role: str
    cpus: list[int]
    streams: list[tuple[StreamSpec, int]] = field(default_factory=list)
    """With the number of the reader within the stream."""
    program: Program | None = None

    @property
    def records(self) -> Path:
        return self.host.folder / f"{self.name}-records"


def place_nodes(spec: TrialSpec, hosts: Mapping[str, Host]) -> list[Node]:
    """All nodes of a trial, publishers first. Raises LabError for an echo with several readers."""
    nodes: dict[str, Node] = {}

    def on(host: str, role: str, name: str) -> Node:
        return nodes.setdefault(name, Node(name, hosts[host], role, []))

    echo = spec.factors.pattern == "echo"
    for stream in spec.streams:
        if echo and len(stream.reader_hosts) > 1:
            raise LabError(f"stream {stream.topic} has several readers: their echoes cannot be told apart", "use one")
        on(stream.writer_host, "publisher", f"{stream.writer_host}-publisher").streams.append((stream, 0))
    reading = "echo" if echo else "subscriber"
    for stream in spec.streams:
        for number, host in enumerate(stream.reader_hosts):
            copy = stream.reader_hosts[:number].count(host)
            name = f"{host}-{reading}" + (f"-{copy + 1}" if copy else "")
            on(host, reading, name).streams.append((stream, number))
    _pin(list(nodes.values()), spec)
    return list(nodes.values())


def _pin(nodes: list[Node], spec: TrialSpec) -> None:
    """Give each node a CPU: as the plan says, else in turn, leaving the last to the switch where there are enough."""
    cpus = sorted(os.sched_getaffinity(0))
    shared = cpus[:-1] if len(cpus) > len(nodes) else cpus
    for number, node in enumerate(nodes):
        node.cpus = spec.scheduling.node_cpus.get(node.host.name) or [shared[number % len(shared)]]


def switch_cpu(spec: TrialSpec) -> int:
    """The switch's CPU: as the plan says, else the last."""
    given = spec.scheduling.switch_cpu
    return max(os.sched_getaffinity(0)) if given is None else given


def places(nodes: list[Node], *, echo: bool) -> dict[str, Place]:
    """What a middleware is told of each node, by the node's name."""
    peers = tuple(sorted({node.host.address for node in nodes}))
    return {node.name: _place(node, peers, echo) for node in nodes}


def _place(node: Node, peers: tuple[str, ...], echo: bool) -> Place:
    topics = tuple(stream.topic for stream, _ in node.streams)
    back = tuple(f"{topic}/echo" for topic in topics)
    writes, reads = {"publisher": (topics, back if echo else ()), "subscriber": ((), topics), "echo": (back, topics)}[
        node.role
    ]
    return Place(
        node=node.name,
        host=node.host.name,
        role=node.role,
        address=node.host.address,
        interface=node.host.interface,
        peers=peers,
        writes=writes,
        reads=reads,
    )


def config(
    spec: TrialSpec, node: Node, middleware: Middleware, settings: Mapping[str, Any], clock: Mapping[str, Any],
    *, keep_bytes: int = 0,
) -> str:  # fmt: skip
    """The node's configuration (docs/formats.md), as JSON. `settings` are its transport's."""
    library = spec.native / middleware.library
    if not library.exists():
        raise LabError(f"the transport {library} is missing", "make it with `comseclab build`")
    scheduling = spec.scheduling
    return json.dumps({
        "version": 1,
        "node": node.name,
        "role": node.role,
        "nonce": spec.nonce,
        "clock": clock,
        "cpus": node.cpus,
        "fifo_priority": scheduling.node_fifo_priority,
        "lock_memory": scheduling.lock_memory,
        "rounds": spec.rounds,
        "records": str(node.records),
        "types": spec.types,
        "transports": [
            {"library": str(library), "settings": settings}
        ],
        "streams": [_stream(spec, stream, reader) for stream, reader in node.streams],
        **({"keep_bytes": keep_bytes} if keep_bytes else {}),
    })  # fmt: skip


def _stream(spec: TrialSpec, stream: StreamSpec, reader: int) -> dict[str, Any]:
    return {
        "id": stream.id,
        "transport": 0,
        "topic": stream.topic,
        "type": stream.type,
        "codec": spec.factors.codec if stream.type else "opaque",
        "reliable": spec.factors.reliability == "reliable",
        "max_size": stream.max_size,
        "rate_hz": stream.rate_hz,
        "reader": reader,
        "spool": str(stream.spool.absolute()),
        "messages": stream.messages,
        "readers": len(stream.reader_hosts),
        "echo": spec.factors.pattern == "echo",
    }
