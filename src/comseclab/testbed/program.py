"""Processes of a trial: the laboratory's own programs (commands on their input, events on their output, one JSON
object a line), and programs of a middleware, which only run."""

import json
import os
import selectors
import signal
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from comseclab.errors import LabError

ENVIRONMENT = ("PATH", "LD_LIBRARY_PATH", "LANG", "HOME")
"""What a program sees of the user's environment: middleware settings in it must not change a trial."""

Event = dict[str, Any]


class ProgramFailedError(Exception):
    """A program ended, or said that it must end, while it was needed."""


class Process(ABC):
    """A running process, watched for its end. Use it from one thread."""

    def __init__(
        self, name: str, argv: Sequence[str | Path], log: Path, output: int | None, added: Mapping[str, str]
    ) -> None:
        """Standard error goes to `log`, and so does the output unless `output` says otherwise."""
        self.name = name
        self.log = log
        self.ended = False
        environment = {key: os.environ[key] for key in ENVIRONMENT if key in os.environ} | dict(added)
        log.parent.mkdir(parents=True, exist_ok=True)
        try:
            with log.open("ab") as written:
                self._process = subprocess.Popen(
                    [str(part) for part in argv],
                    stdin=subprocess.PIPE,
                    stdout=written if output is None else output,
                    stderr=written,
                    env=environment,
                )
        except (FileNotFoundError, PermissionError) as error:
            raise LabError(f"cannot start {argv[0]}: {error.strerror}", "see `comseclab doctor`") from error

    @property
    def pid(self) -> int:
        return self._process.pid

    @abstractmethod
    def fileno(self) -> int:
        """What becomes readable when there is something to `read`."""

    @abstractmethod
    def read(self) -> None:
        """Take in what there is; call it when there is something."""

    def complain(self) -> None:
        """Raise ProgramFailedError if the process has ended or reported a fatal error."""
        if self.ended:
            raise ProgramFailedError(f"{self.name} {self.obituary()}")

    def obituary(self) -> str:
        """How it ended, and what it said last."""
        code = self._process.wait()
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        last = self.log.read_text(errors="replace").strip().splitlines()[-1:]
        return f"{how}; its last words: {last[0][:300]}" if last else how


def ending(code: int) -> str:
    """An exit code, negative for a signal, in words."""
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


class Daemon(Process):
    """A process that says nothing to us: it is there, or it has ended."""

    def __init__(self, name: str, argv: Sequence[str | Path], log: Path, environment: Mapping[str, str]) -> None:
        super().__init__(name, argv, log, None, environment)
        self._handle = os.pidfd_open(self.pid)

    def fileno(self) -> int:
        return self._handle

    def read(self) -> None:
        self.ended = True

    def fate(self) -> str | None:
        """How it ended by itself; None while it runs."""
        code = self._process.poll()
        return None if code is None else ending(code)

    def end(self, timeout_s: float) -> int:
        """Ask it to end, kill it if it does not. Returns its exit code, negative for a signal."""
        self._process.terminate()
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
        os.close(self._handle)
        return self._process.wait()


class Program(Process):
    """A program of the laboratory."""

    def __init__(self, name: str, argv: Sequence[str | Path], log: Path) -> None:
        super().__init__(name, argv, log, subprocess.PIPE, {})
        self.events: list[Event] = []
        self._rest = b""

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
        for fatal in self.of("fatal"):
            raise ProgramFailedError(f"{self.name}: {fatal.get('message', 'fatal error')}")
        super().complain()

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
    programs: Iterable[Process], condition: Callable[[], bool], timeout_s: float, *, expect_end: bool = False
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
                heard: Process = key.data
                heard.read()
                if heard.ended:
                    selector.unregister(heard)
                if not expect_end:
                    heard.complain()
    return True
