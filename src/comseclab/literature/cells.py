"""Which rows of a run are cells of a study."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from comseclab.literature.study import Configuration, Key, Network, Study
from comseclab.report.arms import Arm, every_arm
from comseclab.report.run import RunData

FACTORS = ("middleware", "reliability", "protection", "link", "workload", "settings")
"""Those that make a cell."""


@dataclass(frozen=True)
class Cells:
    """A study and, by cell, what a run measured."""

    study: Study
    arms: Mapping[Key, Arm]

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
    return Cells(study, {key: found[key] for key in factors.values() if key in found})


def _factors(study: Study) -> Iterator[tuple[tuple[str, ...], Key]]:
    for sensor in study.sensors:
        for one in (*study.configurations, *study.today):
            for network in (*study.networks, *study.mtu_1500):
                level = (one.middleware, one.reliability, one.protection, network.link, sensor.id, one.settings)
                yield level, (one.id, network.id, sensor.id)
