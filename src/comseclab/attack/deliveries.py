"""What a subscriber was given, message by message: whose it is, and when. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from comseclab.attack.spec import Phase

IN_FLIGHT_NS = 50_000_000
"""A message sent so shortly before its subscriber was told to restart may have been on its way."""

MOST_FALSE = 20
"""Altered messages of a trial, and forged ones, that are kept whole: 2 MB of digits, as messages have 16 kB at most."""


@dataclass(frozen=True)
class Sent:
    """A message that the genuine writer began to send; `begun_ns` and all other times are of the nodes' one clock."""

    begun_ns: int
    payload: bytes


@dataclass(frozen=True)
class Receipt:
    """A message as the stack gave it to the application. `index` is the one it claims."""

    index: int
    arrived_ns: int
    payload: bytes
    life: int = 0
    """Which life of a subscriber that is restarted; the first is 0."""


@dataclass(frozen=True)
class Delivery:
    """A receipt, and what it turned out to be."""

    receipt: Receipt
    kind: Literal["genuine", "forged", "altered"]
    """altered: bytes that neither the writer sent under the claimed index nor the attacker's nonce marks as his."""
    again: bool
    """The message was delivered before."""

    @property
    def genuine(self) -> bool:
        return self.kind == "genuine"


def classify(sent: Mapping[int, Sent] | None, receipts: Iterable[Receipt], forged_nonce: str) -> list[Delivery]:
    """Compare every receipt, byte by byte, with what was sent under its index. In order of arrival.

    `sent` None: the writer left no records; then forged messages alone can be told, and the others are left out.
    """
    marks = forged_nonce.encode(), bytes.fromhex(forged_nonce)
    had: set[int] = set()
    found = []
    for receipt in sorted(receipts, key=lambda one: (one.life, one.arrived_ns)):
        original = sent.get(receipt.index) if sent else None
        if any(mark in receipt.payload for mark in marks):
            found.append(Delivery(receipt, "forged", again=False))
        elif sent is None:
            continue
        elif original is None or original.payload != receipt.payload:
            found.append(Delivery(receipt, "altered", again=False))
        else:
            found.append(Delivery(receipt, "genuine", again=receipt.index in had))
            had.add(receipt.index)
    return found


def false_messages(sent: Mapping[int, Sent], deliveries: Sequence[Delivery]) -> list[str]:
    """The altered and the forged messages among the deliveries, whole, a line each; nothing where there is none.

    The first line counts them and those that are left out. An altered message is followed by the writer's own of the
    same index, if it sent one.
    """
    found = {kind: [one for one in deliveries if one.kind == kind] for kind in ("altered", "forged")}
    if not any(found.values()):
        return []
    counts = (f"{len(of_kind)} {kind}, {max(0, len(of_kind) - MOST_FALSE)} left out" for kind, of_kind in found.items())
    lines = [f"# {'; '.join(counts)}"]
    for one in (*found["altered"][:MOST_FALSE], *found["forged"][:MOST_FALSE]):
        receipt = one.receipt
        lines.append(f"{receipt.arrived_ns} {receipt.index} {one.kind} {receipt.payload.hex()}")
        if one.kind == "altered" and (original := sent.get(receipt.index)):
            lines.append(f"{original.begun_ns} {receipt.index} sent {original.payload.hex()}")
    return lines


def phase(scheduled: Mapping[int, int], deliveries: Sequence[Delivery], begin_ns: float, end_ns: float) -> Phase:
    """Of the messages whose time to be sent lay within the phase, how many were ever delivered as they were.

    `scheduled`: by index, when each was to be sent, ns. One that a blocked writer never began counts like any other.
    """
    of_phase = {index for index, intended_ns in scheduled.items() if begin_ns <= intended_ns < end_ns}
    delivered = {one.receipt.index for one in deliveries if one.genuine}
    return Phase(sent=len(of_phase), delivered=len(of_phase & delivered))


def median_age_ns(
    scheduled: Mapping[int, int], deliveries: Sequence[Delivery], begin_ns: float, end_ns: float
) -> float | None:
    """From the time to be sent to the first arrival, of the phase's messages that arrived; None for none.

    What a writer that was held up sends late is old, too.
    """
    ages = [
        one.receipt.arrived_ns - scheduled[one.receipt.index]
        for one in deliveries
        if one.genuine and not one.again and begin_ns <= scheduled[one.receipt.index] < end_ns
    ]
    return float(median(ages)) if ages else None


def stale(sent: Mapping[int, Sent], deliveries: Sequence[Delivery], restarted_ns: int | None, life: int) -> int:
    """Genuine messages delivered to a life of the subscriber that began after they were sent."""
    if restarted_ns is None or life == 0:
        return 0
    return sum(
        one.genuine and one.receipt.life == life and sent[one.receipt.index].begun_ns < restarted_ns - IN_FLIGHT_NS
        for one in deliveries
    )
