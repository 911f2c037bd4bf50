"""The link as it is, measured by one-way UDP probes before the nodes start."""

import json
import math
import statistics
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from comseclab.results.record import LinkMeasured
from comseclab.testbed.host import Host
from comseclab.testbed.program import ProgramFailedError
from comseclab.trial.spec import TrialSpec

INTERVAL_US = 2000
SIZE = 64
"""Bytes of payload: small, so that the rate of the link hardly adds to its delay."""
SLACK_S = 10.0
"""Given to the probes beyond their sending time and four times the link's longest usual delay."""


def paths(spec: TrialSpec) -> list[tuple[str, str]]:
    """Each pair of hosts that a stream joins, once; a host alone is paired with itself."""
    found = {
        tuple(sorted((stream.writer_host, reader), key=spec.hosts.index))
        for stream in spec.streams
        for reader in stream.reader_hosts
    }
    return [(one, other) for one, other in sorted(found)]


def probe(spec: TrialSpec, hosts: Mapping[str, Host], log: Path) -> list[LinkMeasured]:
    """Measure both directions of every path. Raises ProgramFailedError when the probe fails."""
    return [measured for one, other in paths(spec) for measured in _probe(spec, hosts[one], hosts[other], log)]


def _probe(spec: TrialSpec, one: Host, other: Host, log: Path) -> list[LinkMeasured]:
    argv: list[str | Path] = [
        spec.native / "comseclab-probe",
        "--from", one.namespace, "--from-address", one.address,
        "--to", other.namespace, "--to-address", other.address,
        "--count", str(spec.probes), "--interval-us", str(INTERVAL_US), "--size", str(SIZE),
    ]  # fmt: skip
    longest_s = 4 * (spec.link.delay_ns + 4 * spec.link.jitter_ns) / 1e9
    timeout_s = SLACK_S + spec.probes * INTERVAL_US / 1e6 + longest_s
    try:
        with log.open("ab") as errors:
            done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=errors, timeout=timeout_s, check=True)
        found = json.loads(done.stdout)["directions"]
    except (OSError, subprocess.SubprocessError, ValueError, KeyError) as error:
        raise ProgramFailedError(f"the probes of the link failed: {error}") from error
    ends = {"from": (one.name, other.name), "to": (other.name, one.name)}
    return [_measured(*ends[direction["sender"]], direction) for direction in found]


def _measured(sender: str, receiver: str, direction: Mapping[str, Any]) -> LinkMeasured:
    return LinkMeasured(
        sender=sender,
        receiver=receiver,
        sent=direction["sent"],
        received=direction["received"],
        duplicated=direction["duplicated"],
        reordered=direction["reordered"],
        delay_ns=summary(direction["delays_ns"]),
    )


def summary(delays_ns: list[float]) -> dict[str, float]:
    """Mean, sample standard deviation and quantiles (the smallest delay not exceeded by that share); {} for none."""
    if not delays_ns:
        return {}
    ordered = sorted(delays_ns)

    def quantile(share: float) -> float:
        return float(ordered[max(0, math.ceil(share * len(ordered)) - 1)])

    return {
        "mean": statistics.fmean(ordered),
        "sd": statistics.stdev(ordered) if len(ordered) > 1 else 0.0,
        "min": float(ordered[0]),
        "p50": quantile(0.50),
        "p90": quantile(0.90),
        "p99": quantile(0.99),
        "max": float(ordered[-1]),
    }
