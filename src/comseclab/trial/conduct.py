"""One trial, from empty namespaces to a closed record. Runs in the trial's own process."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from comseclab.middleware.base import Material, Place
from comseclab.middleware.registry import stack
from comseclab.results.record import SWITCH_HOST, HostCounters
from comseclab.results.store import write_atomically
from comseclab.testbed import network
from comseclab.testbed.host import Host
from comseclab.testbed.program import Program, ProgramFailedError, wait_until
from comseclab.trial import clock, findings, matching, probes, usage, validity
from comseclab.trial import nodes as placing
from comseclab.trial.nodes import Node
from comseclab.trial.services import Services
from comseclab.trial.spec import TrialSpec
from comseclab.trial.wire import Wire

OPEN_TIMEOUT_S = 15.0
"""For a node to load and open its transport, and again for it to fault in memory and decode its first messages."""
LEAD_S = 0.1
"""From the command to start to the first message: time to read counters, and for the machine to be quiet again."""
BLOCKED_FACTOR = 3.0
"""A round that takes longer than this many times its planned time, and BLOCKED_SLACK_S, is blocked and cut off."""
BLOCKED_SLACK_S = 10.0
CLOSE_TIMEOUT_S = 10.0
"""For a node to write its records and close."""


def conduct(spec: TrialSpec, folder: Path, calibration: "subprocess.Popen[bytes]") -> None:
    """Run the trial and write `record.json`, last. Raises LabError when the environment is wrong."""
    trial = Trial(spec, folder)
    try:
        trial.build()
        trial.start_nodes(clock.read(calibration))
        if trial.match():
            trial.send()
        trial.stop_nodes()
    except ProgramFailedError as failure:
        trial.found.reasons.append(str(failure))
    trial.found.switch = trial.wire.stop()
    record = findings.close(spec, trial.nodes, trial.found, trial.middleware, folder)
    write_atomically(folder / "record.json", record.model_dump_json(indent=1))


class Trial:
    """The steps of a trial, in order: build, start_nodes, match, send, stop_nodes."""

    def __init__(self, spec: TrialSpec, folder: Path) -> None:
        self.spec, self.folder = spec, folder
        self.log = folder / "log"
        self.echo = spec.factors.pattern == "echo"
        self.middleware = stack(spec.factors.middleware, spec.own_transport)
        self.found = findings.Findings()
        self.hosts: dict[str, Host] = {}
        self.nodes: list[Node] = []
        self.services = Services(self.log)
        self.wire = Wire(spec, folder)

    def build(self) -> None:
        """Make the hosts, join them, measure the links between them."""
        spec = self.spec
        self.make_network()
        self.wire.start_switch(placing.switch_cpu(spec))
        self.found.links = probes.probe(spec, self.hosts, self.log / "probe.log")

    def make_network(self) -> None:
        """Make the hosts and join them."""
        built = network.build(self.spec.hosts, self.spec.link, self.spec.backend)
        self.hosts, self.found.sysctls = built.hosts, built.sysctls

    def start_nodes(self, calibrated: dict[str, Any]) -> None:
        """Prepare the protection and start the capture, the stack's services and all nodes."""
        spec = self.spec
        nodes = placing.place_nodes(spec, self.hosts)
        places = placing.places(nodes, echo=self.echo)
        material = self.prepare(places)
        for name, document in material.publishable.items():
            (self.folder / "evidence" / name).write_bytes(document.read_bytes())
        self.wire.start_capture(self.hosts)
        services = self.middleware.services(spec, tuple(places.values()), material, network.FILES)
        self.services.start(self.hosts, services)
        for node in nodes:
            self.start_node(node, self.middleware.node_settings(spec, places[node.name], material), calibrated)
        self.nodes = nodes

    def prepare(self, places: Mapping[str, Place]) -> Material:
        """Make what the protection needs."""
        return self.middleware.prepare(self.spec, tuple(places.values()), network.FILES / "material")

    def start_node(self, node: Node, settings: Mapping[str, Any], calibrated: Mapping[str, Any]) -> None:
        """Start a node whose transport gets `settings`."""
        config = node.host.write(
            f"{node.name}.json", placing.config(self.spec, node, self.middleware, settings, calibrated)
        )
        node.records.mkdir()
        argv = [self.spec.native / "comseclab-node", config]
        node.program = node.host.start(node.name, argv, self.log / f"{node.name}.log", node.cpus)

    def match(self) -> bool:
        """Wait until all ends have found each other and all nodes are ready; False when a link did not let them."""
        self.wait_for("opened")
        self.found.opened_ns = max(event["read_ns"] for program in self.programs() for event in program.of("opened"))

        def waiting() -> list[str]:
            return [node.name for node in self.nodes if not matching.complete(node, echo=self.echo)]

        if not self.wait(lambda: not waiting(), self.spec.match_timeout_s):
            text = f"no connection in {self.spec.match_timeout_s:g} s: {', '.join(waiting())} still waits"
            refusals = matching.refusals(self.nodes)
            text += "".join(f"; {refusal}" for refusal in refusals)
            # A link may keep nodes apart, but makes no certificate bad.
            by_link = validity.impaired(self.spec.link) and not any("certificate" in one.lower() for one in refusals)
            (self.found.outcomes if by_link else self.found.reasons).append(text)
            return False
        self.wait_for("ready")
        return True

    def programs(self) -> list[Program]:
        """Those of all nodes that were started."""
        return [node.program for node in self.nodes if node.program]

    def wait(self, condition: Callable[[], bool], timeout_s: float) -> bool:
        """Wait with an eye on everything that runs."""
        return wait_until([*self.services.programs, *self.programs(), *self.wire.programs], condition, timeout_s)

    def wait_for(self, event: str) -> None:
        """Wait until every node has said `event`. Raises ProgramFailedError."""

        def late() -> list[str]:
            return [program.name for program in self.programs() if not program.of(event)]

        if not self.wait(lambda: not late(), OPEN_TIMEOUT_S):
            raise ProgramFailedError(f"{', '.join(late())} was not {event} in {OPEN_TIMEOUT_S:g} s")

    def send(self) -> None:
        """Run all rounds and the drain, and measure what is used meanwhile."""
        spec, found = self.spec, self.found
        watched = [usage.Watched(node.name, node.host.name, node.program.pid) for node in self.nodes if node.program]
        watched += self.services.watched
        watched += [usage.Watched(program.name, SWITCH_HOST, program.pid) for program in self.wire.programs]
        begin_ns = self.start_round(0, LEAD_S)
        machine, counters = usage.machine_times(), self._counters()
        before = [usage.times(process.pid) for process in watched]
        for number in range(spec.rounds):
            if number:
                self.start_round(number, LEAD_S + spec.pause_s)
            if not self.finish_round(number):
                break
        self.wait(lambda: False, spec.drain_s)
        found.window_s = (time.monotonic_ns() - begin_ns) / 1e9
        found.counters = {name: _difference(after, counters[name]) for name, after in self._counters().items()}
        for process, first in zip(watched, before, strict=True):
            with suppress(OSError):  # a program that a service started may have ended; nodes are missed elsewhere
                found.processes.append(usage.use(process, first))
        after = usage.machine_times()
        found.steal_s = after.steal_s - machine.steal_s
        foreign = usage.foreign_share(machine, after, found.processes)
        cpus = os.cpu_count() or 1
        found.reasons += validity.judge_machine(found.processes, foreign, found.steal_s, found.window_s, cpus)
        found.sent = True

    def _counters(self) -> dict[str, HostCounters]:
        """Per host; where hosts share a loopback device, the first stands for all."""
        owners: dict[Path, Host] = {}
        for host in self.hosts.values():
            owners.setdefault(host.namespace, host)
        return {host.name: host.counters() for host in owners.values()}

    def _publishers(self) -> list[Program]:
        return [node.program for node in self.nodes if node.program and node.role == "publisher"]

    def start_round(self, number: int, in_s: float) -> int:
        """Have all publishers begin a round at the same time, which is returned, ns."""
        at_ns = time.monotonic_ns() + round(in_s * 1e9)
        for publisher in self._publishers():
            publisher.send({"command": "start", "round": number, "at_ns": at_ns})
        return at_ns

    def finish_round(self, number: int) -> bool:
        """Wait for the end of a round; False when publishing is blocked."""

        def late() -> list[str]:
            rounds = {program.name: [event["round"] for event in program.of("finished")] for program in publishers}
            return [name for name, finished in rounds.items() if number not in finished]

        publishers = self._publishers()
        limit_s = self.spec.pause_s + BLOCKED_FACTOR * self.spec.round_s + BLOCKED_SLACK_S
        if self.wait(lambda: not late(), limit_s):
            return True
        text = f"publishing is blocked: {', '.join(late())} had not sent round {number} after {limit_s:.0f} s"
        self.found.outcomes.append(text)
        return False

    def stop_nodes(self) -> None:
        """Have every node write its records and close."""
        for program in self.programs():
            program.send({"command": "stop"})
        for program in self.programs():
            code = program.end(CLOSE_TIMEOUT_S)
            if code in (0, -signal.SIGKILL):
                closed = program.of("closed") if code == 0 else []
                self.found.reasons += validity.judge_closing(program.name, closed[-1] if closed else None)
            else:
                self.found.reasons.append(f"{program.name} {program.obituary()}")
        self.services.stop()


def _difference(after: HostCounters, before: HostCounters) -> HostCounters:
    return HostCounters(**{name: getattr(after, name) - getattr(before, name) for name in HostCounters.model_fields})
