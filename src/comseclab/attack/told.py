"""What the programs of a trial under attack said themselves: stacks to applications, and how they ended."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from comseclab.attack.victims import Victim
from comseclab.results.samples import SEND, read_records
from comseclab.trial.nodes import Node

if TYPE_CHECKING:
    from comseclab.attack.conduct import AttackedTrial

MOST_TOLD, MOST_REFUSED = 20, 10
DEADLINE = "deadline"
"""The kind of an event that the stack tells: a deadline was missed."""


def told(trial: "AttackedTrial", begin_ns: int) -> list[str]:
    """What the stack told the victims' applications from the beginning of the attack on."""
    said = []
    for node in trial.nodes:
        said += _refusals(node, begin_ns)
        said += _events(node, begin_ns, _round_end_ns(trial))
        if trial.scene.restarted_ns is None and _lost_match(node, begin_ns, _closing_ns(trial)):
            said.append(f"{node.name}: no match left")
    return said[:MOST_TOLD]


def _refusals(node: Node, begin_ns: int) -> list[str]:
    """Messages that a publisher was told could not be sent."""
    path = node.records / "sends.bin"
    if not path.exists():
        return []
    sends = read_records(path, SEND)
    count = int(((sends["status"] != 0) & (sends["begin"] >= begin_ns)).sum())
    return [f"{node.name}: {count} messages refused"] if count else []


def _events(node: Node, begin_ns: int, round_end_ns: int) -> list[str]:
    """Lost messages, missed deadlines, rejections. Events that came too many to be kept have no time of their own.

    Once the writer has sent its last message, deadlines are missed whether or not anybody attacked.
    """
    said = []
    for event in node.program.of("transport") if node.program else []:
        at_ns = event["at_ns" if "at_ns" in event else "read_ns"]
        over = event["kind"] == DEADLINE and at_ns >= round_end_ns
        if event["count"] and at_ns >= begin_ns and not over:
            said.append(f"{node.name}: {event['kind']} {event['count']} {event.get('text') or ''}".strip())
    return said


def _lost_match(node: Node, begin_ns: int, end_ns: int) -> bool:
    """Whether the last match was lost while messages flowed, not when the nodes closed one after the other."""
    events = node.program.of("matched") if node.program else []
    return any(event["count"] == 0 and begin_ns <= event["at_ns"] < end_ns for event in events)


def _round_end_ns(trial: "AttackedTrial") -> int:
    return trial.begin_ns + round(trial.spec.round_s * 1e9)


def _closing_ns(trial: "AttackedTrial") -> int:
    return _round_end_ns(trial) + round(trial.spec.drain_s * 1e9)


def crashed(nodes: Iterable[Node]) -> dict[str, str]:
    """How victims ended that should not have: a signal, an exit code, a fatal error; or wrote no records in time."""
    found = {}
    for node in nodes:
        if not isinstance(node.program, Victim):
            continue
        if how := node.program.crash():
            found[node.name] = how
        elif not any((node.records / f"{name}.bin").exists() for name in ("sends", "receipts")):
            found[node.name] = "no records written"
    return found


def refused(rogues: Iterable[Node]) -> list[str]:
    """What the attacker's nodes were told."""
    said: list[str] = []
    for node in rogues:
        if node.program:
            said += [f"{node.name}: {event['message']}" for event in node.program.of("fatal")]
            said += [f"{node.name}: {event['text']}" for event in node.program.of("transport") if event.get("text")]
    return list(dict.fromkeys(said))[:MOST_REFUSED]
