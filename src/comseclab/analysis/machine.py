"""What trials' records tell beside the samples: CPU, memory, wire, handshake, links. Means over a case's trials."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from comseclab.analysis.charts import LinkPoint
from comseclab.results.record import LinkMeasured, TrialRecord


@dataclass(frozen=True)
class Wire:
    """What all hosts together sent for each message of the trial; None where nothing was sent or counted."""

    bytes_per_message: float | None
    frames_per_message: float | None


def wire(records: Sequence[TrialRecord]) -> Wire:
    """Frames and their bytes over messages, of all streams together: counters do not tell streams apart."""
    messages = sum(stream.sent for record in records for stream in record.streams)
    hosts = [counters for record in records for counters in record.counters.values()]
    if not messages or not hosts:
        return Wire(None, None)
    return Wire(sum(host.tx_bytes for host in hosts) / messages, sum(host.tx_frames for host in hosts) / messages)


def handshake_ns(records: Sequence[TrialRecord], stream: int) -> float | None:
    """Median time to discover and match; None where no trial matched."""
    times = [found.match_ns for record in records for found in record.streams if found.id == stream]
    known = [time for time in times if time is not None]
    return float(median(known)) if known else None


def cpu_by_process(records: Sequence[TrialRecord]) -> dict[str, float]:
    """User and system time over the window, by "host/process"; a process missing from a trial was idle in it."""
    measured = _measured(records)
    return _mean_sums(
        ((f"{process.host}/{process.name}", (process.user_s + process.system_s) / record.window_s)
         for record in measured for process in record.processes),
        len(measured),
    )  # fmt: skip


def cpu_by_host(records: Sequence[TrialRecord]) -> dict[str, float]:
    """User and system time over the window, of all processes of a host."""
    return _mean_sums(((name.split("/")[0], share) for name, share in cpu_by_process(records).items()), 1)


def pss_by_host(records: Sequence[TrialRecord]) -> dict[str, float]:
    """Proportional set size, bytes, of all processes of a host."""
    measured = _measured(records)
    memory = ((process.host, float(process.pss_bytes)) for record in measured for process in record.processes)
    return _mean_sums(memory, len(measured))


def _measured(records: Sequence[TrialRecord]) -> list[TrialRecord]:
    """Those whose processes were looked at: a trial that never connected has no window, and no use to average."""
    return [record for record in records if record.window_s > 0]


def links(records: Sequence[TrialRecord]) -> list[LinkPoint]:
    """Each direction of each path as its probes found it: counts summed, delays averaged."""
    directions: dict[tuple[str, str], list[LinkMeasured]] = {}
    for record in records:
        for link in record.links:
            directions.setdefault((link.sender, link.receiver), []).append(link)
    return [_link(found) for found in directions.values()]


def _link(found: Sequence[LinkMeasured]) -> LinkPoint:
    measured = [link.delay_ns for link in found if link.delay_ns]
    names = [name for name in (measured[0] if measured else {}) if all(name in delay for delay in measured)]
    return LinkPoint(
        sender=found[0].sender,
        receiver=found[0].receiver,
        sent=sum(link.sent for link in found),
        received=sum(link.received for link in found),
        duplicated=sum(link.duplicated for link in found),
        reordered=sum(link.reordered for link in found),
        delay_ns={name: fmean(delay[name] for delay in measured) for name in names},
    )


def _mean_sums(parts: Iterable[tuple[str, float]], count: int) -> dict[str, float]:
    sums: dict[str, float] = {}
    for name, value in parts:
        sums[name] = sums.get(name, 0.0) + value / count
    return sums
