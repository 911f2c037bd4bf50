"""Real publishers and subscribers of a stack in namespaces of their own, with a capture of what they said."""

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from comseclab.middleware.base import Material, Place
from comseclab.middleware.registry import MIDDLEWARES
from comseclab.protection.levels import LEVELS
from comseclab.testbed.profile import LinkProfile
from comseclab.trial.spec import Factors, ProtectionSpec, StreamSpec, TrialSpec
from fastdds.network import Namespace, loopback

BUILD = Path(__file__).parents[2] / "build"
CAPTURE = BUILD / "cargo" / "release" / "comseclab-capture"
NONCE = "0123456789abcdef"
SENTINEL = b"comseclab:" + NONCE.encode()
PUBLISHER, SUBSCRIBER = "robot-publisher", "station-subscriber"


def places(addresses: tuple[str, str] = ("127.0.0.1", "127.0.0.1"), topic: str = "/scan") -> tuple[Place, Place]:
    def place(node: str, role: str, address: str, writes: tuple[str, ...], reads: tuple[str, ...]) -> Place:
        return Place(node, node.partition("-")[0], role, address, "lo", addresses, writes, reads)

    return (
        place(PUBLISHER, "publisher", addresses[0], (topic,), ()),
        place(SUBSCRIBER, "subscriber", addresses[1], (), (topic,)),
    )


def library(stack: str) -> Path:
    return BUILD / "native" / "bin" / MIDDLEWARES[stack].library


def trial_spec(protection: str | ProtectionSpec, *, stack: str = "fastdds", codec: str = "cdr",
               type_: str | None = None, size: int = 9000, pattern: str = "stream",
               settings: dict[str, Any] | None = None) -> TrialSpec:  # fmt: skip
    given = protection if isinstance(protection, ProtectionSpec) else ProtectionSpec(name=protection, base=protection)
    return TrialSpec(
        number=1,
        pair=1,
        factors=Factors.model_validate(
            {"middleware": stack, "reliability": "best-effort", "protection": given.name, "link": "localhost",
             "workload": "scan", "codec": codec, "pattern": pattern, "settings": "default"}
        ),
        hosts=["robot", "station"],
        link=LinkProfile(name="localhost", kind="loopback"),
        backend="none",
        protection=given,
        streams=[
            StreamSpec(id=0, topic="/scan", type="sensor_msgs/msg/LaserScan" if type_ is None else type_,
                       writer_host="robot", reader_hosts=["station"], spool=Path("/dev/null"), spool_sha256="",
                       messages=20, max_size=size, rate_hz=50)
        ],
        types={},
        settings={stack: settings or {}},
        seed=1,
        nonce=NONCE,
        round_s=1,
        native=BUILD / "native" / "bin",
    )  # fmt: skip


class Node:
    """tests/fastdds/peer.py running in a namespace."""

    def __init__(
        self, namespace: Namespace, role: str, settings: dict[str, Any], *, stack: str = "fastdds", **config: Any
    ) -> None:
        stream = {"topic": "/scan", "type": "sensor_msgs/msg/LaserScan", "max_size": config.get("size", 9000)}
        stream |= config.pop("stream", {})
        defaults = {"size": 9000, "count": 20, "period_s": 0.01, "timeout_s": 20.0, "sentinel": SENTINEL.hex()}
        whole = defaults | config | {"role": role, "settings": settings, "stream": stream}
        command = [sys.executable, str(Path(__file__).with_name("peer.py")), str(library(stack)), json.dumps(whole)]
        self.process = subprocess.Popen(
            namespace.within(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def wait_matched(self) -> None:
        """Until a publisher has found its subscriber, or given up."""
        self._wait_for("matched")

    def wait_sent(self) -> None:
        """Until a publisher has sent everything, or given up."""
        self._wait_for("sent")

    def _wait_for(self, step: str) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if step in json.loads(line):
                return

    def end(self) -> dict[str, Any]:
        """Ask it to end (a subscriber that has everything ends by itself) and take its last words."""
        output, errors = self.process.communicate(timeout=60)
        assert output.strip(), errors
        result: dict[str, Any] = json.loads(output.splitlines()[-1])
        return result


@dataclass
class Outcome:
    published: dict[str, Any]
    subscribed: dict[str, Any]

    @property
    def intact(self) -> list[int]:
        """Indices of the messages that arrived as they were sent."""
        return [index for index, _size, intact, _sender in self.subscribed["received"] if intact]


def exchange(publisher: tuple[Namespace, dict[str, Any]], subscriber: tuple[Namespace, dict[str, Any]],
             *, stacks: tuple[str, str] = ("fastdds", "fastdds"), subscriber_config: dict[str, Any] | None = None,
             **config: Any) -> Outcome:  # fmt: skip
    """Publish and subscribe until all has arrived or time is up. `stacks`: the publisher's, the subscriber's."""
    reader = Node(subscriber[0], "subscribe", subscriber[1], stack=stacks[1], **(config | (subscriber_config or {})))
    writer = Node(publisher[0], "publish", publisher[1], stack=stacks[0], **config)
    try:
        reader.process.wait(timeout=60)
        return Outcome(writer.end(), reader.end())
    finally:
        for node in (writer, reader):
            node.process.kill()
            node.process.wait()


def settings_of(spec: TrialSpec, material: Material, where: tuple[Place, Place]) -> list[dict[str, Any]]:
    stack = MIDDLEWARES[spec.factors.middleware]
    return [stack.node_settings(spec, place, material) for place in where]


class Capture:
    """A capture of one interface, from the `with` block's beginning to its end."""

    def __init__(self, namespace: Namespace, interface: str, path: Path) -> None:
        self.path = path
        if CAPTURE.exists():
            command = [
                str(CAPTURE),
                "--interface",
                interface,
                "--out",
                str(path),
                "--frames",
                "100000",
                "--bytes",
                "500000000",
            ]
            self._ready = '"ready"'
        else:
            user = ["-Z", "root"] if os.geteuid() == 0 else []
            command = ["tcpdump", "-i", interface, "-U", *user, "-w", str(path)]
            self._ready = "listening"
        self.process = subprocess.Popen(
            namespace.within(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def __enter__(self) -> "Capture":
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if self._ready in line:
                return self
        raise AssertionError("the capture did not start")

    def __exit__(self, *_: object) -> None:
        time.sleep(0.3)  # what has been sent reaches the capture's buffer
        self.process.terminate()
        self.process.communicate(timeout=10)


@dataclass
class Run:
    """A trial of one protection in miniature."""

    material: Material
    outcome: Outcome
    capture: Path


def run_of_every_protection(stack: str, folders: pytest.TempPathFactory) -> dict[str, Run]:
    """Twenty messages under every protection over lo, captured."""

    def run(level: str) -> Run:
        folder, spec = folders.mktemp(level), trial_spec(level, stack=stack)
        material = MIDDLEWARES[stack].prepare(spec, places(), folder)
        with loopback() as namespace, Capture(namespace, "lo", folder / "capture.pcapng") as capture:
            writer, reader = settings_of(spec, material, places())
            outcome = exchange((namespace, writer), (namespace, reader), stacks=(stack, stack), settle_s=1.5)
        return Run(material, outcome, capture.path)

    with ThreadPoolExecutor(2) as pool:
        return dict(zip(LEVELS, pool.map(run, LEVELS), strict=True))
