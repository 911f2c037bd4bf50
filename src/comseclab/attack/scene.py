"""Where an attack acts: the path between the hosts, a host of its own, and what it has learned so far."""

import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from comseclab.attack import fence
from comseclab.attack.dialect import Dialect
from comseclab.attack.frame import Frame
from comseclab.attack.limits import Budget
from comseclab.attack.path import OnPath, Rule, passes
from comseclab.attack.spec import AttackSpec
from comseclab.attack.victims import Victim
from comseclab.testbed.host import Host

ATTACKER, BYSTANDER = "attacker", "bystander"
"""Hosts that a trial under attack has beside its own."""
KEPT_INJECTED = 200


class Scene:
    """Made for one trial. Whatever an attack sends goes through here: fenced, bounded and written down."""

    def __init__(
        self, spec: AttackSpec, hosts: Mapping[str, Host], path: OnPath, dialect: Dialect,
        restart: Callable[[str], None], log: Path,
    ) -> None:  # fmt: skip
        self.spec, self.hosts, self.path, self.dialect = spec, hosts, path, dialect
        self.attacker = hosts[ATTACKER]
        self.rogues: list[Victim] = []
        self.notes: list[str] = []
        self.targeted = 0
        self.restarted_ns: int | None = None
        self.budget = Budget()
        self.ended = threading.Event()
        """Set when the attack ends: whoever goes on sending looks at it."""
        self._restart = restart
        self._injected = log
        self._written = 0

    # What the attacker knows.

    @property
    def writer(self) -> Host:
        return self.hosts[self.spec.trial.streams[0].writer_host]

    @property
    def reader(self) -> Host:
        return self.hosts[self.spec.trial.streams[0].reader_hosts[0]]

    def port_of(self, host: Host) -> int:
        """The port of the switch at which a host is."""
        return self.spec.trial.hosts.index(host.name)

    def messages(self) -> list[Frame]:
        """The frames seen so far that carry a message of the attacked stream."""
        return [frame for frame in list(self.path.seen) if self.dialect.is_message(frame, self)]

    # What the attacker does.

    def note(self, text: str) -> None:
        """Say what is being done; it stands in the evidence, in order."""
        self.notes.append(f"{time.monotonic_ns()} {text}")

    def on_messages(self, act: Callable[[Frame], list[tuple[float, Frame]]]) -> None:
        """From now on have `act` say what goes on in place of each frame that carries a message of the stream."""

        def rule(frame: Frame) -> list[tuple[float, Frame]]:
            if not self.dialect.is_message(frame, self):
                return [(0.0, frame)]
            self.targeted += 1
            return act(frame)

        self.follow(rule)

    def follow(self, rule: Rule) -> None:
        """From now on treat every frame on the path by this rule."""
        self.path.rule = rule

    def inject_on_path(self, frame: Frame) -> None:
        """Have a frame enter the switch at its port, as if that host had sent it."""
        self._account(frame.raw)
        self.path.inject(frame)

    def inject(self, raw: bytes) -> None:
        """Send an Ethernet frame from the attacker's host. Its sender's address may be made up, its target's not."""
        frame = Frame(0, raw)
        if frame.protocol:
            fence.check_address(frame.destination[0])
        with self.packet_socket() as out:
            self._account(raw)
            out.send(raw)

    @contextmanager
    def packet_socket(self) -> Iterator[socket.socket]:
        """A raw socket on the attacker's interface."""
        with fence.within(self.attacker):
            out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
            out.bind((self.attacker.interface, 0))
        with out:
            yield out

    def connect(self, address: str, port: int, timeout_s: float = 2.0) -> socket.socket:
        """A TCP connection from the attacker's host. Raises OSError when it is refused."""
        fence.check_address(address)
        with fence.within(self.attacker):
            return socket.create_connection((address, port), timeout_s)

    def say(self, connection: socket.socket, content: bytes) -> None:
        """Send on a connection of the attacker's."""
        self._account(content)
        connection.sendall(content)

    def restart_subscriber(self) -> None:
        """Have the genuine subscriber end and start anew, as after a power failure; returns when it is back."""
        self._restart(self.spec.trial.streams[0].reader_hosts[0])
        self.restarted_ns = time.monotonic_ns()

    def publish_as_rogue(self) -> None:
        """Tell the attacker's publishers to send."""
        for rogue in self.rogues:
            rogue.send({"command": "start", "round": 0, "at_ns": time.monotonic_ns() + 50_000_000})

    def end(self) -> None:
        """End the attack: the path is free again, senders stop."""
        self.ended.set()
        self.follow(passes)

    def _account(self, content: bytes) -> None:
        self.budget.spend(len(content))
        if self._written < KEPT_INJECTED:
            self._written += 1
            with self._injected.open("a") as log:
                log.write(f"{time.monotonic_ns()} {content.hex()}\n")


def altered(frame: Frame, payload: bytes) -> Frame:
    """The frame with another payload of the same length, checksums corrected."""
    return replace(frame.with_payload(payload), port=frame.port)
