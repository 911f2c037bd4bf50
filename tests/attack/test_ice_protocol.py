"""Requests made by hand are those that Ice 3.7 itself writes; whatever comes back is read or refused."""

from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as some

from comseclab.attack import icep, icestorm
from comseclab.attack.icep import Identity

# As nodes of the laboratory and IceStorm wrote them on a testbed.
RETRIEVE = bytes.fromhex(
    "49636550010001000000400000000100" "00000c546f7069634d616e6167657208"
    "49636553746f726d0008726574726965" "766501000c0000000101052f7363616e"
)  # fmt: skip
TOPIC = bytes.fromhex(
    "49636550010001000200510000000200" "0000003e00000001010b746f7069632e"
    "2f7363616e0849636553746f726d0000" "00010001010101001900000001010931"
    "302e37372e302e311027000060ea0000" "00"
)  # fmt: skip
NO_TOPIC = bytes.fromhex(
    "49636550010001000200380000000100" "00000125000000010120173a3a496365"
    "53746f726d3a3a4e6f53756368546f70" "6963052f7363616e"
)  # fmt: skip
SUBSCRIBER = bytes.fromhex(
    "01301273746174696f6e2d7375627363" "72696265720000000100010101010019"
    "00000001010931302e37372e302e326f" "9a000060ea000000"
)  # fmt: skip
VALIDATE = bytes.fromhex("496365500100010003000e000000")


def test_request_is_what_ice_writes_but_for_its_mode() -> None:
    made = icep.request(1, Identity("TopicManager", "IceStorm"), "retrieve", icep.string("/scan"), idempotent=True)
    mode = made.index(b"retrieve") + len(b"retrieve")
    assert made[mode] == 2  # Ice itself still writes 1, "nonmutating", for operations so marked
    assert made[:mode] + b"\1" + made[mode + 1 :] == RETRIEVE
    assert icep.message(icep.VALIDATE) == VALIDATE


def test_proxy_is_what_ice_writes() -> None:
    made = icep.proxy(Identity("0", "station-subscriber"), icep.TCP, "10.77.0.2", 39535)
    assert made == SUBSCRIBER
    assert icep.take_identity(SUBSCRIBER)[0] == Identity("0", "station-subscriber")


def test_replies_of_icestorm_are_read() -> None:
    topic = icep.reply(TOPIC)
    assert topic.status == "ok"
    assert str(icep.take_identity(topic.results)[0]) == "IceStorm/topic./scan"
    assert icep.reply(NO_TOPIC).status == "user exception"
    with pytest.raises(ValueError, match="no reply"):
        icep.reply(RETRIEVE)


def test_an_exception_names_no_publisher() -> None:
    assert icestorm.publisher([icep.reply(TOPIC)]) == Identity("topic./scan", "IceStorm")
    assert icestorm.publisher([icep.reply(NO_TOPIC)]) is None
    assert icestorm.publisher(None) is None


def test_renumbered_request_keeps_the_rest() -> None:
    made = icep.renumbered(RETRIEVE, b"\7\0\0\0")
    assert icep.number_of(made) == b"\7\0\0\0"
    assert made == RETRIEVE[:14] + b"\7\0\0\0" + RETRIEVE[18:]
    assert str(icep.target_of(made)) == "IceStorm/TopicManager"


@given(some.lists(some.tuples(some.text(max_size=300), some.text(max_size=20)), max_size=5), some.data())
def test_identities_are_read_whole_or_refused(names: list[tuple[str, str]], data: some.DataObject) -> None:
    identities = [Identity(name, category) for name, category in names]
    encoded = icep.size(len(identities)) + b"".join(one.encoded for one in identities)
    assert icep.take_identities(encoded) == identities
    if identities:
        cut = data.draw(some.integers(0, len(encoded) - 1))
        with pytest.raises(ValueError, match="ends within"):
            icep.take_identities(encoded[:cut])


@pytest.mark.parametrize("read", [icep.reply, icep.target_of, icep.take_identities, icep.take_identity])
@given(some.one_of(some.binary(max_size=80), some.binary(max_size=40).map(lambda rest: TOPIC[:9] + rest)))
def test_foreign_bytes_are_refused(read: Callable[[bytes], object], data: bytes) -> None:
    with suppress(ValueError):
        read(data)
