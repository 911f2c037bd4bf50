"""The programs on the wire of a trial: our switch where it emulates the link, and who writes the capture."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from comseclab.testbed.host import Host
from comseclab.testbed.network import FILES
from comseclab.testbed.program import Program, ProgramFailedError, wait_until
from comseclab.trial.spec import TrialSpec

PROOF_FRAMES_AN_END = 1000
"""Enough for discovery, the handshake and the first messages; messages of 9 MB begin within."""
PROOF_BYTES_AN_END = 2_000_000
FULL_BYTES = 2_000_000_000
"""The most a whole capture may take: it is held in memory, set aside beforehand, until the trial ends."""
FULL_FACTOR = 3
"""What a message may take on the wire, there and back, as a multiple of its size."""
FULL_FLOOR_BYTES = 16_000_000
"""For discovery and handshakes."""
LEAST_FRAME_BYTES = 200
"""Mean size of the frames of a whole capture, at the least."""
READY_TIMEOUT_S = 5.0
STOP_TIMEOUT_S = 5.0


class Wire:
    """What runs beside the nodes. Start the switch before the first frame, the capture before the nodes."""

    def __init__(self, spec: TrialSpec, folder: Path) -> None:
        self._spec, self._log = spec, folder / "log"
        self.path = folder / "evidence" / "wire.pcapng"
        self.path.parent.mkdir()
        self._has_switch = spec.link.kind == "emulated" and spec.backend == "switch"
        full = spec.capture == "full"
        ends = len(spec.streams) + sum(len(stream.reader_hosts) for stream in spec.streams)
        self._bytes = _whole(spec) if full else PROOF_BYTES_AN_END * ends
        self._frames = self._bytes // LEAST_FRAME_BYTES if full else PROOF_FRAMES_AN_END * ends
        self.programs: list[Program] = []

    def start_switch(self, cpu: int | None, adversary: Path | None = None) -> None:
        """Start the switch if the link needs it. Its capture sees the probes too, and has room for them.

        `adversary`: the socket on which someone on the path waits for the switch, see docs/formats.md.
        """
        if not self._has_switch:
            return
        spec = self._spec
        probes = 4 * spec.probes * len(spec.hosts)
        config = FILES / "switch.json"
        config.write_text(json.dumps({
            "version": 1,
            "seed": spec.seed,
            "fifo_priority": spec.scheduling.switch_fifo_priority,
            "cpu": cpu,
            "spin_ns": 60_000,
            "ports": [
                {"host": host, "interface": f"port-{host}", "profile": spec.link.model_dump()} for host in spec.hosts
            ],
            "capture": {"path": str(self.path), "frames": self._frames + probes, "bytes": self._bytes + 200 * probes},
            **({"adversary": str(adversary)} if adversary else {}),
        }))  # fmt: skip
        self._start(Program("switch", [spec.native / "comseclab-switch", config], self._log / "switch.log"))

    def start_capture(self, hosts: Mapping[str, Host]) -> None:
        """Start the capture, unless the switch makes it."""
        if self._has_switch:
            return
        spec = self._spec
        bounds = ["--frames", str(self._frames), "--bytes", str(self._bytes)]
        program = spec.native / "comseclab-capture"
        host = hosts[self._busiest()]
        argv: list[str | Path] = [program, "--interface", host.interface, "--out", self.path, *bounds]
        self._start(host.start("capture", argv, self._log / "capture.log"))

    def _busiest(self) -> str:
        """The host that most ends of streams are on: its interface sees the most of the trial."""
        ends = (host for stream in self._spec.streams for host in (stream.writer_host, *stream.reader_hosts))
        return Counter(ends).most_common(1)[0][0]

    def _start(self, program: Program) -> None:
        self.programs.append(program)
        if not wait_until([program], lambda: bool(program.of("ready")), READY_TIMEOUT_S):
            raise ProgramFailedError(f"{program.name} was not ready in {READY_TIMEOUT_S:g} s")

    def stop(self) -> dict[str, Any]:
        """End the programs; returns the switch's last counters, {} where there is none. Also fit after a failure."""
        last: dict[str, Any] = {}
        for program in self.programs:
            program.end(STOP_TIMEOUT_S)
            for counters in program.of("counters")[-1:]:
                last = {key: value for key, value in counters.items() if key not in ("event", "read_ns")}
        return last


def _whole(spec: TrialSpec) -> int:
    """Bytes that all frames of the trial need."""
    sent = sum(stream.messages * stream.max_size * len(stream.reader_hosts) for stream in spec.streams) * spec.rounds
    return min(FULL_BYTES, FULL_FLOOR_BYTES + FULL_FACTOR * sent)
