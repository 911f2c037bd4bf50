"""What a result depends on besides the plan: the machine, its kernel and its versions."""

import json
import os
import platform
import subprocess
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from comseclab.errors import LabError

SYSCTLS = (
    "net/core/rmem_max", "net/core/wmem_max", "net/core/rmem_default", "net/core/wmem_default",
    "net/core/netdev_max_backlog", "kernel/sched_rt_runtime_us", "kernel/sched_rt_period_us",
)  # fmt: skip
LIBRARIES = ("comseclab", "rosbags", "cryptography", "numpy", "scipy", "pyarrow")


def read_line(path: str) -> str | None:
    """The first line of a file in /proc or /sys, or None where the kernel has none."""
    try:
        return Path(path).read_text().splitlines()[0].strip()
    except (OSError, IndexError):
        return None


def describe(middleware_versions: dict[str, str | None], native: Path) -> dict[str, Any]:
    """A JSON object: machine, kernel, clock, versions, sysctls. Holds no host name and no user name."""
    names = _cpu()
    return {
        "machine": {
            "cpu": names["model name"],
            "cpus": os.cpu_count(),
            "usable_cpus": sorted(os.sched_getaffinity(0)),
            "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
            "virtualised": "hypervisor" in names.get("flags", ""),
            "governor": read_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            "clock_source": read_line("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        },
        "system": {"kernel": platform.release(), "distribution": platform.freedesktop_os_release().get("PRETTY_NAME")},
        "root": os.geteuid() == 0,
        "clock": calibration(native),
        "middleware": middleware_versions,
        "libraries": {"python": platform.python_version()} | {name: metadata.version(name) for name in LIBRARIES},
        "sysctls": {name.replace("/", "."): read_line(f"/proc/sys/{name}") for name in SYSCTLS},
        "load_before": os.getloadavg()[0],
    }


def check_unchanged(saved: Mapping[str, Any], middleware_versions: Mapping[str, str | None]) -> None:
    """Raises LabError where what a run began with, its `environment.json`, is not what is here: trials would not match.

    Of it these count: CPU, kernel, and the versions of the stacks.
    """
    then = {"CPU": saved["machine"]["cpu"], "kernel": saved["system"]["kernel"], **saved["middleware"]}
    now = {"CPU": _cpu()["model name"], "kernel": platform.release(), **middleware_versions}
    for what in then.keys() & now.keys():
        if then[what] != now[what]:
            cause = f"the run began with {what} {then[what]}, and here is {now[what]}"
            raise LabError(cause, "begin a new run, or go on where it began")


def _cpu() -> dict[str, str]:
    """What the kernel says of the first CPU; with a model name in any case."""
    first = Path("/proc/cpuinfo").read_text().split("\n\n")[0]
    pairs = (line.split(":", 1) for line in first.splitlines() if ":" in line)
    return {"model name": platform.machine()} | {key.strip(): value.strip() for key, value in pairs}


def calibration(native: Path) -> dict[str, Any]:
    """The clock the nodes use and what reading it costs, as `comseclab-node --calibrate` prints it."""
    done = subprocess.run([native / "comseclab-node", "--calibrate"], capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))
