"""What is read of Zenoh's session protocol and what is said in it, against bytes by hand and against random ones."""

import socket
import struct
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from comseclab.attack.dialects import zenoh_session as session

_COOKIE = bytes(range(50))
_INIT_ACK = bytes((session.INIT | 0xE0, 9, 0x31)) + b"abcd" + b"\x0a\xff\xff" + bytes((50,)) + _COOKIE + b"\x01"
_OPEN_ACK = bytes((session.OPEN | 0x60, 10)) + b"\xac\x02"


@given(st.integers(0, (1 << 63) - 1), st.binary(max_size=9))
def test_a_number_comes_back(value: int, behind: bytes) -> None:
    assert session.take_number(session.number(value) + behind) == (value, behind)


def test_a_number_is_leb128() -> None:
    assert session.number(300) == b"\xac\x02"


@given(st.lists(st.binary(max_size=300)), st.binary(max_size=1))
def test_batches_come_back_without_the_one_that_is_not_whole(contents: list[bytes], cut: bytes) -> None:
    assert list(session.batches(b"".join(map(session.batch, contents)) + cut)) == contents


@given(st.binary(max_size=100))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for read in (session.take_number, session.first_number):
        try:
            read(data)
        except ValueError:
            continue
    at = session.payload_at(data)
    assert at is None or 0 < at < len(data)


def test_the_payload_stands_behind_its_length() -> None:
    head = b"\x25\x07\x3d\x01\x41\x05"
    payload = bytes(range(200)) * 2
    assert session.payload_at(head + session.number(len(payload)) + payload) == len(head) + 2


def test_a_key_gets_the_number_it_has_in_another_session() -> None:
    frame = bytes((0x25,)) + session.number(70_000)
    assert session.renamed(frame + b"\x9d\x02\x21\x1drest", 300) == frame + b"\x9d\xac\x02\x21\x1drest"
    for other in (frame + b"\xfd\x02\x21\x1drest", frame + b"\x1e\x02", b"\x04", b""):
        assert session.renamed(other, 300) == other


def test_a_message_says_its_key_itself() -> None:
    said = session.put(300, "scan", b"payload")
    (content,) = session.batches(said)
    assert content == b"\x25\xac\x02" + b"\x3d\x00\x04scan" + b"\x01\x07payload"
    assert session.payload_at(content) == len(content) - len(b"payload")


def test_the_number_of_a_key_is_heard() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        token = b"\x42\x02\x00\x2b@x/scan"
        theirs.sendall(session.batch(b"\x04") + session.batch(b"\xa5\x01\x9e\x21\x08\x20\x07\x00\x04scan" + token))
        assert session.number_of_key(ours, "scan") == 7


def test_a_session_is_opened_with_the_cookie_and_the_number_wanted() -> None:
    heard, said = _answered(_INIT_ACK, _OPEN_ACK, 12345)
    assert heard is None
    syn, opened = session.batches(said)
    assert syn[:3] == bytes((0xC1, 9, 0xF1))
    assert len(syn) == 3 + 16 + 3 + 1
    assert session.first_number(opened) == 12345
    assert opened.endswith(bytes((50,)) + _COOKIE)


@pytest.mark.parametrize(
    "answers", [(b"\x03\x00", _OPEN_ACK), (_INIT_ACK, b"\x03\x00"), (b"", b"")], ids=["init", "open", "empty"]
)
def test_an_answer_that_refuses_is_an_error(answers: tuple[bytes, bytes]) -> None:
    heard, _ = _answered(*answers, 1)
    assert isinstance(heard, ValueError)


def test_a_connection_that_ends_is_an_error() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(struct.pack("<H", 40) + b"short")
        theirs.shutdown(socket.SHUT_WR)
        with pytest.raises(ConnectionError):
            session.open_session(ours, ours.sendall, 1)


def _answered(init: bytes, opened: bytes, first: int) -> tuple[Exception | None, bytes]:
    """What became of opening a session with a node that answers so, and what was said to it."""
    ours, theirs = socket.socketpair()
    found: list[Exception] = []

    def open_it() -> None:
        try:
            session.open_session(ours, ours.sendall, first)
        except (OSError, ValueError) as error:
            found.append(error)
        ours.shutdown(socket.SHUT_WR)

    with ours, theirs:
        theirs.sendall(session.batch(init) + session.batch(opened))
        opener = threading.Thread(target=open_it)
        opener.start()
        said = b"".join(iter(lambda: theirs.recv(4096), b""))
        opener.join()
    return (found[0] if found else None), said
