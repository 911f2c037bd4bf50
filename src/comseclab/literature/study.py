"""A published study as data: its cells, its figures, its conclusions. One TOML file beside this one each."""

import tomllib
from functools import cached_property
from importlib import resources
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from comseclab.errors import LabError
from comseclab.plan.schema import nearest

Key = tuple[str, str, str]
"""A cell of the study: configuration, network, sensor, by id."""


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Source(Part):
    authors: str
    title: str
    journal: str
    volume: int
    year: int
    pages: str
    doi: str


class Setup(Part):
    """What the study measured on, in words."""

    cpu: str
    backend: str
    clock: str
    messages: str
    versions: str
    system: str


class Sensor(Part):
    id: str
    name: str
    samples: int = Field(description="messages of the study's recording, one minute")
    size: str
    table: int = Field(description="its table of latencies in the study")
    figure: int | None = Field(None, description="its figure over all networks in the study")


class Network(Part):
    id: str
    name: str
    link: str = Field(description="our link profile")
    parameters: str
    figure: int | None = Field(None, description="its figure of latencies in the study")
    delay_ms: float = 0.0
    sd_ms: float = 0.0
    rate_mbps: float = 0.0
    loss: float = 0.0


class Configuration(Part):
    """What the study calls a communication solution, with the factors that make it here."""

    id: str
    name: str
    short: str = Field(description="for charts")
    middleware: str
    reliability: Literal["best-effort", "reliable"]
    protection: str
    settings: str = "default"


class Conclusion(Part):
    """What the study concluded, in our words, and the criterion that decides it."""

    id: str
    says: str
    section: str
    criterion: str


class Difference(Part):
    """Something in the set-up that differs from the study's and may explain cells; empty lists mean all."""

    id: str
    text: str
    quantity: list[Literal["latency", "loss"]] = ["latency", "loss"]
    direction: list[Literal["more", "less"]] = ["more", "less"]
    configurations: list[str] = []
    networks: list[str] = []
    sensors: list[str] = []


class Published(Part):
    """One cell as printed. Latency of the messages that arrived, ns; None where they print N/A."""

    mean_ns: float | None
    sd_ns: float | None
    loss: float = Field(ge=0, le=1)


class Study(Part):
    """A study's TOML file."""

    id: str
    source: Source
    setup: Setup
    sensors: list[Sensor]
    networks: list[Network]
    configurations: list[Configuration]
    today: list[Configuration] = Field([], description="what stands beside the study's on request")
    mtu_1500: list[Network] = Field([], description="its networks with frames of today's size, on request")
    latency_us: dict[str, dict[str, list[list[float]]]]
    loss_percent: dict[str, dict[str, list[float]]]
    conclusions: list[Conclusion] = []
    differences: list[Difference] = []

    @model_validator(mode="after")
    def _tables_are_whole(self) -> Self:
        rows = {configuration.id for configuration in self.configurations}
        for name, tables in (("latency_us", self.latency_us), ("loss_percent", self.loss_percent)):
            if set(tables) != {sensor.id for sensor in self.sensors}:
                raise ValueError(f"{name} needs one table a sensor")
            for sensor, table in tables.items():
                if set(table) != rows or any(len(row) != len(self.networks) for row in table.values()):
                    raise ValueError(f"{name}.{sensor} needs a figure for every configuration and network")
        return self

    @cached_property
    def published(self) -> dict[Key, Published]:
        """Every cell, in the order of the study's tables."""
        return {
            (configuration.id, network.id, sensor.id): _published(
                self.latency_us[sensor.id][configuration.id][place],
                self.loss_percent[sensor.id][configuration.id][place],
            )
            for sensor in self.sensors
            for configuration in self.configurations
            for place, network in enumerate(self.networks)
        }

    def configuration(self, name: str) -> Configuration:
        """By id."""
        return next(one for one in self.configurations if one.id == name)

    def network(self, name: str) -> Network:
        """By id."""
        return next(one for one in self.networks if one.id == name)

    def sensor(self, name: str) -> Sensor:
        """By id."""
        return next(one for one in self.sensors if one.id == name)


def _published(latency_us: list[float], loss_percent: float) -> Published:
    mean, sd = (value * 1e3 for value in latency_us) if latency_us else (None, None)
    return Published(mean_ns=mean, sd_ns=sd, loss=loss_percent / 100)


def known() -> list[str]:
    """The studies that can be reproduced, by id."""
    folder = resources.files("comseclab.literature")
    return sorted(one.name.removesuffix(".toml") for one in folder.iterdir() if one.name.endswith(".toml"))


def load(name: str) -> Study:
    """A study by its id. Raises LabError, naming the nearest known one, when there is none."""
    if name not in known():
        raise LabError(f'no study "{name}"; {nearest(name, known())}')
    text = (resources.files("comseclab.literature") / f"{name}.toml").read_text(encoding="utf-8")
    content: dict[str, Any] = tomllib.loads(text)
    return Study.model_validate(content)
