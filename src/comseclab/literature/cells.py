"""Which rows of a run are cells of a study."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from comseclab.literature.evidence import FromTrials
from comseclab.literature.study import Configuration, Key, Network, Study
from comseclab.report.arms import Arm, every_arm
from comseclab.report.run import RunData

FACTORS = ("middleware", "reliability", "protection", "link", "workload", "settings")
"""Those that make a cell."""
SETTLED_S = 20.0
"""A shorter round does not show how an overloaded cell stays: a full queue of the laboratory's links holds 2 s."""


@dataclass(frozen=True)
class Cells:
    """A study and, by cell, what a run measured."""

    study: Study
    arms: Mapping[Key, Arm]
    round_s: float = math.inf

    @property
    def unsettled(self) -> dict[Key, float]:
        """The overloaded cells, where rounds are too short to show how these stay, each with the share of its messages
        that the link has no rate for."""
        if self.round_s >= SETTLED_S:
            return {}
        return {key: _lacking(arm) for key, arm in self.arms.items() if arm.row.trials and unable(arm) == "overload"}

    @property
    def evidence(self) -> FromTrials:
        """What the trials say of the cells."""
        return FromTrials(self.arms, self.unsettled)

    @property
    def configurations(self) -> list[Configuration]:
        """The study's, then those of today that the run has."""
        return [*self.study.configurations, *(one for one in self.study.today if self._has(0, one.id))]

    @property
    def networks(self) -> list[Network]:
        """The study's, then those with today's frames that the run has."""
        return [*self.study.networks, *(one for one in self.study.mtu_1500 if self._has(1, one.id))]

    def _has(self, place: int, name: str) -> bool:
        return any(key[place] == name for key in self.arms)

    def measured(self, key: Key) -> Arm | None:
        """What a valid trial stands behind."""
        arm = self.arms.get(key)
        return arm if arm and arm.row.trials else None

    def name(self, key: Key) -> str:
        """`Laser scan, Fast DDS reliable, WiFi`."""
        configuration = next(one for one in (*self.study.configurations, *self.study.today) if one.id == key[0])
        network = next(one for one in (*self.study.networks, *self.study.mtu_1500) if one.id == key[1])
        return f"{self.study.sensor(key[2]).name}, {configuration.name}, {network.name}"


def unable(arm: Arm) -> str:
    """Why the cell could not carry its stream; empty where it could.

    `overload`: the stream is more than the link's rate, or trials could not send it as fast as it comes. `refused`: the
    stack took no message at all, such as ones above its limit. `no connection`: there was nobody to take one.
    """
    row = arm.row
    if row.sent and row.not_taken == row.sent:
        return "no connection" if any(text.startswith("no connection") for text in row.outcomes) else "refused"
    signs = ("overload", "back-pressure", "publishing is blocked")
    return "overload" if _lacking(arm) > 0 or any(text.startswith(signs) for text in row.outcomes) else ""


def _lacking(arm: Arm) -> float:
    """The share of the offered bytes that the link has no rate for."""
    link_bps, offered_bps = arm.row.link.get("rate_bps"), 8 * arm.row.max_size * (arm.row.offered_hz or 0)
    return max(0.0, 1 - link_bps / offered_bps) if link_bps and offered_bps else 0.0


def find(study: Study, data: RunData) -> Cells:
    """The cells of `study` among the rows of a run; other rows stay out."""
    factors = dict(_factors(study))
    found: dict[Key, Arm] = {}
    for arm in every_arm(data.panels):
        row = arm.row.factors
        ours = tuple(row[name] for name in FACTORS)
        as_published = row["codec"] == "ros1" and row["pattern"] == "stream"
        if as_published and ours in factors:
            found[factors[ours]] = arm
    measured = {key: found[key] for key in factors.values() if key in found}
    return Cells(study, measured, min((spec.round_s for spec in data.specs), default=math.inf))


def _factors(study: Study) -> Iterator[tuple[tuple[str, ...], Key]]:
    for sensor in study.sensors:
        for one in (*study.configurations, *study.today):
            for network in (*study.networks, *study.mtu_1500):
                level = (one.middleware, one.reliability, one.protection, network.link, sensor.id, one.settings)
                yield level, (one.id, network.id, sensor.id)
