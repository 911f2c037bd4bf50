"""Deliveries, told apart by their bytes, and how many of the messages due in a phase came."""

from dataclasses import replace

from comseclab.attack.deliveries import (
    IN_FLIGHT_NS,
    MOST_FALSE,
    Receipt,
    Sent,
    classify,
    false_messages,
    median_age_ns,
    phase,
    stale,
)
from comseclab.attack.spec import Phase

FORGED = "0123456789abcdef"
SENT = {number: Sent(begun_ns=number * 100, payload=b"message %d" % number) for number in range(10)}
DUE = {number: number * 100 for number in range(12)}
"""The last two were never begun."""


def receipt(index: int, arrived_ns: int = 0, payload: bytes | None = None, life: int = 0) -> Receipt:
    return Receipt(index, arrived_ns or index * 100 + 7, SENT[index].payload if payload is None else payload, life)


def test_a_receipt_is_what_its_bytes_say() -> None:
    other_index = receipt(3, payload=SENT[4].payload)
    unknown = Receipt(99, 950, SENT[9].payload)
    forged = [receipt(5, payload=b"x" + FORGED.encode()), Receipt(77, 960, b"y" + bytes.fromhex(FORGED) + b"z")]
    found = classify(SENT, [receipt(1), receipt(2, payload=b"message 2 "), other_index, unknown, *forged], FORGED)
    assert [one.kind for one in found] == ["genuine", "altered", "altered", "forged", "altered", "forged"]


def test_false_messages_are_kept_whole_and_altered_ones_beside_what_was_sent() -> None:
    long, forged = b"message 2 " * 1000, b"x" + FORGED.encode()
    found = classify(
        SENT, [receipt(1), receipt(2, payload=long), Receipt(99, 950, b"?"), receipt(3, 960, forged)], FORGED
    )
    assert false_messages(SENT, found) == [
        "# 2 altered, 0 left out; 1 forged, 0 left out",
        f"207 2 altered {long.hex()}",
        f"200 2 sent {SENT[2].payload.hex()}",
        f"950 99 altered {b'?'.hex()}",
        f"960 3 forged {forged.hex()}",
    ]
    assert false_messages(SENT, found[:1]) == []


def test_so_many_false_messages_are_kept_of_each_kind_and_the_others_counted() -> None:
    altered = [receipt(2, number, b"?") for number in range(1, MOST_FALSE + 4)]
    forged = [receipt(3, number, FORGED.encode()) for number in range(1, MOST_FALSE + 2)]
    first, *lines = false_messages(SENT, classify(SENT, [*altered, *forged], FORGED))
    assert first == f"# {MOST_FALSE + 3} altered, 3 left out; {MOST_FALSE + 1} forged, 1 left out"
    assert [line.split()[2] for line in lines] == ["altered", "sent"] * MOST_FALSE + ["forged"] * MOST_FALSE


def test_without_the_writers_records_only_what_is_forged_can_be_told() -> None:
    found = classify(None, [receipt(1), receipt(2, payload=b"x" + FORGED.encode())], FORGED)
    assert [(one.receipt.index, one.kind) for one in found] == [(2, "forged")]


def test_again_is_what_arrives_later_in_whatever_order_it_was_recorded() -> None:
    found = classify(SENT, [receipt(1, 900), receipt(1, 300), receipt(1, 200, b"altered")], FORGED)
    assert [(one.receipt.arrived_ns, one.kind, one.again) for one in found] == [
        (200, "altered", False),
        (300, "genuine", False),
        (900, "genuine", True),
    ]


def test_a_second_life_gets_old_messages_again_whenever_they_arrive() -> None:
    found = classify(SENT, [receipt(1, 50, life=1), receipt(1, 300)], FORGED)
    assert [(one.receipt.life, one.again) for one in found] == [(0, False), (1, True)]


def test_phases_count_messages_by_when_they_were_due() -> None:
    deliveries = classify(SENT, [receipt(0), receipt(4, 5000), receipt(4, 6000), receipt(6, payload=b"?")], FORGED)
    assert phase(DUE, deliveries, -1, 400) == Phase(sent=4, delivered=1)
    assert phase(DUE, deliveries, 400, 600) == Phase(sent=2, delivered=1)
    assert phase(DUE, deliveries, 600, 1e9) == Phase(sent=6, delivered=0)
    assert phase(DUE, deliveries, 2000, 3000).lost_share == 0


def test_ages_are_of_first_deliveries() -> None:
    deliveries = classify(SENT, [receipt(1, 110), receipt(2, 230), receipt(3, 350), receipt(3, 9000)], FORGED)
    assert median_age_ns(DUE, deliveries, 0, 1000) == 30
    assert median_age_ns(DUE, deliveries, 200, 1000) == 40
    assert median_age_ns(DUE, deliveries, 400, 1000) is None


def test_what_a_writer_sends_late_is_old_in_the_phase_in_which_it_was_due() -> None:
    late = {3: replace(SENT[3], begun_ns=5000)}
    deliveries = classify(late, [receipt(3, 5001)], FORGED)
    assert median_age_ns(DUE, deliveries, 0, 1000) == 4701
    assert phase(DUE, deliveries, 300, 400) == Phase(sent=1, delivered=1)


def test_stale_is_from_before_the_restart_and_not_in_flight() -> None:
    sent = {number: Sent(number * IN_FLIGHT_NS, b"m%d" % number) for number in range(10)}
    receipts = [Receipt(number, 10**9 + number, b"m%d" % number, life=number % 2) for number in range(10)]
    deliveries = classify(sent, receipts, FORGED)
    assert stale(sent, deliveries, 6 * IN_FLIGHT_NS, life=1) == 2  # 1 and 3; 5 may have been on its way
    assert stale(sent, deliveries, None, life=1) == 0
    assert stale(sent, deliveries, 6 * IN_FLIGHT_NS, life=0) == 0
