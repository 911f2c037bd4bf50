"""Which ends of a trial's streams have found each other, by the nodes' `matched` events."""

from collections.abc import Sequence

from comseclab.testbed.program import Event
from comseclab.trial.nodes import RETURN, Node


def wanted(node: Node, *, echo: bool) -> dict[int, int]:
    """How many ends each stream of a node must match; with `echo`, the way back is a stream of its own."""
    there = {stream.id: len(stream.reader_hosts) if node.role == "publisher" else 1 for stream, _ in node.streams}
    return there | ({stream.id + RETURN: 1 for stream, _ in node.streams} if echo else {})


def found(node: Node) -> dict[int, Event]:
    """The last `matched` event of each stream of a node."""
    return {event["stream"]: event for event in node.program.of("matched")} if node.program else {}


def complete(node: Node, *, echo: bool) -> bool:
    """Whether all ends of a node's streams are matched."""
    now = found(node)
    return all(stream in now and now[stream]["count"] >= count for stream, count in wanted(node, echo=echo).items())


def readers(nodes: Sequence[Node], stream: int) -> int:
    """Readers the writer of a stream has matched."""
    counts = (found(node).get(stream, {}).get("count", 0) for node in nodes if node.role == "publisher")
    return max(counts, default=0)


def last_ns(nodes: Sequence[Node], stream: int) -> int | None:
    """When the last end of a stream matched, CLOCK_MONOTONIC; None when none did."""
    times = [event["at_ns"] for node in nodes for key, event in found(node).items() if key % RETURN == stream]
    return max(times, default=None)
