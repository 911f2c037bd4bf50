"""Where an attack acts: the path between the hosts, a host of its own, and what it has learned so far."""

import socket
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

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
"""Pieces that stand in the evidence; all of them are counted."""


class Scene:
    """Made for one trial. What an attack's code sends goes through here: fenced, bounded, counted and written down.

    Handshakes of TLS on its connections, and what the attacker's nodes send, only the capture shows.
    """

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
        """When the subscriber was told to end."""
        self.back_ns: int | None = None
        """When its new self was back."""
        self.budget = Budget()
        self.ended = threading.Event()
        """Set when the attack ends: whoever goes on sending looks at it."""
        self._restart = restart
        self._injected = log
        self._listeners: list[socket.socket] = []
        self._raw: socket.socket | None = None
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
        """From now on have `act` say what goes on in place of each frame that carries a message of the stream.

        Those that go on just as they came are not counted as targeted.
        """

        def rule(frame: Frame) -> list[tuple[float, Frame]]:
            if not self.dialect.is_message(frame, self):
                return [(0.0, frame)]
            following = act(frame)
            self.targeted += following != [(0.0, frame)]
            for _, goes_on in following:
                if goes_on.raw != frame.raw:
                    self._account(goes_on.raw)
            return following

        self.follow(rule)

    def follow(self, rule: Rule) -> None:
        """From now on treat every frame on the path by this rule."""
        self.path.follow(rule)

    def inject_on_path(self, frame: Frame) -> None:
        """Have a frame enter the switch at its port, as if that host had sent it."""
        fence.check_frame(frame.raw)
        self._account(frame.raw)
        self.path.inject(frame)

    def inject(self, raw: bytes) -> None:
        """Send an Ethernet frame from the attacker's host. Its sender's address may be made up, its target's not."""
        fence.check_frame(raw)
        self._account(raw)
        if self._raw is None:
            with fence.within(self.attacker):
                self._raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
                self._raw.bind((self.attacker.interface, 0))
        self._raw.send(raw)

    def connect(self, address: str, port: int, timeout_s: float = 2.0) -> socket.socket:
        """A TCP connection from the attacker's host.

        Raises ConnectionError when it is refused, and another OSError when nobody answers: then nothing was tried.
        """
        fence.check_address(address)
        with fence.within(self.attacker):
            self.budget.check_open()
            try:
                connection = socket.create_connection((address, port), timeout_s)
            except ConnectionError:
                self.budget.spend(0)
                raise
            self.budget.spend(0)
            return connection

    def listen(self, timeout_s: float = 0.2) -> socket.socket:
        """A TCP port of the attacker's host, open until the attack ends. Its `accept` waits no longer than the time."""
        with fence.within(self.attacker):
            listener = socket.create_server((self.attacker.address, 0), backlog=8)
        listener.settimeout(timeout_s)
        self._listeners.append(listener)
        return listener

    def say(self, connection: socket.socket, content: bytes) -> None:
        """Send on a socket of the attacker's."""
        self._account(content)
        connection.sendall(content)

    def apart(self, work: Callable[..., None], *arguments: Any) -> None:
        """Do some work in a thread of its own. What it raises while the attack lasts makes the trial invalid."""

        def do() -> None:
            try:
                work(*arguments)
            except Exception as error:  # nobody else would hear of it
                if not self.ended.is_set():
                    self.path.failure = self.path.failure or error

        threading.Thread(target=do, daemon=True).start()

    def restart_subscriber(self) -> None:
        """Have the genuine subscriber end and start anew, as after a power failure; returns when it is back."""
        self.restarted_ns = time.monotonic_ns()
        self._restart(self.spec.trial.streams[0].reader_hosts[0])
        self.back_ns = time.monotonic_ns()

    def publish_as_rogue(self) -> None:
        """Tell the attacker's publishers to send."""
        for rogue in self.rogues:
            rogue.send({"command": "start", "round": 0, "at_ns": time.monotonic_ns() + 50_000_000})

    def end(self) -> None:
        """End the attack: the path is free again, senders stop, and nothing more can be sent."""
        self.ended.set()
        self.follow(passes)
        self.budget.close()
        for rogue in self.rogues:
            rogue.send({"command": "stop"})
        for opened in [*self._listeners, *([self._raw] if self._raw else [])]:
            opened.close()

    def _account(self, content: bytes) -> None:
        fence.check_testbed()
        self.budget.spend(len(content))
        if self._written < KEPT_INJECTED:
            self._written += 1
            with self._injected.open("a") as log:
                log.write(f"{time.monotonic_ns()} {content.hex()}\n")
