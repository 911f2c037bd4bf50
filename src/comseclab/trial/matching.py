"""Which ends of a trial's streams have found each other, by the nodes' `matched` events."""

from collections.abc import Sequence

from comseclab.testbed.program import Event
from comseclab.trial.nodes import RETURN, Node


def wanted(node: Node, *, echo: bool) -> dict[int, int]:
    """How many ends each stream of a node must match; with `echo`, the way back is a stream of its own."""
    there = {stream.id: len(stream.reader_hosts) if node.role == "publisher" else 1 for stream, _ in node.streams}
    return there | ({stream.id + RETURN: 1 for stream, _ in node.streams} if echo else {})


def complete(node: Node, *, echo: bool) -> bool:
    """Whether all ends of a node's streams are matched now."""
    now = {event["stream"]: event["count"] for event in _events(node)}
    return all(now.get(stream, 0) >= count for stream, count in wanted(node, echo=echo).items())


def readers(nodes: Sequence[Node], stream: int) -> int:
    """The most readers that the writer of a stream had matched at a time."""
    counts = (
        event["count"]
        for node in nodes
        if node.role == "publisher"
        for event in _events(node)
        if event["stream"] == stream
    )
    return max(counts, default=0)


def refusals(nodes: Sequence[Node]) -> list[str]:
    """What nodes say of others that their stack refused, or that refused them; each once."""
    return list(
        dict.fromkeys(
            f"{node.name}: {event['text']}"
            for node in nodes
            if node.program
            for event in node.program.of("transport")
            if event["kind"] == "rejected" and event["text"]
        )
    )


def completed_ns(nodes: Sequence[Node], stream: int, *, echo: bool) -> int | None:
    """When the last end of a stream found its last match, CLOCK_MONOTONIC; None when one did not."""
    times = [
        next((event["at_ns"] for event in _events(node) if event["stream"] == end and event["count"] >= count), None)
        for node in nodes
        for end, count in wanted(node, echo=echo).items()
        if end % RETURN == stream
    ]
    known = [time for time in times if time is not None]
    return max(known) if known and len(known) == len(times) else None


def _events(node: Node) -> list[Event]:
    """What a node said of its matches; their number falls again when the other end closes first."""
    return node.program.of("matched") if node.program else []
