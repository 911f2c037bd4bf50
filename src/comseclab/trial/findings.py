"""What a trial has found so far, and its closing: samples, proof and record."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from pyarrow import parquet

from comseclab.middleware.base import Middleware
from comseclab.results import samples
from comseclab.results.record import HostCounters, LinkMeasured, ProcessUse, StreamRecord, TrialRecord, WireProof
from comseclab.testbed.program import Event
from comseclab.trial import matching, validity
from comseclab.trial.nodes import Node
from comseclab.trial.spec import StreamSpec, TrialSpec

TOO_LARGE = 2
"""COMSECLAB_TOO_LARGE of transport.h, as a send's status."""


@dataclass
class Findings:
    """Filled in as the trial goes; whatever stops the trial, a record can be made of it."""

    reasons: list[str] = field(default_factory=list)
    outcomes: list[str] = field(default_factory=list)
    started_at: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    sysctls: dict[str, str] = field(default_factory=dict)
    links: list[LinkMeasured] = field(default_factory=list)
    opened_ns: int | None = None
    """When the last node had opened its transport."""
    sent: bool = False
    """All rounds and the drain are over."""
    window_s: float = 0.0
    counters: dict[str, HostCounters] = field(default_factory=dict)
    processes: list[ProcessUse] = field(default_factory=list)
    steal_s: float = 0.0
    switch: dict[str, Any] = field(default_factory=dict)


def close(spec: TrialSpec, nodes: Sequence[Node], found: Findings, middleware: Middleware, folder: Path) -> TrialRecord:
    """Write `samples.parquet`, look at the wire, judge, and return the record. Raises OSError when the disk is full."""
    largest = max(stream.max_size for stream in spec.streams)
    found.reasons += validity.judge_switch(spec.link, found.switch, largest)
    sends = _write_samples(spec, nodes, found, folder)
    proof: WireProof | None = None
    if found.sent:
        proof = middleware.prove(folder / "evidence" / "wire.pcapng", spec)
        found.reasons += validity.judge_proof(proof)
    streams = [_stream_record(spec, nodes, found, stream, sends) for stream in spec.streams]
    return TrialRecord(
        number=spec.number,
        case=spec.factors.id(),
        pair=spec.pair,
        status="invalid" if found.reasons else "valid",
        reasons=found.reasons,
        outcomes=found.outcomes,
        started_at=found.started_at,
        window_s=found.window_s,
        streams=streams,
        links=found.links,
        counters=found.counters,
        processes=found.processes,
        proof=proof,
        switch=found.switch,
        transport=_transport(nodes),
        steal_s=found.steal_s,
        sysctls=found.sysctls,
    )


def _write_samples(spec: TrialSpec, nodes: Sequence[Node], found: Findings, folder: Path) -> list[np.ndarray]:
    """Join the nodes' records; returns the sends."""
    # The echo node's own receipts are of the way there; a round trip ends at the publisher.
    receiving = "publisher" if spec.factors.pattern == "echo" else "subscriber"
    sends: list[np.ndarray] = []
    receipts: list[np.ndarray] = []
    try:
        for node in nodes:
            if node.role == "publisher":
                sends.append(samples.read_records(node.records / "sends.bin", samples.SEND))
            if node.role == receiving:
                receipts.append(samples.read_records(node.records / "receipts.bin", samples.RECEIPT))
    except (OSError, ValueError) as error:
        found.reasons.append(f"records are missing: {error}")
    readers: dict[int, Iterable[int]] = {stream.id: range(len(stream.reader_hosts)) for stream in spec.streams}
    part = folder / ".samples.parquet.part"
    parquet.write_table(samples.join(sends, receipts, readers), part, compression="zstd")
    part.rename(folder / "samples.parquet")
    return sends


def _stream_record(
    spec: TrialSpec, nodes: Sequence[Node], found: Findings, stream: StreamSpec, sends: Iterable[np.ndarray]
) -> StreamRecord:
    statuses = [records["status"][records["stream"] == stream.id] for records in sends]
    sent = sum(int((status == 0).sum()) for status in statuses)
    refused = sum(int((status != 0).sum()) for status in statuses)
    too_large = sum(int((status == TOO_LARGE).sum()) for status in statuses)
    expected = stream.messages * spec.rounds
    # A closed loop goes at the pace of its replies; fewer messages than its schedule had are no overload.
    # Neither are records that are missing, since their node has crashed.
    if found.sent and statuses and sent + refused < expected and spec.factors.pattern != "echo":
        found.outcomes.append(f"overload: {sent + refused} of {expected} messages of {stream.topic} were published")
    if too_large:
        found.reasons.append(f"{too_large} messages of {stream.topic} are larger than the middleware carries")
    if refused > too_large:
        found.outcomes.append(f"back-pressure: {refused - too_large} messages of {stream.topic} were refused")
    matched_ns = matching.completed_ns(nodes, stream.id, echo=spec.factors.pattern == "echo")
    return StreamRecord(
        id=stream.id,
        topic=stream.topic,
        readers=len(stream.reader_hosts),
        matched=matching.readers(nodes, stream.id),
        sent=sent,
        refused=refused,
        match_ns=max(0, matched_ns - found.opened_ns) if matched_ns and found.opened_ns else None,
    )


def _transport(nodes: Sequence[Node]) -> dict[str, Any]:
    """What the nodes say of their transport: name, version and copies once, closing and events by node."""
    programs = {node.name: node.program for node in nodes if node.program}
    opened = next((event for program in programs.values() for event in program.of("opened")), {})
    about = _content(opened)
    about["nodes"] = {
        name: {
            "closed": next(map(_content, program.of("closed")), None),
            "events": [_content(event) for event in program.of("transport")],
        }
        for name, program in programs.items()
    }
    return about


def _content(event: Event) -> Event:
    return {key: value for key, value in event.items() if key not in ("event", "read_ns")}
