"""The stack's own programs beside the nodes of a trial: a master, a broker."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from comseclab.middleware.base import Service
from comseclab.testbed.host import Host
from comseclab.testbed.program import Daemon, ProgramFailedError, wait_until
from comseclab.trial.usage import Watched, family

READY_TIMEOUT_S = 15.0
POLL_S = 0.05
STOP_TIMEOUT_S = 5.0


class Services:
    """Start them before the nodes, stop them after."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self.programs: list[Daemon] = []
        self._started: list[Watched] = []

    @property
    def watched(self) -> list[Watched]:
        """All processes that the services are now: some, as roscore, are several."""
        return [process for service in self._started for process in family(service)]

    def start(self, hosts: Mapping[str, Host], services: Sequence[Service]) -> None:
        """Start all, each once the one before it is ready. Raises ProgramFailedError."""
        for service in services:
            host = hosts[service.host]
            if taken := set(service.ports) & host.listening():
                raise ProgramFailedError(f"{service.name} cannot start: {_named(taken)} is in use on {host.name}")
            log = self._log / f"{service.name}.log"
            program = host.start_daemon(service.name, service.argv, log, service.environment)
            self.programs.append(program)
            self._started.append(Watched(service.name, service.host, program.pid))
            self._wait_ready(host, service)

    def _wait_ready(self, host: Host, service: Service) -> None:
        deadline = time.monotonic() + READY_TIMEOUT_S
        while closed := set(service.ports) - host.listening():
            if time.monotonic() > deadline:
                raise ProgramFailedError(f"{service.name} did not open {_named(closed)} in {READY_TIMEOUT_S:g} s")
            wait_until(self.programs, lambda: False, POLL_S)

    def stop(self) -> None:
        """End all, the last one first."""
        for program in reversed(self.programs):
            program.end(STOP_TIMEOUT_S)


def _named(ports: set[int]) -> str:
    return f"port {', '.join(map(str, sorted(ports)))}"
