"""One trial's samples, reduced to what statistics need: counts, latencies and stages of the messages that count."""

from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Columns = dict[str, NDArray[Any]]
"""The samples of one stream of one trial: columns of docs/formats.md with null times as 0, and the Boolean columns
`was_sent` (begin_ns is not null) and `has_arrived` (done_ns is not null)."""


RECEIVED = ("reader", "round", "index", "size", "order", "intended_ns", "begin_ns", "serialised_ns", "sent_ns",
            "arrived_ns", "done_ns")  # fmt: skip
"""Columns wanted of the messages that arrived."""


@dataclass(frozen=True)
class Counted:
    """The counted messages of one stream of one trial, once per reader. Times are nanoseconds."""

    sent: int
    not_taken: int
    lost: int
    duplicated: int
    reordered: int
    late: int
    foreign: int
    latency: Floats
    """done - begin, of those that arrived."""
    from_intended: Floats
    """done - intended, of those that arrived."""
    stages: dict[str, Floats]
    begin: Floats
    """When each message was begun, since the first counted one of its round."""
    arrived: NDArray[np.bool_]
    """Which of `begin` arrived; its true ones are the messages of `latency`, in order."""
    offered_hz: float | None
    achieved_hz: float | None
    throughput_bps: float | None


def count(
    columns: Columns, messages: int, warm_up: float, rate_hz: float, times: int, closed_loop: bool = False
) -> Counted:
    """Drop the first `warm_up` share of each round's `messages` by index, and count the rest.

    Each message is scheduled `times` times: rounds x readers. What was scheduled but never begun, as there was no
    connection or publishing was blocked, counts as sent, not taken and lost: it must not look better than what was
    tried. A closed loop begins as many as its replies let it, so there the schedule counts only if nothing was begun.
    Lost: no receipt by the end, whether the middleware took it or not. Late: arrived more than one mean period
    (1 / rate_hz) after it was begun. Foreign: a receipt without a send of this trial, one with another nonce among
    them; as its index cannot be trusted, warm-up does not matter. Reordered: see `reordered`.
    """
    dropped = ceil(warm_up * messages - 1e-9)
    warm = columns["was_sent"] & (columns["index"] >= dropped)
    first = warm & (columns["copy"] == 0)
    rows = _select(columns, first, ("reader", "round", "taken", "has_arrived", "intended_ns", "begin_ns"))
    came = _select(columns, first & columns["has_arrived"], RECEIVED)
    arrived = rows["has_arrived"]
    latency = _span(came, "begin_ns", "done_ns")
    begun = len(arrived)
    sent = begun if closed_loop and begun else max(begun, (messages - dropped) * times)
    return Counted(
        sent=sent,
        not_taken=sent - int(np.count_nonzero(rows["taken"])),
        lost=sent - len(latency),
        duplicated=int(np.count_nonzero(warm)) - begun,
        reordered=reordered(_place(came), came["order"], came["reader"]),
        late=int(np.count_nonzero(latency > 1e9 / rate_hz)) if rate_hz > 0 else 0,
        foreign=int(np.count_nonzero(columns["has_arrived"] & ~columns["was_sent"])),
        latency=latency,
        from_intended=_span(came, "intended_ns", "done_ns"),
        stages={
            "serialisation": _span(came, "begin_ns", "serialised_ns"),
            "transmission": _span(came, "serialised_ns", "arrived_ns"),
            "deserialisation": _span(came, "arrived_ns", "done_ns"),
            "publish_call": _span(came, "serialised_ns", "sent_ns"),
        },
        begin=_since_round(rows),
        arrived=arrived,
        offered_hz=_rate(rows, "intended_ns"),
        achieved_hz=_rate(rows, "begin_ns"),
        throughput_bps=_throughput(came, rows),
    )


def reordered(place: NDArray[np.int64], order: NDArray[np.int32], reader: NDArray[np.uint16]) -> int:
    """How many messages arrived after one that was sent later: RFC 4737, section 3, first copies alone.

    `place`: reader, round and index of each message that arrived, as one number; `order`: its rank of arrival at its
    reader. A message is reordered when a greater index came before it, that is when the smallest order among those
    sent after it is less than its own.
    """
    if len(place) and not bool((place[1:] >= place[:-1]).all()):
        by_place = np.argsort(place, kind="stable")
        order, reader = order[by_place], reader[by_place]
    apart = order.astype(np.int64) + (reader.astype(np.int64) << 32)
    earliest_after = np.minimum.accumulate(apart[::-1])[::-1]
    return int(np.count_nonzero(earliest_after < apart))


def _select(columns: Columns, mask: NDArray[np.bool_], names: tuple[str, ...]) -> Columns:
    at = np.flatnonzero(mask)
    return {name: columns[name].take(at) for name in names}


def _span(rows: Columns, begin: str, end: str) -> Floats:
    return (rows[end] - rows[begin]).astype(np.float64)


def _place(rows: Columns) -> NDArray[np.int64]:
    return rows["reader"].astype(np.int64) << 48 | rows["round"].astype(np.int64) << 32 | rows["index"].astype(np.int64)


def _rounds(rows: Columns) -> dict[int, slice | NDArray[np.bool_]]:
    """By number of round, its rows."""
    rounds = rows["round"]
    if not len(rounds):
        return {}
    numbers = range(int(rounds.min()), int(rounds.max()) + 1)
    if len(numbers) == 1:
        return {numbers[0]: slice(None)}
    return {number: within for number in numbers if (within := rounds == number).any()}


def _since_round(rows: Columns) -> Floats:
    since = np.empty(len(rows["begin_ns"]))
    for within in _rounds(rows).values():
        begin = rows["begin_ns"][within]
        since[within] = begin - begin.min()
    return since


def _rate(rows: Columns, column: str) -> float | None:
    """Messages per second by `column`, pauses between rounds left out; None with too few messages."""
    intervals, duration = 0, 0
    for within in _rounds(rows).values():
        times, readers = rows[column][within], rows["reader"][within]
        first, last = int(times.min()), int(times.max())
        intervals += int(np.count_nonzero(readers == readers[0])) - 1
        duration += last - first
    return intervals / duration * 1e9 if duration > 0 else None


def _throughput(came: Columns, rows: Columns) -> float | None:
    bits, duration, sent = 0, 0, _rounds(rows)
    for number, within in _rounds(came).items():
        bits += 8 * int(came["size"][within].sum(dtype=np.int64))
        duration += int(came["done_ns"][within].max() - rows["begin_ns"][sent[number]].min())
    return bits / duration * 1e9 if duration > 0 else None
