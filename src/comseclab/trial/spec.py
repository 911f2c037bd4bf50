"""TrialSpec: all that goes into a trial. It is JSON, and nothing else crosses into the trial's process."""

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from comseclab.testbed.profile import LinkProfile


class Spec(BaseModel):
    model_config = ConfigDict(extra="forbid")


class StreamSpec(Spec):
    """One topic from one writer's host to readers on one or more hosts."""

    id: int
    topic: str = Field(description='ROS name, "/scan"')
    type: str = Field(description='ROS 2 type, "sensor_msgs/msg/LaserScan"; "" for an opaque payload')
    writer_host: str
    reader_hosts: list[str] = Field(description="one entry a reader; a host may stand more than once")
    spool: Path = Field(description="the messages to send, see docs/formats.md")
    spool_sha256: str
    messages: int = Field(description="messages a round")
    source: str = Field(
        "", description="where the messages come from, with a recording's SHA-256, for the reader of results"
    )
    max_size: int = Field(description="largest message in the codec of the trial, bytes")
    rate_hz: float


class Factors(Spec):
    """One level of every factor: what makes a case."""

    middleware: str
    reliability: Literal["best-effort", "reliable"]
    protection: str
    link: str
    workload: str
    codec: Literal["cdr", "ros1"]
    pattern: Literal["stream", "echo"]
    settings: str

    def id(self) -> str:
        """A name fit for a folder."""
        return "_".join(str(level).replace("/", "-") for level in self.model_dump().values())


class ProtectionSpec(Spec):
    """A protection level: a built-in one, or one made of the user's own documents."""

    name: str
    base: str = Field(description="the built-in protection whose claims and proof hold")
    keystore: Path | None = None
    governance: Path | None = None
    permissions: dict[str, Path] = Field(default_factory=dict, description="per host")


class OwnProtection(Spec):
    """A protection of a transport of the user's own: settings that are added, and whether the payload is hidden."""

    settings: dict[str, Any] = Field(default_factory=dict)
    hides: bool = True


class OwnTransport(Spec):
    """A shared library of the user's own and the settings its open() gets, see comseclab.middleware.own."""

    library: Path
    settings: dict[str, Any] = Field(default_factory=dict)
    protections: dict[str, OwnProtection] = Field(default_factory=dict)


class Scheduling(Spec):
    """Where and how the processes of a trial run; None: not pinned, ordinary scheduling."""

    node_cpus: dict[str, list[int]] = Field(
        default_factory=dict, description="per host; empty: alternate over the CPUs"
    )
    switch_cpu: int | None = None
    node_fifo_priority: int | None = None
    switch_fifo_priority: int | None = 20
    lock_memory: bool = True


class TrialSpec(Spec):
    """A trial: one run of a case."""

    version: Literal[1] = 1
    number: int
    pair: int
    factors: Factors
    hosts: list[str]
    link: LinkProfile
    backend: Literal["kernel", "switch", "none"]
    protection: ProtectionSpec
    streams: list[StreamSpec]
    types: dict[str, Any] = Field(description="type descriptions, see docs/formats.md")
    settings: dict[str, dict[str, Any]] = Field(default_factory=dict, description="per middleware, from the plan")
    own_transport: OwnTransport | None = Field(None, description="the middleware's, where the plan brings it")
    scheduling: Scheduling = Scheduling()
    seed: int
    nonce: str = Field(pattern="^[0-9a-f]{16}$")
    rounds: int = 1
    pause_s: float = 0.0
    round_s: float = Field(description="sending time of one round")
    drain_s: float = 1.0
    match_timeout_s: float = 15.0
    probes: int = 100
    capture: Literal["proof", "full"] = "proof"
    native: Path = Field(description="folder of the built native programs")
