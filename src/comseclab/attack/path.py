"""Someone on the path: every frame that enters the switch passes through here, and goes on as a rule says.

The other end is the switch's hook (docs/formats.md, Switch): frames come in packets of a Unix socket and go back so.
"""

import heapq
import itertools
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from comseclab.attack import fence, limits
from comseclab.attack.frame import Frame
from comseclab.errors import LabError

REMEMBERED = 20_000
"""Frames kept to learn from."""
MOST_BYTES = 70_000

Rule = Callable[[Frame], Iterable[tuple[float, Frame]]]
"""What goes on in place of a frame: frames, each after so many seconds; nothing, to drop it."""


def passes(frame: Frame) -> Iterable[tuple[float, Frame]]:
    """The rule of one who only looks."""
    return ((0.0, frame),)


class OnPath:
    """The adversary's end of the hook, with a thread of its own from `start` to `stop`."""

    def __init__(self, path: Path) -> None:
        """`path`: where the switch will connect. Raises LabError where no testbed runs."""
        fence.check_testbed()
        self.path = path
        self._rule: Rule = passes
        self._ruling = threading.RLock()
        self.seen: deque[Frame] = deque(maxlen=REMEMBERED)
        self.failure: Exception | None = None
        """What a rule raised; the frame then passed untouched, and so does everything after it.

        Or what a thread of an attack's raised.
        """
        self._added = limits.Budget()
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._listener.bind(str(path))
        self._listener.listen(1)
        self._held: list[tuple[float, int, Frame]] = []
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._switch: socket.socket | None = None
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def start(self) -> None:
        """Wait for the switch in the background."""
        self._thread.start()

    def follow(self, rule: Rule) -> None:
        """Treat every frame by this rule from now on; when this returns, no other is at work."""
        with self._ruling:
            self._rule = rule

    def inject(self, frame: Frame) -> None:
        """Have a frame enter the switch as if the host at its port had sent it."""
        assert self._switch is not None, "the switch connects before the first frame"
        with self._lock:
            self._switch.sendall(struct.pack("<B", frame.port) + frame.raw)

    def leave(self) -> None:
        """Have the switch carry frames by itself from now on; those that it gave before still go on."""
        assert self._switch is not None, "the switch connects before the first frame"
        self._switch.shutdown(socket.SHUT_RD)

    def stop(self) -> None:
        """Leave the path; frames that are still held are gone."""
        with suppress(OSError):
            (self._switch or self._listener).shutdown(socket.SHUT_RDWR)
        self._thread.join(2.0)
        self._listener.close()

    def _serve(self) -> None:
        try:
            self._switch, _ = self._listener.accept()
        except OSError:
            return
        self._switch.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)
        while True:
            self._release()
            wait_s = max(0.0005, self._held[0][0] - time.monotonic()) if self._held else None
            self._switch.settimeout(wait_s)
            try:
                packet = self._switch.recv(MOST_BYTES)
            except TimeoutError:
                continue
            except OSError:
                return
            if not packet:
                return
            self._take(packet)

    def _take(self, packet: bytes) -> None:
        port, at_ns = struct.unpack_from("<Bq", packet)
        frame = Frame(port, packet[9:], at_ns)
        self.seen.append(frame)
        with self._ruling:
            self._release()
            try:
                following = self._allowed(frame, list(itertools.islice(self._rule(frame), limits.MOST_FOR_ONE + 1)))
            except Exception as error:  # a rule that fails must not hold up the testbed; the trial is invalid
                self.failure, self._rule, following = error, passes, [(0.0, frame)]
        now = time.monotonic()
        for delay_s, goes_on in following:
            if delay_s:
                heapq.heappush(self._held, (now + delay_s, next(self._numbers), goes_on))
            else:
                self._give(goes_on)

    def _allowed(self, frame: Frame, following: list[tuple[float, Frame]]) -> list[tuple[float, Frame]]:
        """What goes on in place of the frame, if all of it may. Raises LabError."""
        if len(following) > limits.MOST_FOR_ONE:
            raise LabError(f"more than {limits.MOST_FOR_ONE} frames would go on in place of one")
        for _, extra in following[1:]:
            self._added.spend(len(extra.raw))
        for delay_s, goes_on in following:
            limits.check_held(delay_s)
            if goes_on.raw is not frame.raw:
                fence.check_frame(goes_on.raw)
        return following

    def _release(self) -> None:
        """Give what is due: all, once nobody holds anything back, so that nothing overtakes what was held."""
        now = time.monotonic()
        while self._held and (self._rule is passes or self._held[0][0] <= now):
            self._give(heapq.heappop(self._held)[2])

    def _give(self, frame: Frame) -> None:
        with suppress(OSError):  # the switch has ended
            self.inject(frame)
