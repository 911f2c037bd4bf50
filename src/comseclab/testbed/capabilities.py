"""What this machine can do for the laboratory, as plain data."""

import os
import resource
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

WANTED_BUFFER = 4 << 20
"""Socket buffers the transports ask for, bytes: with less, bursts of a large message overrun the receiver."""


@dataclass(frozen=True)
class Capability:
    """One thing a machine can or cannot do; `remedy` is how to get it."""

    name: str
    available: bool
    found: str
    remedy: str


def unshare_argv() -> list[str]:
    """The command that gives an own network namespace: as root directly, else inside a user namespace."""
    return ["unshare", *(() if os.geteuid() == 0 else ("--user", "--map-root-user")), "--net"]


def capabilities() -> list[Capability]:
    """All of them, in the order a reader wants them."""
    return [
        namespaces(),
        Capability(
            "root",
            os.geteuid() == 0,
            f"user {os.geteuid()}",
            "not needed; run with sudo for SCHED_FIFO and locked memory",
        ),
        _programs(),
        kernel_netem(),
        _fifo(),
        _locked_memory(),
        _buffer("rmem_max"),
        _buffer("wmem_max"),
        _clock_source(),
        _tsc(),
        _governor(),
        _cores(),
    ]


def _try(script: str) -> subprocess.CompletedProcess[str] | None:
    """Run a shell script in a network namespace that ends with it; None where there is no unshare."""
    try:
        return subprocess.run([*unshare_argv(), "sh", "-ec", script], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None


@cache
def namespaces() -> Capability:
    """Whether a trial can have namespaces of its own."""
    done = _try("true")
    worked = done is not None and done.returncode == 0
    found = ("as root" if os.geteuid() == 0 else "in a user namespace") if worked else _reason(done)
    remedy = "run as root, or allow user namespaces: sysctl kernel.apparmor_restrict_unprivileged_userns=0"
    return Capability("namespaces", worked, found, remedy)


@cache
def kernel_netem() -> Capability:
    """Whether the kernel has netem, found by using it; without it the user-space switch emulates links."""
    done = _try("tc qdisc add dev lo root netem delay 1ms")
    worked = done is not None and done.returncode == 0
    found = "kernel netem" if worked else f"our own switch instead ({_reason(done)})"
    return Capability("link emulation by the kernel", worked, found, "not needed; a kernel with CONFIG_NET_SCH_NETEM")


def _reason(done: subprocess.CompletedProcess[str] | None) -> str:
    if done is None:
        return "the program unshare is missing"
    lines = done.stderr.strip().splitlines()
    return lines[0] if lines else f"exit code {done.returncode}"


def _programs() -> Capability:
    packages = {"unshare": "util-linux", "ip": "iproute2", "tc": "iproute2"}
    missing = [name for name in packages if shutil.which(name) is None]
    remedy = f"sudo apt-get install {' '.join(sorted({packages[name] for name in missing}))}" if missing else ""
    return Capability(
        "programs", not missing, f"missing: {', '.join(missing)}" if missing else "unshare, ip, tc", remedy
    )


def _fifo() -> Capability:
    allowed = _runs("chrt", "--fifo", "1", "true")
    found = "allowed" if allowed else "not allowed: the switch is later under load"
    return Capability("SCHED_FIFO", allowed, found, "run with sudo, or set rtprio in /etc/security/limits.conf")


def _locked_memory() -> Capability:
    """Nodes lock their memory only without a limit: under one, a later allocation would fail."""
    allowed = _runs("prlimit", "--memlock=unlimited", "true")
    limit = resource.getrlimit(resource.RLIMIT_MEMLOCK)[1]
    found = "without limit" if allowed else f"up to {limit >> 10} KiB only, so not locked"
    return Capability("locked memory", allowed, found, "run with sudo, or set memlock in /etc/security/limits.conf")


def _runs(*command: str) -> bool:
    """Whether a command succeeds; in a child, so that this process keeps its own limits and scheduling."""
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def _buffer(name: str) -> Capability:
    value = int(_read(f"/proc/sys/net/core/{name}") or 0)
    remedy = f"sudo sysctl -w net.core.{name}={WANTED_BUFFER}"
    return Capability(f"socket buffer {name}", value >= WANTED_BUFFER, f"{value} bytes", remedy)


def _clock_source() -> Capability:
    source = _read("/sys/devices/system/clocksource/clocksource0/current_clocksource") or "unknown"
    return Capability("clock source tsc", source == "tsc", source, "not needed; reading the clock costs more")


def _tsc() -> Capability:
    flags = set((_read("/proc/cpuinfo", "flags") or "").split())
    missing = sorted({"constant_tsc", "nonstop_tsc"} - flags)
    found = f"without {', '.join(missing)}: CLOCK_MONOTONIC instead" if missing else "constant_tsc, nonstop_tsc"
    return Capability("invariant TSC", not missing, found, "not needed; a property of the processor")


def _governor() -> Capability:
    governor = _read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    remedy = "sudo cpupower frequency-set --governor performance"
    return Capability("steady CPU frequency", governor in (None, "performance"), governor or "not scaled here", remedy)


def _cores() -> Capability:
    count = len(os.sched_getaffinity(0))
    found = f"{count} CPU{'s' if count > 1 else ''}"
    return Capability("a CPU for each of publisher, subscriber and switch", count >= 3, found, "not needed; they share")


def _read(path: str, key: str = "") -> str | None:
    """A file's first line, or what follows `key` and a colon in it; None where there is none."""
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return None
    return next((line.partition(":")[2] if key else line for line in lines if line.startswith(key)), None)
