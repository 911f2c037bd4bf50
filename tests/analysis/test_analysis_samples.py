"""Counting one trial's samples: known answers and hard cases."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulate import Arm, Run, samples

from comseclab.analysis.reading import numpy_columns
from comseclab.analysis.samples import count, reordered
from comseclab.results.samples import RECEIPT, SEND, join

MS = 1_000_000


def trial(sends, receipts, readers):
    """`sends`: (round, index, begin in ms, status); `receipts`: (reader, round, index, done in ms, flags)."""
    sent, received = np.zeros(len(sends), SEND), np.zeros(len(receipts), RECEIPT)
    for row, (number, index, begin, *status) in zip(sent, sends, strict=True):
        row["round"], row["index"], row["size"] = number, index, 1000
        row["status"] = status[0] if status else 0
        row["intended"], row["begin"] = (begin - 1) * MS, begin * MS
        row["serialised"], row["sent"] = begin * MS + 10, begin * MS + 30
    for row, (reader, number, index, done, *flags) in zip(received, receipts, strict=True):
        row["reader"], row["round"], row["index"], row["size"] = reader, number, index, 1000
        row["flags"] = flags[0] if flags else 0
        row["arrived"], row["done"] = done * MS - 5, done * MS
    return numpy_columns(join([sent], [received], {0: readers}))


def counted(sends, receipts, readers=(0,), messages=10, warm_up=0.0, rate_hz=100.0, times=0, closed_loop=False):
    return count(trial(sends, receipts, readers), messages, warm_up, rate_hz, times, closed_loop)


def test_known_answers():
    found = counted(
        [(0, index, 10 * index) for index in range(10)],
        [(0, 0, 0, 2), (0, 0, 1, 13), (0, 0, 2, 35), (0, 0, 3, 34), (0, 0, 3, 36), (0, 0, 4, 50, 1), (0, 0, 77, 51)],
    )
    assert (found.sent, found.lost, found.not_taken, found.duplicated, found.late) == (10, 6, 0, 1, 1)
    assert (found.reordered, found.foreign) == (1, 2)
    assert found.latency.tolist() == [2 * MS, 3 * MS, 15 * MS, 4 * MS]
    assert found.from_intended.tolist() == [3 * MS, 4 * MS, 16 * MS, 5 * MS]
    assert found.stages["serialisation"].tolist() == [10] * 4
    assert found.stages["transmission"].tolist() == [2 * MS - 15, 3 * MS - 15, 15 * MS - 15, 4 * MS - 15]
    assert found.stages["deserialisation"].tolist() == [5] * 4
    assert found.stages["publish_call"].tolist() == [20] * 4
    assert found.offered_hz == pytest.approx(100)
    assert found.achieved_hz == pytest.approx(100)
    assert found.throughput_bps == pytest.approx(4 * 8000 / 0.035)


def test_what_was_never_begun_counts_as_sent_not_taken_and_lost():
    """Two rounds of ten, the first two of each dropped, for two readers; the second round was cut off after four."""
    sends = [(number, index, 1000 * number + index) for number in (0, 1) for index in range(10 if number == 0 else 4)]
    receipts = [(reader, number, index, begin + 1) for number, index, begin in sends for reader in (0, 1)]
    schedule = {"readers": (0, 1), "warm_up": 0.2, "times": 4}
    found = counted([*sends], [*receipts, receipts[-1]], **schedule)
    assert (found.sent, found.not_taken, found.lost, found.duplicated) == (32, 12, 12, 1)
    assert len(found.arrived) == len(found.latency) == 20
    echo = counted(sends, receipts, **schedule, closed_loop=True)
    assert (echo.sent, echo.not_taken, echo.lost) == (20, 0, 0), "a closed loop has no fixed number"
    for closed_loop in (False, True):
        none = counted([], [], **schedule, closed_loop=closed_loop)
        assert (none.sent, none.not_taken, none.lost, none.duplicated) == (32, 32, 32, 0)


def test_warm_up_is_dropped_from_every_round():
    sends = [(number, index, 1000 * number + index) for number in (0, 1) for index in range(10)]
    receipts = [(0, number, index, begin + 1) for number, index, begin in sends if index != 0]
    receipts += [(0, 0, 1, 500), (0, 0, 2, 501)]
    found = counted(sends, receipts, warm_up=0.2)
    assert (found.sent, found.lost, found.duplicated) == (16, 0, 1)
    assert found.achieved_hz == pytest.approx(1000), "the pause between rounds does not count"


def test_each_reader_counts():
    sends = [(0, index, index) for index in range(10)]
    receipts = [(0, 0, index, 20 + index) for index in range(10)] + [(1, 0, index, 40 - index) for index in range(5)]
    found = counted(sends, receipts, readers=(0, 1))
    assert (found.sent, found.lost, found.reordered) == (20, 5, 4)
    assert found.achieved_hz == pytest.approx(1000)


def test_refused_messages_are_lost():
    found = counted([(0, 0, 0), (0, 1, 1, 1)], [(0, 0, 0, 5)])
    assert (found.sent, found.not_taken, found.lost) == (2, 1, 1)


def test_nothing_sent_nothing_arrived_and_one_message():
    nothing = counted([], [])
    assert (nothing.sent, nothing.lost, nothing.foreign) == (0, 0, 0)
    assert (nothing.offered_hz, nothing.throughput_bps) == (None, None)
    lost = counted([(0, 0, 0), (0, 1, 1)], [])
    assert (lost.sent, lost.lost, len(lost.latency), lost.throughput_bps) == (2, 2, 0, None)
    one = counted([(0, 0, 0)], [(0, 0, 0, 3)])
    assert (one.sent, one.lost, one.latency.tolist(), one.achieved_hz) == (1, 0, [3 * MS], None)


def test_forgeries_alone():
    found = counted([], [(0, 0, 0, 3), (0, 0, 0, 4), (0, 0, 1, 4, 1)])
    assert (found.sent, found.duplicated, found.foreign) == (0, 0, 3)


def order_of(arrivals):
    """For messages 0, 1, ... in order of sending, their ranks of arrival."""
    return np.argsort(np.array(arrivals, int)).astype(np.int32)


@pytest.mark.parametrize(
    ("arrivals", "expected"),
    [([1, 2, 3, 4], 0), ([1, 2, 4, 5, 3], 1), ([1, 4, 5, 2, 3], 2), ([4, 3, 2, 1], 3)],
)
def test_reordering_by_hand(arrivals, expected):
    order = order_of(arrivals)
    assert reordered(np.arange(len(order)), order, np.zeros(len(order), np.uint16)) == expected


@given(st.permutations(list(range(12))), st.randoms())
def test_reordering_is_that_of_rfc_4737(arrivals, shuffle):
    """RFC 4737, section 3.3: a packet is reordered when its number is below the next expected one."""
    next_expected, expected = 0, 0
    for number in arrivals:
        if number >= next_expected:
            next_expected = number + 1
        else:
            expected += 1
    order = order_of(arrivals)
    rows = list(range(12))
    shuffle.shuffle(rows)
    assert reordered(np.array(rows), order[rows], np.zeros(12, np.uint16)) == expected


@given(st.integers(0, 2**32), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.integers(1, 60))
def test_every_message_is_accounted_for(seed, loss, duplicates, refused, messages):
    random = np.random.default_rng(seed)
    run = Run([], messages=messages, rounds=2)
    arm = replace(Arm("a", "none"), loss=loss, duplicates=duplicates, refused=refused)
    columns = numpy_columns(samples(random, run, arm, 0, 300_000))
    found = count(columns, messages, 0.1, run.rate_hz, run.rounds)
    assert found.sent == 2 * (messages - -(-messages // 10))
    assert found.lost + len(found.latency) == found.sent == len(found.arrived)
    assert found.not_taken <= found.lost
    assert found.foreign == 0
    assert bool((found.latency > 0).all())
    parts = found.stages["serialisation"] + found.stages["transmission"] + found.stages["deserialisation"]
    assert np.array_equal(parts, found.latency), "the stages add up to the latency"
