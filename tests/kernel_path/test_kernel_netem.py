"""The kernel's netem as the laboratory configures it, run in Debian's User-Mode Linux."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import uml
from scipy.stats import binomtest

from comseclab.plan.links import PROFILES
from comseclab.testbed.profile import LinkProfile

MEASURE = Path(__file__).with_name("measure_links.py")
SIZE = 958  # UDP payload of a frame of 1000 B
COUNT = 1000
NAMES = ("ethernet", "wifi", "wifi-2018", "loss-60", "duplicate-1", "corrupt-10")
Measured = dict[str, Any]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Measured]:
    """All profiles in one boot."""
    folder = tmp_path_factory.mktemp("guest")
    jobs = [
        {"profile": PROFILES[name].model_dump(), "count": COUNT, "interval_us": 1000, "size": SIZE} for name in NAMES
    ]
    (folder / "jobs.json").write_text(json.dumps(jobs))
    text = uml.run([sys.executable, str(MEASURE), "/run/shared/jobs.json"], folder, timeout_s=150)
    return dict(zip(NAMES, json.loads(text), strict=True))


def qdiscs(result: Measured, host: str) -> list[dict[str, Any]]:
    """The options of the netems that frames from a host pass."""
    return [
        qdisc["options"]
        for qdisc in sorted(result["qdiscs"], key=lambda qdisc: qdisc["dev"])
        if qdisc["kind"] == "netem" and qdisc["dev"].endswith(host)
    ]


def share(options: dict[str, Any], name: str, field: str) -> float:
    return float(options.get(name, {field: 0})[field])


@pytest.mark.parametrize("host", ["robot", "station"])
@pytest.mark.parametrize("name", NAMES)
def test_netem_holds_what_the_profile_says(measured: dict[str, Measured], name: str, host: str) -> None:
    profile = PROFILES[name]
    stages = qdiscs(measured[name], host)
    assert len(stages) == (2 if profile.jitter == "reorder" else 1)
    first, last = stages[0], stages[-1]
    assert first["limit"] == last["limit"] == profile.queue_limit()
    assert last["rate"]["rate"] == profile.rate_bps // 8
    assert ("rate" in first) == (profile.jitter == "fifo")
    tick = 1.1e-6  # netem is told delays in units of 64 ns, and tc shows whole microseconds, rounded down
    assert share(first, "delay", "delay") == pytest.approx(profile.delay_ns / 1e9, abs=tick)
    assert share(first, "delay", "jitter") == pytest.approx(profile.jitter_ns / 1e9, abs=tick)
    for field, configured in (("loss-random", profile.loss), ("duplicate", profile.duplicate)):
        assert share(first, field, field.split("-")[0]) == pytest.approx(configured, abs=1e-6)
    assert share(first, "corrupt", "corrupt") == pytest.approx(profile.corrupt, abs=1e-6)


def lost(profile: LinkProfile) -> float:
    """A flipped bit loses the datagram to a checksum or an address, unless it is in the sender's hardware address."""
    frame = SIZE + 42
    return 1 - (1 - profile.loss) * (1 - profile.corrupt * (1 - 6 / frame))


EXPECTED: dict[str, Callable[[LinkProfile], float]] = {"lost": lost, "duplicated": lambda profile: profile.duplicate}


@pytest.mark.parametrize("direction", [0, 1])
@pytest.mark.parametrize("name", NAMES)
def test_frames_are_lost_and_duplicated_once_per_direction(
    measured: dict[str, Measured], name: str, direction: int
) -> None:
    result = measured[name]["directions"][direction]
    probes = [probe for probe, _ in result["delays_ns"]]
    assert result["sent"] == COUNT
    counts = {"lost": COUNT - len(set(probes)), "duplicated": len(probes) - len(set(probes))}
    for event, expected in EXPECTED.items():
        # Of 24 such intervals, all hold in 99 % of the runs.
        interval = binomtest(counts[event], COUNT).proportion_ci(1 - 0.01 / 24, method="exact")
        assert interval.low <= expected(PROFILES[name]) <= interval.high, (event, counts)


@pytest.mark.parametrize("direction", [0, 1])
@pytest.mark.parametrize("name", NAMES)
def test_frames_take_at_least_the_configured_time(measured: dict[str, Measured], name: str, direction: int) -> None:
    """Undelayed frames count as zero, so the mean of a normal delay cut there is above the configured one."""
    profile = PROFILES[name]
    delays = [delay for _, delay in measured[name]["directions"][direction]["delays_ns"]]
    assert min(delays) > 0
    assert sum(delays) / len(delays) > profile.delay_ns
