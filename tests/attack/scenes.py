"""A Scene as the laboratory makes it, on hosts that a test names."""

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from comseclab.attack.dialect import Dialect, dialect_of
from comseclab.attack.frame import Frame, udp_frame
from comseclab.attack.path import Rule
from comseclab.attack.scene import Scene
from comseclab.attack.spec import AttackSpec
from comseclab.testbed.host import Host
from comseclab.trial.spec import Factors, ProtectionSpec, StreamSpec, TrialSpec

HARDWARE = ("02:00:0a:4d:00:03", "02:00:0a:4d:00:02")
HOSTS = ["robot", "station", "attacker", "bystander"]
MESSAGE = 8000
NONCE = "0123456789abcdef"
SOON_NS = 1_000_000_000


def frame_to(address: str, size: int = MESSAGE) -> bytes:
    """A datagram of the attacker's."""
    return udp_frame(HARDWARE, ("10.77.0.1", 7400), (address, 7401), bytes(size))


STATION = Frame(0, frame_to("10.77.0.2"))


def away() -> list[str]:
    """Addresses of no testbed, and names."""
    return [
        "192.0.2.1", "8.8.8.8", "127.0.0.1", "10.77.1.1", "10.76.0.2", "0.0.0.0", "255.255.255.255",
        "::1", "::ffff:10.77.0.2", "fe80::1", "localhost", "station", "example.org", "10.77.0", "",
    ]  # fmt: skip


class Recorder:
    """In the place of OnPath: nobody is behind it, and what is asked of it is noted."""

    def __init__(self) -> None:
        self.seen = [STATION] * 5
        self.injected: list[Frame] = []
        self.rule: Rule | None = None

    def follow(self, rule: Rule) -> None:
        self.rule = rule

    def leave(self) -> None:
        """Nobody is there who could."""

    def inject(self, frame: Frame) -> None:
        self.injected.append(frame)


def scene_on(
    hosts: Mapping[str, Host], log: Path, dialect: Dialect | None = None, protection: str = "none"
) -> tuple[Scene, Recorder]:
    """A scene on these hosts that notes in `log` what is sent, and what stands in the place of the path."""
    stack = dialect.stacks[0] if dialect else "fastdds"
    factors = Factors(
        middleware=stack, reliability="reliable", protection=protection, link="attack", workload="scan", codec="cdr",
        pattern="stream", settings="default",
    )  # fmt: skip
    stream = StreamSpec.model_construct(
        id=0, topic="/scan", type="sensor_msgs/msg/LaserScan", writer_host="robot", reader_hosts=["station"],
        max_size=MESSAGE, rate_hz=40.0,
    )  # fmt: skip
    trial = TrialSpec.model_construct(
        hosts=HOSTS, streams=[stream], nonce=NONCE, factors=factors, seed=1,
        protection=ProtectionSpec(name=protection, base=protection),
    )  # fmt: skip
    spec = AttackSpec.model_construct(
        trial=trial, attack="replay", arm="attack", forged_nonce="f" * 16, begin_s=0, end_s=1
    )
    path = Recorder()

    def restart(_: str) -> None:
        """The subscriber's new self will be sent what the one before was."""
        path.seen += [replace(frame, at_ns=time.monotonic_ns() + SOON_NS) for frame in path.seen]

    return Scene(spec, hosts, path, dialect or dialect_of("fastdds"), restart, log), path  # type: ignore[arg-type]
