"""What the programs of a trial under attack said themselves: stacks to applications, and how they ended."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from comseclab.attack.victims import Victim
from comseclab.results.samples import SEND, read_records
from comseclab.trial.nodes import Node

if TYPE_CHECKING:
    from comseclab.attack.conduct import AttackedTrial

MOST_TOLD, MOST_REFUSED = 20, 10


def told(trial: "AttackedTrial", begin_ns: int) -> list[str]:
    """What the stack told the victims' applications from the beginning of the attack on."""
    said = []
    for node in trial.nodes:
        said += _refusals(node, begin_ns)
        said += _events(node, begin_ns)
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


def _events(node: Node, begin_ns: int) -> list[str]:
    """Lost messages, missed deadlines, rejections. Events that came too many to be kept have no time of their own."""
    events = node.program.of("transport") if node.program else []
    return [
        f"{node.name}: {event['kind']} {event['count']} {event.get('text') or ''}".strip()
        for event in events
        if event["count"] and event["at_ns" if "at_ns" in event else "read_ns"] >= begin_ns
    ]


def _lost_match(node: Node, begin_ns: int, end_ns: int) -> bool:
    """Whether the last match was lost while messages flowed, not when the nodes closed one after the other."""
    events = node.program.of("matched") if node.program else []
    return any(event["count"] == 0 and begin_ns <= event["at_ns"] < end_ns for event in events)


def _closing_ns(trial: "AttackedTrial") -> int:
    return trial.begin_ns + round((trial.spec.round_s + trial.spec.drain_s) * 1e9)


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
