"""How much an adversary may do in one trial. Whatever an attack asks for, it gets no more."""

import time

from comseclab.errors import LabError

MOST_FRAMES = 20_000
MOST_BYTES = 50_000_000
MOST_SECONDS = 10.0


class Budget:
    """Counts what is sent; refuses beyond the bounds."""

    def __init__(self) -> None:
        self.frames = 0
        self.bytes = 0
        self._until = time.monotonic() + MOST_SECONDS

    def spend(self, size: int) -> None:
        """Account for a frame or message of `size` bytes. Raises LabError when the bounds are reached."""
        if self.frames >= MOST_FRAMES or self.bytes + size > MOST_BYTES or time.monotonic() > self._until:
            raise LabError(
                f"the attack reached its bounds ({MOST_FRAMES} frames, {MOST_BYTES} bytes, {MOST_SECONDS:g} s)",
                "an attack of the laboratory stays below them",
            )
        self.frames += 1
        self.bytes += size
