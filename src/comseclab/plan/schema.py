"""The schema of a plan file. Units stand in the keys; paths are relative to the plan's folder."""

import json
import os
import re
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, model_validator
from pydantic_core import PydanticCustomError

from comseclab.testbed.network import HOST_NAME


def _named_well(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.-]*", value):
        raise PydanticCustomError("name", "should be a name of letters, digits, dots and hyphens")
    return value


def _hosts(names: list[str]) -> list[str]:
    for name in names:
        if not HOST_NAME.fullmatch(name):
            told = "host {name} should be up to 10 small letters, digits and hyphens, a letter first"
            raise PydanticCustomError("host", told, {"name": json.dumps(name)})
    if len(set(names)) < len(names):
        raise PydanticCustomError("host", "each host should be named once")
    return names


Name = Annotated[str, AfterValidator(_named_well)]
Share = Annotated[float, Field(ge=0, le=1)]
Sensor = Literal["scan", "image", "points"]


def nearest(name: str, known: list[str]) -> str:
    """A hint for a name nobody knows: the nearest known one, else all of them."""
    close = get_close_matches(name, known, 1) or [one for one in known if name and one.startswith(name)]
    return f'did you mean "{close[0]}"?' if close else f"known: {', '.join(known)}"


def _user_path(value: object, info: ValidationInfo) -> Path:
    if not isinstance(value, str | Path):
        raise PydanticCustomError("path", "should be a path, as a string")
    path = Path((info.context or {}).get("folder", "."), os.path.expanduser(value))
    try:
        there = path.exists()
    except OSError as error:
        told = {"path": str(path), "reason": error.strerror}
        raise PydanticCustomError("path", "{path} cannot be used: {reason}", told) from None
    if not there:
        raise PydanticCustomError("path", "{path} does not exist", {"path": str(path)})
    return path.resolve()


