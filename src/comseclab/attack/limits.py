"""How much an adversary may do in one trial. Whatever an attack asks for, it gets no more."""

import threading
import time
from collections.abc import Callable

from comseclab.errors import LabError

MOST_FRAMES = 20_000
MOST_BYTES = 50_000_000
MOST_SECONDS = 10.0
"""From the first frame sent to the last."""
MOST_FRAMES_A_SECOND = 10_000
MOST_HELD_S = 5.0
"""For a frame that is kept back on the path."""
MOST_FOR_ONE = 32
"""Frames that may go on in place of one. All but one are spent from a budget."""
_REMEDY = "an attack of the laboratory stays below its bounds"


class Budget:
    """Counts what is sent; refuses beyond the bounds. Any thread may spend."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock`: seconds."""
        self.frames = 0
        self.bytes = 0
        self._clock = clock
        self._first: float | None = None
        self._second = (0.0, 0)
        """When the present second began, and the frames since."""
        self._closed = False
        self._lock = threading.Lock()

    def spend(self, size: int) -> None:
        """Account for a frame or message of `size` bytes. Raises LabError when a bound is reached."""
        with self._lock:
            now = self._clock()
            self.check_open()
            self._first = now if self._first is None else self._first
            began, count = self._second if now - self._second[0] < 1 else (now, 0)
            if self.frames >= MOST_FRAMES or self.bytes + size > MOST_BYTES or now - self._first > MOST_SECONDS:
                bounds = f"{MOST_FRAMES} frames, {MOST_BYTES} bytes, {MOST_SECONDS:g} s"
                raise LabError(f"the attack reached its bounds ({bounds})", _REMEDY)
            if count >= MOST_FRAMES_A_SECOND:
                raise LabError(f"the attack sends more than {MOST_FRAMES_A_SECOND} frames a second", _REMEDY)
            self.frames += 1
            self.bytes += size
            self._second = (began, count + 1)

    def check_open(self) -> None:
        """Raise LabError when nothing may be spent any more."""
        if self._closed:
            raise LabError("the attack has ended", _REMEDY)

    def close(self) -> None:
        """Nothing may be spent from now on."""
        self._closed = True


def check_held(delay_s: float) -> None:
    """Raise LabError when a frame would be kept back longer than is allowed."""
    if not 0 <= delay_s <= MOST_HELD_S:
        raise LabError(f"a frame would be held for {delay_s:g} s; {MOST_HELD_S:g} s are allowed", _REMEDY)
