"""One trial under attack, from empty namespaces to a closed record. Runs in the trial's own process."""

import functools
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from comseclab.attack import fence, observe
from comseclab.attack.base import Attack, Rogue
from comseclab.attack.dialect import Prepared, Setting, dialect_of
from comseclab.attack.entered import write_capture
from comseclab.attack.frame import Frame
from comseclab.attack.path import OnPath
from comseclab.attack.registry import attack_of
from comseclab.attack.scene import ATTACKER, Scene
from comseclab.attack.spec import AttackRecord, AttackSpec
from comseclab.attack.victims import Victim
from comseclab.errors import LabError
from comseclab.middleware.base import Material, Place
from comseclab.results.record import WireProof
from comseclab.results.store import write_atomically
from comseclab.testbed import network
from comseclab.testbed.host import pinned
from comseclab.testbed.program import Process, Program, ProgramFailedError, wait_until
from comseclab.trial import clock
from comseclab.trial import nodes as placing
from comseclab.trial.conduct import LEAD_S, Trial
from comseclab.trial.nodes import Node

KEEP_MORE = 1024
"""Each message is kept whole, and so is one that an attack made this much longer."""
ROGUE_TIMEOUT_S = 5.0
"""For a node of the attacker to open, and again to find whom it attacks. Most that hold no right never do."""
CLOSE_TIMEOUT_S = 5.0
REFUSED_TIMEOUT_S = 0.5
LOOK_EVERY_S = 0.05


def conduct(spec: AttackSpec, folder: Path, calibration: "subprocess.Popen[bytes]") -> None:
    """Run the trial and write `record.json`, last. Raises LabError when the environment is wrong."""
    trial = AttackedTrial(spec, folder, attack_of(spec.attack))
    reasons = trial.found.reasons
    try:
        trial.build()
        trial.start_nodes(clock.read(calibration))
        if trial.match():
            trial.start_rogues()
            trial.send()
        reasons += trial.found.outcomes
        trial.stop_nodes()
    except ProgramFailedError as failure:
        reasons.append(str(failure))
    trial.path.stop()
    trial.wire.stop()
    if trial.path.failure:
        reasons.append(f"the attack failed: {type(trial.path.failure).__name__}: {trial.path.failure}")
    record = trial.record()
    write_atomically(folder / "record.json", record.model_dump_json(indent=1))