def _one_or_more(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _distinct(value: list[str]) -> list[str]:
    if not value:
        raise PydanticCustomError("levels", "should name at least one level")
    return list(dict.fromkeys(value))


def _beside_the_plan(value: Any, info: ValidationInfo) -> Any:
    """An option of a middleware that names a file in the plan's folder, as an absolute path; others as they are."""
    if isinstance(value, str) and Path(value).suffix:
        path = Path((info.context or {}).get("folder", ".")) / value
        return str(path.resolve()) if os.path.isfile(path) else value
    return value


UserPath = Annotated[Path, BeforeValidator(_user_path)]
Levels = Annotated[list[str], BeforeValidator(_one_or_more), AfterValidator(_distinct)]


class Table(BaseModel):
    """A table of the plan: unknown keys are refused, and the nearest known one is named."""

    model_config = ConfigDict(extra="forbid", strict=True, populate_by_name=True, allow_inf_nan=False)
    not_written: ClassVar[tuple[str, ...]] = ()
    """Fields that a plan file spells another way."""

    @model_validator(mode="before")
    @classmethod
    def _known_keys_only(cls, data: Any) -> Any:
        known = {field.alias or name for name, field in cls.model_fields.items()} | set(cls.model_fields)
        for key in data if isinstance(data, dict) else ():
            if key not in known:
                listed = [
                    field.alias or name for name, field in cls.model_fields.items() if name not in cls.not_written
                ]
                raise PydanticCustomError("unknown_key", "{text}", {"text": f'no key "{key}"; {nearest(key, listed)}'})
        return data


class About(Table):
    name: Name
    description: str = ""
    seed: int = Field(1, ge=0)
    duration_s: float = Field(3.0, gt=0, le=3600, description="sending time of a round")
    rounds: int = Field(1, ge=1, le=1000)
    pause_s: float = Field(0.0, ge=0, le=3600, description="between rounds")
    drain_s: float = Field(1.0, ge=0, le=600, description="how long late messages are waited for")
    capture: Literal["proof", "full"] = Field("proof", description="frames kept of each trial: the first, or all")


class Comparison(Table):
    factor: Literal["middleware", "reliability", "protection", "link", "workload", "codec", "pattern", "settings"] = (
        "protection"
    )
    baseline: str = "none"
    tolerance: float = Field(0.10, gt=0, le=10, description="ratios within [1/(1+t), 1+t] are equivalent")


class Stop(Table):
    min_pairs: int = Field(5, ge=1)
    max_pairs: int = Field(30, ge=1, le=10_000)
    precision: float = Field(0.10, gt=0, description="half width, relative, at which a ratio is known well enough")

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.max_pairs < self.min_pairs:
            raise PydanticCustomError("order", "max_pairs is below min_pairs")
        return self


class Deadline(Table):
    latency_ms: float = Field(gt=0)
    max_miss: Share = Field(0.01, description="share of messages that may miss it, lost ones included")


class Matrix(Table):
    """Levels by factor; None: those of [factors]."""

    middleware: Levels | None = None
    reliability: Levels | None = None
    protection: Levels | None = None
    link: Levels | None = None
    workload: Levels | None = None
    codec: Levels | None = None
    pattern: Levels | None = None
    settings: Levels | None = None


class DefaultLevels(Matrix):
    middleware: Levels = ["fastdds"]
    reliability: Levels = ["best-effort"]
    protection: Levels = ["none"]
    link: Levels = ["localhost"]
    workload: Levels = ["scan"]
    codec: Levels = ["cdr"]
    pattern: Levels = ["stream"]
    settings: Levels = ["default"]


MOST_HOSTS = 254
"""The testbed is one network of 24 bits; its first and last address are no host's."""


class Hosts(Table):
    names: Annotated[list[str], AfterValidator(_hosts)] = Field(
        ["robot", "station"], min_length=1, max_length=MOST_HOSTS
    )


class Link(Table):
    """A profile of one's own: what is not given is as in `base`."""

    base: str = "direct"
    rate_mbps: float | None = Field(None, ge=0, le=1e6)
    mtu: int | None = Field(None, ge=576, le=65535)
    delay_ms: float | None = Field(None, ge=0, le=3.6e6)
    delay_sd_ms: float | None = Field(None, ge=0, le=3.6e6)
    distribution: Literal["normal", "uniform"] | None = None
    jitter: Literal["fifo", "reorder"] | None = None
    loss: Share | None = None
    corrupt: Share | None = None
    duplicate: Share | None = None
    reorder: Share | None = None
    limit_frames: int | None = Field(None, ge=0, lt=1 << 32)


class Stream(Table):
    """One topic: a synthetic sensor, a topic of a recording, or opaque bytes."""

    sensor: Sensor | None = None
    recording: UserPath | None = None
    topic: str | None = Field(None, description="of the recording; of other streams: the one to publish on")
    publish_as: str | None = Field(None, description="for a recording's topic: another name on the wire")
    opaque_bytes: int | None = Field(None, le=256 << 20)
    rate_hz: float | None = Field(None, gt=0, le=1e6, description="instead of the sensor's or the recording's times")
    writer: str = Field("robot", alias="from")
    readers: list[str] = Field(["station"], alias="to", min_length=1, description="a host twice: two readers there")

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        given = [key for key in ("sensor", "recording", "opaque_bytes") if getattr(self, key) is not None]
        if len(given) != 1:
            raise PydanticCustomError("source", "needs exactly one of sensor, recording, opaque_bytes")
        if self.recording and not self.topic:
            raise PydanticCustomError("source", "a recording needs the topic to take from it")
        if self.publish_as and not self.recording:
            raise PydanticCustomError("source", "publish_as goes with recording; use topic")
        if self.opaque_bytes is not None and not self.rate_hz:
            raise PydanticCustomError("source", "opaque_bytes needs rate_hz")
        return self


class Workload(Table):
    streams: list[Stream] = Field(min_length=1)


class Protection(Table):
    """A built-in protection with documents of one's own."""

    base: str
    keystore: UserPath | None = None
    governance: UserPath | None = None
    permissions: dict[str, UserPath] = {}


class Settings(Table):
    """Scheduling as in comseclab.trial.spec.Scheduling, the link's MTU, and a table of options per middleware."""

    not_written = ("middleware",)

    node_cpus: dict[str, list[int]] | None = None
    switch_cpu: int | None = Field(None, ge=0)
    node_fifo_priority: int | None = Field(None, ge=1, le=99)
    switch_fifo_priority: int | None = Field(None, ge=1, le=99)
    lock_memory: bool | None = None
    mtu: int | None = Field(None, ge=576, le=65535, description="instead of the link's")
    middleware: dict[str, dict[str, Annotated[Any, AfterValidator(_beside_the_plan)]]] = Field(
        {}, description="written as [settings.NAME.MIDDLEWARE]"
    )

    @model_validator(mode="before")
    @classmethod
    def _collect_middleware(cls, data: Any) -> Any:
        if not isinstance(data, dict) or "middleware" in data:
            return data
        tables = {key: value for key, value in data.items() if isinstance(value, dict) and key not in cls.model_fields}
        return {**{key: value for key, value in data.items() if key not in tables}, "middleware": tables}


class TransportProtection(Table):
    """A protection of a middleware of the user's own."""

    settings: dict[str, Any] = Field({}, description="added to the transport's")
    hides: bool = Field(True, description="whether the payload must not show on the wire")


class Transport(Table):
    """A middleware of the user's own, see docs/transports.md."""

    library: UserPath
    settings: dict[str, Any] = {}
    protections: dict[Name, TransportProtection] = {}


class AttackPlan(Table):
    """What `comseclab attack` does with the plan's configurations."""

    attacks: Levels = Field(["all"], description="names of attacks, or all")
    repetitions: int = Field(3, ge=1, le=100, description="trials of each cell, and of each control")
    workload: str = Field("scan", description="the messages that are attacked: the first stream of this workload")
    require: Annotated[list[str], BeforeValidator(_one_or_more)] = Field(
        [], description="attacks that every protected configuration must stop; else the exit code is 1"
    )


class Backend(Table):
    link: Literal["auto", "kernel", "switch"] = "auto"


class Plan(Table):
    """A whole plan file."""

    plan: About
    comparison: Comparison = Comparison()
    stop: Stop = Stop()
    deadline: Deadline | None = None
    factors: DefaultLevels = DefaultLevels()
    matrix: list[Matrix] = Field([Matrix()], min_length=1)
    hosts: Hosts = Hosts()
    links: dict[Name, Link] = {}
    workloads: dict[Name, Workload] = {}
    protections: dict[Name, Protection] = {}
    settings: dict[Name, Settings] = {}
    transports: dict[Name, Transport] = {}
    attack: AttackPlan = AttackPlan()
    backend: Backend = Backend()
