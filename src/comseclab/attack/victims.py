"""Nodes under attack: one that ends is a finding, not a failure of the laboratory."""

import signal

from comseclab.testbed.program import Program


class Victim(Program):
    """A node whose end, once the attack has begun, is only noted."""

    tolerated = False

    def complain(self) -> None:
        if not self.tolerated:
            super().complain()

    def crash(self) -> str | None:
        """How it ended while it should not have; None while it runs or when it closed as told."""
        if not self.ended or self.of("closed"):
            return None
        code = self._process.wait()
        if fatal := self.of("fatal"):
            return str(fatal[-1].get("message"))
        return signal.Signals(-code).name if code < 0 else f"exit code {code}"
