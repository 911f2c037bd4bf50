"""A trial under attack whose programs are shell scripts, on no network: for what happens around the attack itself."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from attack.scenes import HOSTS, scene_on
from comseclab.attack.base import Attack
from comseclab.attack.cells import LINK
from comseclab.attack.conduct import AttackedTrial
from comseclab.attack.dialect import Prepared
from comseclab.attack.spec import AttackRecord
from comseclab.attack.victims import Victim
from comseclab.middleware.base import Material
from comseclab.results.record import WireProof
from comseclab.results.samples import KEPT_SIZE, RECEIPT, SEND
from comseclab.testbed.host import Host
from comseclab.testbed.program import Daemon
from comseclab.trial.nodes import Node
from comseclab.workload.spool import ENTRY, HEADER, MAGIC, VERSION

BEFORE, DURING, AFTER = 5, 6, 7
"""Messages due in each phase, one every PERIOD_S."""
PERIOD_S = 0.01
PUBLISHER, SUBSCRIBER, BROKER = "robot-publisher", "station-subscriber", "broker"

LIVES = "exec cat"
DIES = "until [ -e joined ]; do sleep 0.01; done; touch dying; kill -SEGV $$"
JOINS = 'touch joined; until [ -e dying ]; do sleep 0.01; done; echo \'{"event": "opened"}\''


class Stage(AttackedTrial):
    """Its path shows no message."""

    def __init__(
        self, folder: Path, attack: Attack, *, dies: str = "", begun: int = 0, begin_s: float = BEFORE * PERIOD_S
    ) -> None:
        """`dies`: which program ends by itself, once somebody has joined. `begun`: of the messages in their order, how
        many were sent and delivered; no other was begun.
        """
        hosts = {
            name: Host(name, Path("/proc/self/ns/net"), f"10.77.0.{number}", "lo", folder)
            for number, name in enumerate(HOSTS, 1)
        }
        scene, path = scene_on(hosts, folder / "injected.hex")
        count = BEFORE + DURING + AFTER
        changes = {"spool": _spool(folder / "spool", count), "messages": count}
        trial = scene.spec.trial.model_copy(
            update={
                "streams": [scene.spec.trial.streams[0].model_copy(update=changes)],
                "link": LINK, "backend": "none", "round_s": begin_s + (DURING + AFTER) * PERIOD_S, "drain_s": 0.0,
            }
        )  # fmt: skip
        times = {"begin_s": begin_s, "end_s": begin_s + DURING * PERIOD_S}
        super().__init__(scene.spec.model_copy(update={"trial": trial, **times}), folder, attack)
        self.hosts, self.scene, self.path = hosts, scene, path  # type: ignore[assignment]
        for rogue in attack.rogues(self.dialect, control=False)[:1]:
            self.rogues[rogue] = Node(f"attacker-{rogue.role}", hosts["attacker"], rogue.role, [])
        self.prepared = Prepared(Material(), {rogue: {"script": JOINS} for rogue in self.rogues})
        for name in (PUBLISHER, SUBSCRIBER):
            self.nodes.append(node := Node(name, hosts[name.partition("-")[0]], name.partition("-")[2], []))
            node.records.mkdir()
            if name != dies:
                _write_records(node, begun)
            self.start_node(node, {"script": DIES if name == dies else LIVES}, {})
        if dies == BROKER:
            self.services.programs.append(Daemon(BROKER, self._script(DIES), self.log / BROKER, {}))

    def start_node(self, node: Node, settings: Mapping[str, Any], calibrated: Mapping[str, Any]) -> None:
        node.program = Victim(node.name, self._script(settings["script"]), self.log / f"{node.name}.log")

    def _script(self, script: str) -> Sequence[str]:
        return "/bin/sh", "-c", f"cd {self.folder}; {script}"

    def prove(self) -> WireProof:
        """As the wire shows nothing of a stream that was cut off, and all of another."""
        nothing = ["no frame shows the payload, which nothing should hide"] if self.rogues else []
        return WireProof(frames=9, sentinel_seen=False, sentinel_expected=True, kinds={}, contradictions=nothing)

    def play(self) -> AttackRecord:
        self.start_rogues()
        self.send()
        self.stop_nodes()
        return self.record()


def _spool(path: Path, count: int) -> Path:
    """A spool of messages without a content."""
    index = b"".join(ENTRY.pack(round(number * PERIOD_S * 1e9), 0, 0, 0) for number in range(count))
    path.write_bytes(HEADER.pack(MAGIC, VERSION, 0, count, HEADER.size, 0) + index)
    return path


def _write_records(node: Node, count: int) -> None:
    """What a node writes that sent, or was given, the first messages."""
    records, kept, dtype = ("sends", "sent", SEND) if node.role == "publisher" else ("receipts", "received", RECEIPT)
    made = np.zeros(count, dtype)
    made["index"] = range(count)
    made.tofile(node.records / f"{records}.bin")
    payloads = [b"message %d" % number for number in range(count)]
    content = b"".join(KEPT_SIZE.pack(len(payload)) + payload for payload in payloads)
    (node.records / f"{kept}.bin").write_bytes(content)
