"""What stands behind a stranger's call: who does not answer in time has refused nothing."""

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from attack.scenes import scene_on
from comseclab.attack import icep, icestorm
from comseclab.attack.dialect import dialect_of
from comseclab.attack.icep import Identity
from comseclab.attack.icestorm import Call
from comseclab.errors import LabError
from comseclab.testbed.host import Host

NOBODY = Host("attacker", Path("/proc/self/ns/net"), "10.77.0.3", "lo", Path())
GREETING = icep.message(icep.VALIDATE)
REPLY = icep.message(icep.REPLY, bytes(5) + icep.encapsulation(b"done"))
CALL = Call(Identity("topic./scan", "IceStorm"), "destroy")
Serve = Callable[[socket.socket], None]


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., tuple[Any, list[str]]]]:
    """Asks a server on the loopback that does with each connection what it is told; the replies and notes."""
    monkeypatch.setattr(icestorm, "WAIT_S", 0.1)
    monkeypatch.setattr(icestorm, "ANSWER_S", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def asked(serve: Serve, context: ssl.SSLContext | None = None) -> tuple[Any, list[str]]:
            def accept() -> None:
                with listener.accept()[0] as peer:
                    serve(peer)
                    peer.settimeout(1.0)

            monkeypatch.setattr(icestorm, "_ways", lambda _: iter([("so", context)]))
            notes: list[str] = []
            scene: Any = SimpleNamespace(
                connect=lambda address, port, timeout_s: socket.create_connection((address, port), timeout_s),
                say=lambda connection, content: connection.sendall(content), note=notes.append,
            )  # fmt: skip
            thread = threading.Thread(target=accept)
            thread.start()
            try:
                return icestorm.ask(scene, *listener.getsockname(), [CALL]), notes
            finally:
                thread.join()

        yield asked


def hears_out(peer: socket.socket) -> None:
    """Says nothing until the other side goes."""
    while peer.recv(1000):
        pass


def late(peer: socket.socket) -> None:
    time.sleep(0.2)
    peer.sendall(GREETING)
    peer.recv(1000)
    peer.sendall(REPLY)


def silent_then_answers(peer: socket.socket) -> None:
    peer.recv(1000)
    peer.sendall(REPLY)


@pytest.mark.parametrize("context", [None, ssl._create_unverified_context()], ids=["clear", "TLS"])
def test_who_never_answers_has_not_refused(ask: Any, context: ssl.SSLContext | None) -> None:
    with pytest.raises(LabError, match="no answer in"):
        ask(hears_out, context)


@pytest.mark.parametrize("serve", [late, silent_then_answers])
def test_a_greeting_may_come_late_or_not_at_all(ask: Any, serve: Serve) -> None:
    replies, notes = ask(serve)
    assert [(one.status, one.results) for one in replies] == [("ok", b"done")]
    assert notes[0].endswith("destroy: ok")


@pytest.mark.parametrize("context", [None, ssl._create_unverified_context()], ids=["clear", "TLS"])
def test_who_hangs_up_has_refused(ask: Any, context: ssl.SSLContext | None) -> None:
    replies, notes = ask(lambda peer: peer.shutdown(socket.SHUT_RDWR), context)
    assert replies is None
    assert "refused" in notes[0]


def test_what_fails_apart_fails_the_trial_until_the_attack_ends(tmp_path: Path) -> None:
    scene, path = scene_on({"attacker": NOBODY}, tmp_path / "injected.hex")
    failed: Any = path
    failed.failure, done = None, threading.Event()

    def fail() -> None:
        done.wait(5)
        raise TimeoutError("nobody answers")

    done.set()
    scene.apart(fail)
    until = time.monotonic() + 5
    while failed.failure is None and time.monotonic() < until:
        time.sleep(0.01)
    assert str(failed.failure) == "nobody answers"

    failed.failure = None
    done.clear()
    before = threading.active_count()
    scene.apart(fail)
    scene.end()
    done.set()
    while threading.active_count() > before and time.monotonic() < until:
        time.sleep(0.01)
    assert failed.failure is None


def test_without_a_handshake_on_the_path_nothing_is_reflected(tmp_path: Path) -> None:
    scene, _ = scene_on({"attacker": NOBODY}, tmp_path / "injected.hex", dialect_of("zenoh"))
    scene.dialect.reflect(scene)
    assert scene.budget.frames == 0
    assert scene.notes[-1].endswith("no QUIC handshake was seen, nothing was sent")
