"""A host of the testbed: a network namespace that runs programs and counts what crosses its interface."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from comseclab.results.record import HostCounters
from comseclab.testbed.namespaces import inside
from comseclab.testbed.program import Daemon, Program

LISTENING = "0A"
"""TCP_LISTEN in /proc/net/tcp, proc(5)."""


@dataclass(frozen=True)
class Host:
    """One machine of the testbed."""

    name: str
    namespace: Path
    address: str
    interface: str
    folder: Path
    """For the host's own files; it ends with the trial."""

    def start(self, name: str, argv: Sequence[str | Path], log: Path, cpus: Sequence[int] = ()) -> Program:
        """Start a program on this host, on these CPUs (none given: any), its standard error in `log`."""
        with inside(self.namespace), pinned(cpus):
            return Program(name, argv, log)

    def start_daemon(self, name: str, argv: Sequence[str | Path], log: Path, environment: Mapping[str, str]) -> Daemon:
        """Start a program that is not the laboratory's on this host; all it writes goes to `log`."""
        with inside(self.namespace):
            return Daemon(name, argv, log, environment)

    def listening(self) -> set[int]:
        """The TCP ports something on this host listens on."""
        with inside(self.namespace):
            tables = [table.read_text() for table in Path("/proc/thread-self/net").glob("tcp*")]
        fields = (line.split() for table in tables for line in table.splitlines())
        return {int(field[1].rpartition(":")[2], 16) for field in fields if field[3] == LISTENING}

    def write(self, name: str, text: str) -> Path:
        """Put a file on the host."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / name
        path.write_text(text)
        return path

    def counters(self) -> HostCounters:
        """What has crossed the interface since the host was made; bytes are those of whole frames."""
        with inside(self.namespace):
            lines = Path("/proc/thread-self/net/dev").read_text().splitlines()
        values = next(line for line in lines if line.strip().startswith(f"{self.interface}:")).split(":")[1].split()
        return HostCounters(
            rx_bytes=int(values[0]), rx_frames=int(values[1]), tx_bytes=int(values[8]), tx_frames=int(values[9])
        )


@contextmanager
def pinned(cpus: Sequence[int]) -> Iterator[None]:
    """Have the calling thread on these CPUs for the block; programs it starts are there from their first step."""
    if not cpus:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
