"""What processes and the machine used between two moments: CPU time, waiting for a CPU, memory, stolen time."""

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from comseclab.results.record import ProcessUse

TICK_S = 1 / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Watched:
    """A process of the trial."""

    name: str
    host: str
    pid: int


@dataclass(frozen=True)
class Times:
    """What one process has used since it began, seconds."""

    user_s: float
    system_s: float
    run_s: float
    """User and system as the scheduler counts them, exact to the nanosecond; of the threads that still live."""
    run_delay_s: float


@dataclass(frozen=True)
class MachineTimes:
    """What the whole machine has used since it began, seconds, summed over the CPUs."""

    at_s: float
    """When this was read, CLOCK_MONOTONIC."""
    programs_s: float
    """In programs and in the kernel on their behalf; interrupts are not in it."""
    steal_s: float


def times(pid: int) -> Times:
    """Read a process's times. Raises OSError when it has gone."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    run_ns = delay_ns = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):  # a thread may end meanwhile
            run, delay, _ = (task / "schedstat").read_text().split()
            run_ns, delay_ns = run_ns + int(run), delay_ns + int(delay)
    return Times(int(fields[11]) * TICK_S, int(fields[12]) * TICK_S, run_ns / 1e9, delay_ns / 1e9)


def family(process: Watched) -> list[Watched]:
    """The process and all that descend from it and live now; these are named after it and their program."""
    found = [process]
    for pid in _children(process.pid):
        with suppress(OSError):  # it may end meanwhile
            program = Path(f"/proc/{pid}/comm").read_text().strip()
            found += family(Watched(f"{process.name}/{program}", process.host, pid))
    return found


def _children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


def machine_times() -> MachineTimes:
    """Read /proc/stat (proc(5))."""
    fields = [int(field) * TICK_S for field in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    user, nice, system, steal = fields[0], fields[1], fields[2], fields[7]
    return MachineTimes(time.monotonic(), user + nice + system, steal)


def use(process: Watched, before: Times) -> ProcessUse:
    """What the process used since `before`, and its memory and CPUs now. Raises OSError when it has gone."""
    after = times(process.pid)
    user, system = after.user_s - before.user_s, after.system_s - before.system_s
    # Ticks of 10 ms are coarse: they give the split, the scheduler the sum, unless threads have ended with their share.
    total = max(after.run_s - before.run_s, user + system - 2 * TICK_S, 0.0)
    user_share = user / (user + system) if user + system else 1.0
    return ProcessUse(
        name=process.name,
        host=process.host,
        user_s=total * user_share,
        system_s=total * (1 - user_share),
        pss_bytes=_pss(process.pid),
        run_delay_s=max(0.0, after.run_delay_s - before.run_delay_s),
        cpus=sorted(os.sched_getaffinity(process.pid)),
    )


def _pss(pid: int) -> int:
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) << 10
    return 0


def foreign_share(before: MachineTimes, after: MachineTimes, ours: Sequence[ProcessUse]) -> float:
    """CPU taken by programs that are not the trial's, as a share of one core."""
    own = sum(process.user_s + process.system_s for process in ours)
    return max(0.0, after.programs_s - before.programs_s - own) / (after.at_s - before.at_s)
