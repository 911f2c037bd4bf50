"""An IceStorm broker in a namespace, as the laboratory starts it, and nodes that talk through it."""

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from comseclab.middleware.base import Material
from comseclab.middleware.ice import MIDDLEWARE
from comseclab.trial.spec import ProtectionSpec, TrialSpec
from fastdds import lab
from fastdds.lab import Node, Outcome, places, settings_of
from fastdds.network import Namespace

READY_S = 15
HERE = ("127.0.0.1", "127.0.0.1")
HEADER = b"IceP"
"""Each message of the Ice protocol begins so."""


def trial_spec(protection: str | ProtectionSpec, **changes: Any) -> TrialSpec:
    return lab.trial_spec(protection, stack="ice", **changes)


@dataclass
class Bed:
    """A broker, and what the two nodes' transports are told."""

    namespace: Namespace
    material: Material
    writer: dict[str, Any]
    reader: dict[str, Any]
    broker: "subprocess.Popen[bytes]"
    log: Path

    def exchange(self, subscriber: Namespace | None = None, **config: Any) -> Outcome:
        """Send from the broker's host to a subscriber there or elsewhere."""
        ends = ((self.namespace, self.writer), (subscriber or self.namespace, self.reader))
        return lab.exchange(*ends, stacks=("ice", "ice"), **config)


@contextmanager
def brokered(namespace: Namespace, folder: Path, spec: TrialSpec, addresses: tuple[str, str] = HERE,
            material: Material | None = None) -> Iterator[Bed]:  # fmt: skip
    """The broker runs in `namespace`, that of the first address. `material`: other than what is made for the spec."""
    folder.mkdir(exist_ok=True)
    where, log = places(addresses), folder / "icebox.log"
    material = material or MIDDLEWARE.prepare(spec, where, folder)
    (service,) = MIDDLEWARE.services(spec, where, material, folder)
    with log.open("wb") as written:
        command = namespace.within([str(part) for part in service.argv])
        broker = subprocess.Popen(command, stdout=written, stderr=written)
    try:
        wait_listening(broker, set(service.ports))
        yield Bed(namespace, material, *settings_of(spec, material, where), broker, log)
    finally:
        broker.kill()
        broker.wait()


def wait_listening(broker: "subprocess.Popen[bytes]", ports: set[int]) -> None:
    deadline = time.monotonic() + READY_S
    while not ports <= listening(broker.pid):
        assert broker.poll() is None, "icebox has ended"
        assert time.monotonic() < deadline, "icebox does not listen"
        time.sleep(0.02)


def listening(pid: int) -> set[int]:
    """The TCP ports open in the network namespace of a process."""
    tables = [Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:] for table in ("tcp", "tcp6")]
    rows = [line.split() for table in tables for line in table]
    return {int(row[1].rpartition(":")[2], 16) for row in rows if row[3] == "0A"}


def node(namespace: Namespace, role: str, settings: dict[str, Any], **config: Any) -> Node:
    return Node(namespace, role, settings, stack="ice", **config)
