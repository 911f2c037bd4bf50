"""Victims that die: a finding as soon as a node of the attacker's joins, and before that a failed trial."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from attack.scenes import HOSTS, scene_on
from comseclab.attack.attacks.subscribe import Subscribe
from comseclab.attack.base import Attack, Rogue
from comseclab.attack.cells import LINK
from comseclab.attack.conduct import AttackedTrial
from comseclab.attack.dialect import Prepared
from comseclab.attack.registry import attack_of
from comseclab.attack.spec import AttackRecord
from comseclab.attack.verdict import RECORDS_LOST, Verdict, judge
from comseclab.attack.victims import Victim
from comseclab.middleware.base import Material
from comseclab.results.record import WireProof
from comseclab.testbed.host import Host
from comseclab.testbed.program import Daemon, ProgramFailedError
from comseclab.trial.nodes import Node

DIES = "until [ -e joined ]; do sleep 0.01; done; touch dying; kill -SEGV $$"
LIVES = ": > {records}/{file}.bin; exec cat"
JOINS = 'touch joined; sleep 0.3; echo \'{"event": "opened"}\''
ROGUE = Rogue("subscriber", "none")


class Stage(AttackedTrial):
    """A trial under attack whose programs are shell scripts, without a testbed. No message ever shows on the path."""

    def __init__(self, folder: Path, attack: Attack, dies: str, *, begin_s: float = 0.0) -> None:
        """`dies`: the program that ends by itself, once somebody has joined."""
        hosts = {
            name: Host(name, Path("/proc/self/ns/net"), f"10.77.0.{number}", "lo", folder)
            for number, name in enumerate(HOSTS, 1)
        }
        scene, path = scene_on(hosts, folder / "injected.hex")
        trial = scene.spec.trial.model_copy(
            update={"link": LINK, "backend": "none", "round_s": begin_s + 0.05, "drain_s": 0.0}
        )
        spec = scene.spec.model_copy(update={"trial": trial, "begin_s": begin_s, "end_s": begin_s + 0.05})
        super().__init__(spec, folder, attack)
        self.hosts, self.scene, self.path = hosts, scene, path  # type: ignore[assignment]
        self.rogues = {rogue: Node(f"attacker-{rogue.role}", hosts["attacker"], rogue.role, [])
                       for rogue in attack.rogues(self.dialect, control=False)[:1]}  # fmt: skip
        self.prepared = Prepared(Material(), {rogue: {"script": JOINS} for rogue in self.rogues})
        for host, role, file in (("robot", "publisher", "sends"), ("station", "subscriber", "receipts")):
            node = Node(f"{host}-{role}", hosts[host], role, [])
            node.records.mkdir()
            lives = LIVES.format(records=node.records, file=file)
            self.start_node(node, {"script": DIES if dies == node.name else lives}, {})
            self.nodes.append(node)
        if dies == "broker":
            self.services.programs.append(
                Daemon("broker", ["/bin/sh", "-c", f"cd {folder}; {DIES}"], self.log / "b", {})
            )

    def start_node(self, node: Node, settings: Mapping[str, Any], calibrated: Mapping[str, Any]) -> None:
        argv = ["/bin/sh", "-c", f"cd {self.folder}; {settings['script']}"]
        node.program = Victim(node.name, argv, self.log / f"{node.name}.log")

    def prove(self) -> WireProof:
        """What a stream that was never sent proves."""
        nothing = ["no frame shows the payload, which nothing should hide"]
        return WireProof(frames=9, sentinel_seen=False, sentinel_expected=True, kinds={}, contradictions=nothing)

    def play(self) -> AttackRecord:
        self.start_rogues()
        self.send()
        self.stop_nodes()
        return self.record()


@pytest.mark.parametrize("victim", ["robot-publisher", "station-subscriber", "broker"])
def test_a_victim_that_dies_as_a_rogue_joins_is_a_finding(tmp_path: Path, victim: str) -> None:
    record = Stage(tmp_path, Subscribe(), victim).play()
    assert (record.valid, record.reasons) == (True, [])
    assert record.seen
    assert record.seen.crashed == {victim: "SIGSEGV"}
    judged = judge(Subscribe(), [record], [])
    assert (judged.verdict, judged.text) == (Verdict.DISRUPTED, f"{RECORDS_LOST}; {victim} ended with SIGSEGV")


@pytest.mark.parametrize("victim", ["robot-publisher", "station-subscriber", "broker"])
def test_a_victim_that_dies_before_anybody_acts_makes_the_trial_invalid(tmp_path: Path, victim: str) -> None:
    (tmp_path / "joined").touch()
    stage = Stage(tmp_path, attack_of("eavesdrop"), victim, begin_s=60.0)
    with pytest.raises(ProgramFailedError, match=f"{victim} was ended by SIGSEGV"):
        stage.play()
    (stage.stop_nodes if victim != "broker" else stage.services.stop)()