class AttackedTrial(Trial):
    """The steps of a trial with somebody on the path and a host of the attacker's."""

    def __init__(self, spec: AttackSpec, folder: Path, attack: Attack) -> None:
        super().__init__(spec.trial, folder)
        self.attack_spec, self.attack = spec, attack
        self.dialect = dialect_of(spec.trial.factors.middleware)
        self.rogues: dict[Rogue, Node] = {}
        self.prepared = Prepared(Material(), {})
        self.calibrated: Mapping[str, Any] = {}
        self.earlier: list[tuple[Node, Path]] = []
        """Nodes that were restarted, with the records of their lives before."""
        self.started: list[tuple[Node, int]] = []
        """The attacker's nodes in the order in which they were started, and when: CLOCK_MONOTONIC, ns."""
        self.exposed = False
        """Whether anybody of the attacker's has acted yet, were it only a node that joins."""
        self.fallen: dict[str, str] = {}
        """Services of the stack that ended by themselves under attack, and how."""
        self.before: list[Frame] = []
        """All frames that the path showed before the attack."""
        self.scene: Scene

    def build(self) -> None:
        """Make the hosts and join them by a switch with the adversary on the path."""
        fence.check_fresh()
        self.make_network()
        fence.enclose(list(self.hosts.values()))
        self.path = OnPath(network.FILES / "adversary.sock")
        self.path.start()
        self.wire.start_switch(None, self.path.path)
        self.scene = Scene(
            self.attack_spec,
            self.hosts,
            self.path,
            self.dialect,
            self.restart,
            self.folder / "evidence" / "injected.hex",
        )

    def prepare(self, places: Mapping[str, Place]) -> Material:
        """Make the victims' documents, and what the attacker's nodes may have of them."""
        wanted = self.attack.rogues(self.dialect, control=self.attack_spec.arm == "control")
        rogues = {rogue: self._place(rogue, places) for rogue in wanted}
        folder = network.FILES / "material"
        self.prepared = self.dialect.prepare(
            Setting(self.spec, self.middleware, tuple(places.values()), rogues, folder)
        )
        return self.prepared.material

    def _place(self, rogue: Rogue, places: Mapping[str, Place]) -> Place:
        """A rogue stands on the attacker's host and wants what the node of the same role has."""
        host = self.hosts[ATTACKER]
        model = next(place for place in places.values() if place.role == rogue.role)
        name = f"{ATTACKER}-{rogue.role}-{rogue.credentials}"
        peers = tuple(sorted({*model.peers, host.address}))
        self.rogues[rogue] = Node(name, host, rogue.role, [], [(self.spec.streams[0], 0)])
        return Place(
            name, host.name, rogue.role, host.address, host.interface, peers, model.writes[:1], model.reads[:1]
        )

    def start_node(self, node: Node, settings: Mapping[str, Any], calibrated: Mapping[str, Any]) -> None:
        """As in any trial, but every message is kept, and the node's end can be a finding."""
        self.calibrated = calibrated
        node.cpus = []  # trials side by side share all of them
        rogue = node.host.name == ATTACKER
        spec = self.spec.model_copy(update={"nonce": self.attack_spec.forged_nonce}) if rogue else self.spec
        text = placing.config(
            spec, node, self.middleware, settings, calibrated, keep_bytes=self.spec.streams[0].max_size + KEEP_MORE
        )
        config = node.host.write(f"{node.name}.json", text)
        node.records.mkdir(exist_ok=True)
        argv = [self.spec.native / "comseclab-node", config]
        with fence.within(node.host), pinned(node.cpus):
            node.program = Victim(node.name, argv, self.log / f"{node.name}.log")

    def start_rogues(self) -> None:
        """Start the attacker's nodes, each once the one before has opened or failed, so that it is known who sent what.

        Then give them time to be accepted or refused. Finding the victims and greeting them is part of the attack.
        """
        if self.rogues:
            self.expose()
        for rogue, node in self.rogues.items():
            self.started.append((node, time.monotonic_ns()))
            self.start_node(node, self.prepared.rogues[rogue], self.calibrated)
            program = node.program
            assert isinstance(program, Victim)
            program.tolerated = True
            self.scene.rogues += [program] if rogue.role == "publisher" else []
            wait_until(self._watched(), functools.partial(_has_opened_or_failed, program), ROGUE_TIMEOUT_S)
        programs = [node.program for node in self.rogues.values() if node.program]

        def settled() -> bool:
            return all(program.ended or (program.of("ready") and program.of("matched")) for program in programs)

        if programs:
            wait_until(self._watched(), settled, ROGUE_TIMEOUT_S)

    def expose(self) -> None:
        """From now on a victim that ends by itself, be it a node or a service, is a finding."""
        self.exposed = True
        for node in self.nodes:
            if isinstance(node.program, Victim):
                node.program.tolerated = True

    def _watched(self) -> Sequence[Process]:
        """Whom to listen to; the end of one that is not tolerated ends the trial."""
        services = [] if self.exposed else self.services.programs
        rogues = [node.program for node in self.rogues.values() if node.program]
        return [*services, *self.programs(), *rogues, *self.wire.programs]

    def send(self) -> None:
        """Send, with the attack from `begin_s` to `end_s`."""
        spec = self.attack_spec
        self.begin_ns = self.start_round(0, LEAD_S)
        self._wait_until(spec.begin_s)
        self.expose()
        self.before = list(self.path.seen)
        self.scene.note(f"{spec.attack} begins")
        try:
            self.attack.act(self.scene)
        except LabError as error:
            self.found.reasons.append(f"the attack failed: {error}")
        if self._left_s(spec.end_s) < 0:
            self.found.reasons.append(f"the attack was not done after {spec.end_s - spec.begin_s:g} s")
        self._wait_until(spec.end_s)
        self.scene.end()
        self.scene.note(f"{spec.attack} ends")
        self._wait_until(self.spec.round_s + self.spec.drain_s)
        self.found.sent = True

    def _wait_until(self, after_s: float) -> None:
        """Wait until so long after the first message, with an eye on what runs."""
        wait_until(self._watched(), lambda: False, max(0.0, self._left_s(after_s)))

    def _left_s(self, after_s: float) -> float:
        return self.begin_ns / 1e9 + after_s - time.monotonic()

    def restart(self, host: str) -> None:
        """End the subscriber on a host and start it anew with the same identity."""
        node = next(node for node in self.nodes if node.host.name == host and node.role == "subscriber")
        assert node.program is not None
        node.program.send({"command": "stop"})
        node.program.end(CLOSE_TIMEOUT_S)
        kept = node.records.with_name(f"{node.name}-earlier")
        node.records.rename(kept)
        self.earlier.append((node, kept))
        places = placing.places(self.nodes, echo=False)
        settings = self.middleware.node_settings(self.spec, places[node.name], self.prepared.material)
        self.start_node(node, settings, self.calibrated)
        assert isinstance(node.program, Victim)
        node.program.tolerated = True
        deadline = time.monotonic() + ROGUE_TIMEOUT_S
        while time.monotonic() < deadline and not self._is_back(node.program):
            wait_until([node.program], lambda: False, LOOK_EVERY_S)
        if not self._is_back(node.program):
            self.found.reasons.append(f"the restarted subscriber was not back after {ROGUE_TIMEOUT_S:g} s")

    def _is_back(self, program: Victim) -> bool:
        """Whether a restarted subscriber is matched; while messages reach it, only the path shows that."""
        ready = program.of("ready")
        if not ready or program.ended:
            return program.ended
        begun_ns = ready[0]["read_ns"]
        return bool(program.of("matched")) or any(frame.at_ns > begun_ns for frame in self.scene.messages())

    def stop_nodes(self) -> None:
        """Have every node write its records and close; one that does not was told so by the attack, or is a crash."""
        self.fallen = {program.name: how for program in self.services.programs if (how := program.fate())}
        programs = [*self.programs(), *(node.program for node in self.rogues.values() if node.program)]
        for program in programs:
            program.send({"command": "stop"})
        for program in programs:
            # A node of the attacker's that never opened, for it was refused, has nothing to write.
            waits = program in self.programs() or program.of("opened")
            program.end(CLOSE_TIMEOUT_S if waits else REFUSED_TIMEOUT_S)
        with suppress(ProgramFailedError):
            self.services.stop()

    def prove(self) -> WireProof:
        """What the genuine nodes' own frames show of the protection, before anybody attacked it."""
        capture = network.FILES / "before.pcap"
        write_capture(capture, observe.genuine_before(self))
        return self.middleware.prove(capture, self.spec)

    def record(self) -> AttackRecord:
        """What the trial shows, closed."""
        spec = self.attack_spec
        seen = observe.observe(self) if self.found.sent else None
        proof = self.prove() if self.found.sent else None
        reasons = [*self.found.reasons]
        if seen:
            # Whether a protection of the user's own does as it claims is for the attacks to find out.
            must_hold = not self.spec.own_transport and observe.provable(self, seen)
            reasons += observe.reasons(seen, proof if must_hold else None)
        opened = next((event for program in self.programs() for event in program.of("opened")), {})
        return AttackRecord(
            attack=spec.attack, arm=spec.arm, case=self.spec.factors.id(), valid=not reasons, reasons=reasons,
            seen=seen, proof=proof, notes=self.scene.notes if hasattr(self, "scene") else [],
            versions={str(opened["transport"]): str(opened["version"])} if opened else {},
        )  # fmt: skip


def _has_opened_or_failed(program: Program) -> bool:
    return program.ended or bool(program.of("opened"))
