"""A stranger who speaks Zenoh in clear to the subscriber's own port: to who lets him in, and to who hangs up."""

import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from attack.scenes import scene_on
from comseclab.attack import fence, forged
from comseclab.attack.dialect import dialect_of
from comseclab.attack.dialects import zenoh_session as session
from comseclab.attack.dialects.zenoh import FORGED, READER_PORT
from comseclab.attack.scene import Scene
from comseclab.testbed.host import Host

HOSTS = {
    name: Host(name, Path("/proc/self/ns/net"), address, "lo", Path())
    for name, address in {"station": "10.77.0.2", "attacker": "10.77.0.3"}.items()
}
INIT_ACK = bytes((session.INIT | 0xE0, 9, 0x01)) + b"z" + b"\x0a\xff\xff" + b"\x03own" + b"\x01"
OPEN_ACK = bytes((session.OPEN | 0x60, 10, 0))
MESSAGE = b"\x3d\x00\x04scan\x01\x06forged"
ALERT = b"\x15\x03\x03\x00\x02\x02\x32"
"""decode_error: what a server of TLS says to who speaks none."""
Serve = Callable[[socket.socket], bytes]
Forge = Callable[[Serve], tuple[Scene, bytes]]


@pytest.fixture
def forge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Forge]:
    """Has the subscriber's port served by a function on the loopback; the scene, and what the function was told."""
    monkeypatch.setattr(fence, "check_testbed", lambda: None)
    monkeypatch.setattr(forged, "from_spool", lambda *_: b"forged")
    scene, _ = scene_on(HOSTS, tmp_path / "injected.hex", dialect_of("zenoh"), "mtls")
    asked, heard = [], []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def connect(address: str, port: int, timeout_s: float) -> socket.socket:
            asked.append((address, port))
            return socket.create_connection(listener.getsockname(), timeout_s)

        def served(serve: Serve) -> tuple[Scene, bytes]:
            def accept() -> None:
                with listener.accept()[0] as peer:
                    heard.append(serve(peer))
                scene.ended.set()

            thread = threading.Thread(target=accept)
            thread.start()
            scene.dialect.forge(scene)
            thread.join()
            assert asked == [("10.77.0.2", READER_PORT)]
            return scene, heard[0]

        monkeypatch.setattr(scene, "connect", connect)
        monkeypatch.setattr(scene, "apart", lambda work, *arguments: work(*arguments))
        yield served


def test_who_opens_a_session_in_clear_is_told_forged_messages(forge: Forge) -> None:
    expected = b"".join(session.batch(bytes((0x25, number)) + MESSAGE) for number in range(FORGED))

    def lets_in(peer: socket.socket) -> bytes:
        peer.sendall(session.batch(INIT_ACK) + session.batch(OPEN_ACK))
        said = b""
        while not said.endswith(expected) and (more := peer.recv(4096)):
            said += more
        return said

    scene, said = forge(lets_in)
    _init, opened, *messages = session.batches(said)
    assert session.first_number(opened) == 0
    assert b"".join(map(session.batch, messages)) == expected
    assert f"{FORGED} forged messages said" in scene.notes[-1]


def test_who_hangs_up_has_been_asked(forge: Forge) -> None:
    def refuses(peer: socket.socket) -> bytes:
        said = peer.recv(4096)
        peer.sendall(ALERT)
        return said

    scene, said = forge(refuses)
    assert len([*session.batches(said)]) == 1
    assert f"10.77.0.2:{READER_PORT}: it says" in scene.notes[-1]
    assert scene.budget.frames == 1
