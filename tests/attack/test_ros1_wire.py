"""TCPROS, UDPROS and their headers, as the attacker takes them apart and puts them together."""

import struct
from contextlib import suppress
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as any_of

from comseclab.attack.dialect import dialect_of
from comseclab.attack.dialects.ros1 import content, whole
from comseclab.attack.dialects.ros1_publisher import datagrams, fields, header_of
from comseclab.attack.frame import Frame, udp_frame
from comseclab.trial.spec import Factors

HARDWARE = "02:00:0a:4d:00:01", "02:00:0a:4d:00:02"
NAMES = any_of.from_regex(r"\A[a-z_]{1,12}\Z")


def _frames(parts: list[bytes]) -> list[Frame]:
    return [Frame(0, udp_frame(HARDWARE, ("10.77.0.1", 4000), ("10.77.0.2", 5000), part)) for part in parts]


def _message(size: int) -> bytes:
    return struct.pack("<I", size) + bytes(number % 251 for number in range(size))


@given(any_of.integers(1, 9000), any_of.integers(100, 1500))
def test_datagrams_make_up_the_message_again(size: int, largest: int) -> None:
    parts = datagrams(_message(size), 7, 3, largest)
    assert all(len(part) <= largest for part in parts)
    assert [content(message) for message in whole(_frames(parts))] == [_message(size)]


def test_first_datagram_says_how_many_and_the_others_their_number() -> None:
    heads = [struct.unpack_from("<IBBH", part) for part in datagrams(_message(4000), 7, 255, 1500)]
    assert heads == [(7, 0, 255, 3), (7, 1, 255, 1), (7, 1, 255, 2)]


def test_message_that_lacks_a_datagram_is_not_whole() -> None:
    first, second = datagrams(_message(4000), 7, 1, 1500), datagrams(_message(4000), 7, 2, 1500)
    assert [content(message) for message in whole(_frames([*first[:2], *second]))] == [_message(4000)]


@given(any_of.dictionaries(NAMES, any_of.text(max_size=40).filter(lambda text: "\0" not in text)))
def test_header_comes_apart_as_it_was_put_together(said: dict[str, str]) -> None:
    assert fields(header_of(said)) == said


@given(any_of.binary(max_size=60))
def test_what_is_no_header_is_refused_or_read(noise: bytes) -> None:
    with suppress(ValueError):
        assert set(header_of(fields(noise))) <= {*noise, ord("=")}


def test_header_that_is_cut_off_is_refused() -> None:
    with pytest.raises(ValueError, match="cut off"):
        fields(header_of({"topic": "/scan"})[:-1])


@pytest.mark.parametrize(("reliability", "refused"), [("reliable", False), ("best-effort", True)])
def test_only_tcpros_has_a_connection_to_reset(reliability: Literal["reliable", "best-effort"], refused: bool) -> None:
    factors = Factors(
        middleware="ros1", reliability=reliability, protection="none", link="", workload="", codec="cdr",
        pattern="stream", settings="default",
    )  # fmt: skip
    dialect = dialect_of("ros1")
    assert (dialect.refuse("silence-reset", factors) is not None) == refused
    assert dialect.refuse("silence-update", factors) is None
    assert dialect.refuse("master-hijack", factors) is None
    assert dialect.refuse("silence-gap", factors) is not None
