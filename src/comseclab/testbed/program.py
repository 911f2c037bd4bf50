"""A program of the laboratory: commands on its input, events on its output, one JSON object a line."""

import json
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from comseclab.errors import LabError

ENVIRONMENT = ("PATH", "LD_LIBRARY_PATH", "LANG", "HOME")
"""What a program sees of the user's environment: middleware settings in it must not change a trial."""

Event = dict[str, Any]


class ProgramFailedError(Exception):
    """A program ended, or said that it must end, while it was needed."""


class Program:
    """A running program. Use it from one thread."""

    def __init__(self, name: str, argv: Sequence[str | Path], log: Path) -> None:
        self.name = name
        self.log = log
        self.events: list[Event] = []
        self.ended = False
        self._rest = b""
        environment = {key: os.environ[key] for key in ENVIRONMENT if key in os.environ}
        log.parent.mkdir(parents=True, exist_ok=True)
        try:
            with log.open("ab") as errors:
                self._process = subprocess.Popen(
                    [str(part) for part in argv],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    env=environment,
                )
        except (FileNotFoundError, PermissionError) as error:
            raise LabError(f"cannot start {argv[0]}: {error.strerror}", "build the native programs first") from error

    @property
    def pid(self) -> int:
        return self._process.pid

    def fileno(self) -> int:
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def of(self, kind: str) -> list[Event]:
        """The events of one kind so far; `read_ns` says when the laboratory read them, CLOCK_MONOTONIC."""
        return [event for event in self.events if event.get("event") == kind]

    def send(self, command: Event) -> None:
        """Send a command; a program that has gone is found out by its missing events."""
        self.send_line(json.dumps(command))

    def send_line(self, line: str) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()

    def read(self) -> None:
        """Take in what the program has written; call it when there is something."""
        data = os.read(self.fileno(), 1 << 16)
        self.ended = not data
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            try:
                event = json.loads(line)
            except ValueError:
                event = None
            if not isinstance(event, dict):
                raise ProgramFailedError(f"{self.name} wrote what is no event: {line[:200].decode(errors='replace')}")
            self.events.append(event | {"read_ns": time.monotonic_ns()})

    def complain(self) -> None:
        """Raise ProgramFailedError if the program has ended or reported a fatal error."""
        for fatal in self.of("fatal"):
            raise ProgramFailedError(f"{self.name}: {fatal.get('message', 'fatal error')}")
        if self.ended:
            raise ProgramFailedError(f"{self.name} {self._obituary()}")

    def _obituary(self) -> str:
        code = self._process.wait()
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        last = self.log.read_text(errors="replace").strip().splitlines()[-1:]
        return f"{how}; its last words: {last[0][:300]}" if last else how

    def end(self, timeout_s: float) -> int:
        """Close its input, wait for it to end, kill it if it does not. Returns its exit code, negative for a signal."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        wait_until([self], lambda: self.ended, timeout_s, expect_end=True)
        if not self.ended:
            self._process.kill()
        return self._process.wait()


def wait_until(
    programs: Iterable[Program], condition: Callable[[], bool], timeout_s: float, *, expect_end: bool = False
) -> bool:
    """Read the programs' events until the condition holds; False when the time is over first.

    Raises ProgramFailedError as soon as one of them fails, unless they are expected to end.
    """
    deadline = time.monotonic() + timeout_s
    with selectors.DefaultSelector() as selector:
        for program in programs:
            if not program.ended:
                selector.register(program, selectors.EVENT_READ, program)
        while not condition():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            for key, _ in selector.select(left):
                heard: Program = key.data
                heard.read()
                if heard.ended:
                    selector.unregister(heard)
                if not expect_end:
                    heard.complain()
    return True
