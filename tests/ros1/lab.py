"""A roscore in a namespace, peers and nodes on it, the tools of ROS 1 beside them, and specs of small trials."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

from comseclab.middleware.base import Material
from comseclab.middleware.ros1 import MASTER_PORT, MIDDLEWARE, definition
from comseclab.plan.links import PROFILES
from comseclab.testbed.host import LISTENING
from comseclab.trial.spec import Factors, ProtectionSpec, StreamSpec, TrialSpec
from comseclab.workload.spool import Spools
from comseclab.workload.synthetic import SENSORS, Synthetic
from comseclab.workload.types import standard_type
from fastdds import lab
from fastdds.network import Namespace

NATIVE = lab.BUILD / "bin"
SYSTEM_PYTHON = "/usr/bin/python3"
"""Debian's, which finds Debian's ROS packages."""
READY_S = 20.0


def require() -> None:
    """Skip a test where the transport or roscore is missing."""
    if not lab.library("ros1").exists():
        pytest.skip("the ROS 1 transport is not built: ./comseclab build")
    if not shutil.which("roscore"):
        pytest.skip("roscore is missing: apt install python3-roslaunch")


class Master:
    """A roscore as the laboratory starts it, in a namespace, with its files in a folder."""

    def __init__(self, namespace: Namespace, folder: Path, address: str = "127.0.0.1") -> None:
        self.namespace, self.folder, self.address = namespace, folder, address
        spec = lab.trial_spec("none", stack="ros1")
        service = MIDDLEWARE.services(spec, lab.places((address, address)), Material(), folder)[0]
        # rosbag's librospack looks for the user's home, not at HOME.
        home = {"ROS_HOME": str(folder / ".ros")}
        self.environment = {"PATH": os.environ["PATH"], **service.environment, **home}
        # In a PID namespace, so that what roscore starts ends with it, also when it is killed.
        alone = ("unshare", "--pid", "--fork", "--kill-child")
        with (folder / "roscore.log").open("w") as log:
            self.process = self.tool(*alone, *map(str, service.argv), output=log)
        deadline = time.monotonic() + READY_S
        while not self.listens():
            assert self.process.poll() is None, "roscore has ended"
            assert time.monotonic() < deadline, "roscore opened no port"
            time.sleep(0.05)

    def tool(self, *argv: str, output: IO[str] | int = subprocess.PIPE) -> "subprocess.Popen[str]":
        """Start a program of ROS 1's own on this master."""
        command = self.namespace.within(list(argv))
        return subprocess.Popen(command, env=self.environment, stdout=output, stderr=subprocess.STDOUT, text=True)

    def listens(self) -> bool:
        table = Path(f"/proc/{self.namespace.pid}/net/tcp").read_text().splitlines()
        return any(f":{MASTER_PORT:04X} " in line.split()[1] + " " and line.split()[3] == LISTENING for line in table)

    def settings(self, address: str | None = None, **changes: Any) -> dict[str, Any]:
        """What a node of the laboratory is told, on this master."""
        scan = "sensor_msgs/msg/LaserScan"
        types = {scan: definition(scan, standard_type(scan).description)}
        known = {"master": self.address, "master_port": MASTER_PORT, "address": address or self.address}
        return known | {"types": types} | changes

    def exchange(self, topic: str, *, stream: dict[str, Any] | None = None,
                 subscriber: tuple[Namespace, dict[str, Any]] | None = None, **config: Any) -> lab.Outcome:  # fmt: skip
        """Publish on the topic and subscribe to it until all has arrived or time is up."""
        publisher = (self.namespace, self.settings())
        return lab.exchange(
            publisher, subscriber or publisher, stacks=("ros1", "ros1"), node="publisher",
            subscriber_config={"node": "subscriber"},
            stream={"topic": topic, "reliable": 1} | (stream or {}), **config,
        )  # fmt: skip

    def peer(self, role: str, topic: str, **config: Any) -> lab.Node:
        stream = {"topic": topic, "reliable": 1} | config.pop("stream", {})
        return lab.Node(self.namespace, role, self.settings(), stack="ros1", node=role, stream=stream, **config)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


@contextmanager
def master(namespace: Namespace, folder: Path, address: str = "127.0.0.1") -> Iterator[Master]:
    """A roscore that ends with the block."""
    running = Master(namespace, folder, address)
    try:
        yield running
    finally:
        running.close()


def system_python(code: str, *argv: str) -> Any:
    """What a program for Debian's Python prints, as JSON. Skips the test where ROS 1's modules are missing."""
    assert sys.executable != SYSTEM_PYTHON
    done = subprocess.run([SYSTEM_PYTHON, "-c", code, *argv], capture_output=True, text=True, check=False)
    if "ModuleNotFoundError" in done.stderr:
        pytest.skip("modules of ROS 1 are missing: apt install python3-sensor-msgs python3-rostopic python3-rosbag")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def trial_spec(folder: Path, sensors: Sequence[str], *, link: str = "localhost", reliability: str = "reliable",
               codec: str = "ros1", pattern: str = "stream", round_s: float = 0.5,
               settings: dict[str, Any] | None = None) -> TrialSpec:  # fmt: skip
    """One stream a sensor, from robot to station."""
    spools = [Spools(folder / "spools").prepare(Synthetic(one, SENSORS[one].rate_hz, 1), round_s) for one in sensors]
    streams = [
        StreamSpec(
            id=number, topic=SENSORS[sensor].topic, type=spool.type, writer_host="robot", reader_hosts=["station"],
            spool=spool.path, spool_sha256=spool.sha256, messages=spool.messages, rate_hz=spool.rate_hz,
            max_size=spool.max_size[codec],
        )
        for number, (sensor, spool) in enumerate(zip(sensors, spools, strict=True))
    ]  # fmt: skip
    return TrialSpec(
        number=1, pair=0, hosts=["robot", "station"], link=PROFILES[link], backend="none",
        factors=Factors.model_validate({
            "middleware": "ros1", "reliability": reliability, "protection": "none", "link": link,
            "workload": "+".join(sensors), "codec": codec, "pattern": pattern, "settings": "default",
        }),
        protection=ProtectionSpec(name="none", base="none"), streams=streams,
        types={name: fields for spool in spools for name, fields in spool.types.items()},
        settings={"ros1": settings or {}}, seed=1, nonce=lab.NONCE, round_s=round_s, drain_s=0.5, probes=20,
        native=NATIVE,
    )  # fmt: skip
