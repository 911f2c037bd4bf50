"""A stack's own programs, by a small real one: ready, dead before and after, a port that is taken, one never opened."""

import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from comseclab.middleware.base import Service
from comseclab.testbed.host import Host
from comseclab.testbed.program import ProgramFailedError, wait_until
from comseclab.trial import services as room
from comseclab.trial.services import Services

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="entering a network namespace needs root")
PATIENCE_S = 30.0
SERVER = "import http.server as h; h.HTTPServer(('127.0.0.1', {port}), h.BaseHTTPRequestHandler).serve_forever()"


@pytest.fixture
def host(tmp_path: Path) -> Host:
    """This very network namespace; only its loopback is used."""
    return Host("robot", Path("/proc/self/ns/net"), "127.0.0.1", "lo", tmp_path)


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    running = Services(tmp_path)
    yield running
    running.stop()


@pytest.fixture
def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def service(code: str, port: int) -> Service:
    return Service("broker", "robot", (sys.executable, "-c", code), (port,))


def test_a_service_is_ready_once_it_listens(host: Host, services: Services, port: int) -> None:
    services.start({"robot": host}, [service(SERVER.format(port=port), port)])
    socket.create_connection(("127.0.0.1", port), PATIENCE_S).close()
    assert [watched.name for watched in services.watched] == ["broker"]


def test_stopping_ends_it(host: Host, services: Services, port: int) -> None:
    services.start({"robot": host}, [service(SERVER.format(port=port), port)])
    services.stop()
    services.programs.clear()
    assert port not in host.listening()


def test_one_that_dies_before_it_is_ready_is_named_with_its_last_words(
    host: Host, services: Services, port: int
) -> None:
    with pytest.raises(ProgramFailedError, match=r"^broker ended with exit code 1; its last words: no licence$"):
        services.start({"robot": host}, [service("raise SystemExit('no licence')", port)])


def test_one_that_dies_later_is_found_out(host: Host, services: Services, port: int) -> None:
    services.start({"robot": host}, [service(SERVER.format(port=port), port)])
    os.kill(services.programs[0].pid, 9)
    with pytest.raises(ProgramFailedError, match=r"^broker was ended by SIGKILL"):
        wait_until(services.programs, lambda: False, PATIENCE_S)


def test_a_port_in_use_is_named_before_anything_starts(host: Host, services: Services) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = int(other.getsockname()[1])
        with pytest.raises(ProgramFailedError, match=f"^broker cannot start: port {port} is in use on robot$"):
            services.start({"robot": host}, [service(SERVER.format(port=port), port)])
    assert not services.programs


def test_one_that_never_listens_is_not_waited_for_forever(
    host: Host, services: Services, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "READY_TIMEOUT_S", 0.5)
    with pytest.raises(ProgramFailedError, match=f"^broker did not open port {port} in 0.5 s$"):
        services.start({"robot": host}, [service("import time; time.sleep(1000)", port)])
