"""Real Zenoh publishers and subscribers in namespaces of their own: the peers of the DDS room with Zenoh's library."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fastdds.peer
from comseclab.middleware.base import Material, Place
from comseclab.middleware.zenoh import MIDDLEWARE
from comseclab.trial.spec import ProtectionSpec, TrialSpec
from fastdds import lab
from fastdds.lab import PUBLISHER, SENTINEL, SUBSCRIBER, Outcome
from fastdds.network import Namespace

LIBRARY = lab.BUILD / "bin" / MIDDLEWARE.library
PEER = str(Path(str(fastdds.peer.__file__)))


def trial_spec(protection: str | ProtectionSpec, **given: Any) -> TrialSpec:
    return lab.trial_spec(protection, stack="zenoh", **given)


def place(node: str, address: str, *, writes: str = "", reads: str = "") -> Place:
    role = "publisher" if writes else "subscriber"
    own = ((topic,) if topic else () for topic in (writes, reads))
    return Place(node, node.partition("-")[0], role, address, "lo", (address,), *own)


def places(addresses: tuple[str, str] = ("127.0.0.1", "127.0.0.1"), *more: Place) -> tuple[Place, ...]:
    """A publisher and a subscriber of /scan, and more."""
    return (
        place(PUBLISHER, addresses[0], writes="/scan"),
        place(SUBSCRIBER, addresses[1], reads="/scan"),
        *more,
    )


def settings_of(spec: TrialSpec, where: tuple[Place, ...], folder: Path) -> list[dict[str, Any]]:
    """What open() gets, by node."""
    material: Material = MIDDLEWARE.prepare(spec, where, folder)
    return [MIDDLEWARE.node_settings(spec, one, material) for one in where]


def changed(settings: dict[str, Any], changes: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """The settings with parts of Zenoh's configuration replaced, by their paths such as `transport/link/tls`."""
    configuration = json.loads(Path(settings["config"]).read_text())
    for key, value in changes.items():
        *parents, last = key.split("/")
        part = configuration
        for parent in parents:
            part = part[parent]
        part[last] = value
    path.write_text(json.dumps(configuration))
    return settings | {"config": str(path)}


class Node:
    """tests/fastdds/peer.py running in a namespace. Ends with its `with` block."""

    def __init__(
        self,
        namespace: Namespace,
        role: str,
        settings: dict[str, Any],
        *,
        environment: Mapping[str, str] | None = None,
        **config: Any,
    ) -> None:
        node = PUBLISHER if role == "publish" else SUBSCRIBER
        size = config.get("size", 9000)
        stream = {"topic": "/scan", "type": "sensor_msgs/msg/LaserScan", "max_size": size, "reliable": 1}
        stream |= config.pop("stream", {})
        defaults = {"node": node, "size": size, "count": 20, "period_s": 0.01, "timeout_s": 20.0}
        whole = {**defaults, "sentinel": SENTINEL.hex(), **config, "role": role, "settings": settings, "stream": stream}
        self.process = subprocess.Popen(
            namespace.within([sys.executable, PEER, str(LIBRARY), json.dumps(whole)]),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | (environment or {}),
        )
        self.errors = ""
        # Zenoh's log may be longer than a pipe holds.
        self._reading = threading.Thread(target=self._read_errors)
        self._reading.start()

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        self.errors = self.process.stderr.read()

    def __enter__(self) -> "Node":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        self._reading.join()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe:
                pipe.close()

    def wait_for(self, step: str) -> None:
        """Until a publisher is `matched` or has `sent` everything, or has given up."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if step in json.loads(line):
                return

    def end(self) -> dict[str, Any]:
        """Ask it to end (a subscriber that has everything ends by itself) and take its last words."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        output = self.process.stdout.read()
        self.process.wait()
        self._reading.join()
        assert output.strip(), self.errors
        result: dict[str, Any] = json.loads(output.splitlines()[-1])
        return result


def exchange(
    publisher: tuple[Namespace, dict[str, Any]], subscriber: tuple[Namespace, dict[str, Any]], **config: Any
) -> Outcome:
    """Publish and subscribe until all has arrived or time is up."""
    with Node(*subscribing(subscriber), **config) as reader, Node(*publishing(publisher), **config) as writer:
        reader.process.wait()
        return Outcome(writer.end(), reader.end())


def publishing(node: tuple[Namespace, dict[str, Any]]) -> tuple[Namespace, str, dict[str, Any]]:
    return node[0], "publish", node[1]


def subscribing(node: tuple[Namespace, dict[str, Any]]) -> tuple[Namespace, str, dict[str, Any]]:
    return node[0], "subscribe", node[1]


@dataclass
class Run:
    """A trial of one protection in miniature."""

    outcome: Outcome
    capture: Path
