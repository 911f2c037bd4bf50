"""TrialRecord: what a trial leaves beside its samples. `record.json` in the trial's folder."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Record(BaseModel):
    model_config = ConfigDict(extra="forbid")


class LinkMeasured(Record):
    """One direction of a path, as the probes before the trial found it."""

    sender: str
    receiver: str
    sent: int
    received: int
    duplicated: int
    reordered: int
    delay_ns: dict[str, float] = Field(description="mean, sd, min, p50, p90, p99, max")


class HostCounters(Record):
    """What crossed one host's interface while messages flowed (from first send to end of drain)."""

    tx_bytes: int
    tx_frames: int
    rx_bytes: int
    rx_frames: int


SWITCH_HOST = "switch"
"""The host to which the emulated link and the capture are counted: the laboratory's own, not the stack's."""


class ProcessUse(Record):
    """CPU time of one process while messages flowed, and its memory at the end."""

    name: str
    host: str
    user_s: float
    system_s: float
    pss_bytes: int
    run_delay_s: float = Field(description="time runnable but not running")
    cpus: list[int]


class WireProof(Record):
    """What the capture showed of the protection."""

    frames: int
    sentinel_seen: bool
    sentinel_expected: bool
    kinds: dict[str, int] = Field(description="RTPS submessages, TLS records ... by name")
    contradictions: list[str] = Field(description="each way in which the wire contradicts the protection")


class StreamRecord(Record):
    """Counts of one stream that need no samples."""

    id: int
    topic: str
    readers: int
    matched: int
    sent: int
    refused: int = Field(0, description="publish calls the middleware did not take")
    match_ns: int | None = Field(
        None, description="from the last node open to all ends matched: discovery and handshake"
    )


class TrialRecord(Record):
    """A closed trial."""

    version: Literal[1] = 1
    number: int
    case: str
    pair: int
    status: Literal["valid", "invalid"]
    reasons: list[str] = Field(description="why invalid; the lab's failures only")
    outcomes: list[str] = Field(default_factory=list, description="overload, no connection ...: findings, not failures")
    started_at: str
    window_s: float = Field(description="from first send to end of drain")
    streams: list[StreamRecord]
    links: list[LinkMeasured] = Field(default_factory=list)
    counters: dict[str, HostCounters] = Field(default_factory=dict, description="per host")
    processes: list[ProcessUse] = Field(default_factory=list)
    proof: WireProof | None = None
    switch: dict[str, Any] = Field(default_factory=dict, description="the switch's own counters and send error")
    transport: dict[str, Any] = Field(default_factory=dict, description="name, version, copies, statistics by node")
    steal_s: float = 0.0
    sysctls: dict[str, str] = Field(default_factory=dict)
