"""Nodes under attack: one that ends is a finding, not a failure of the laboratory."""

from comseclab.testbed.program import Event, Program, ending


class Victim(Program):
    """A node whose end, once somebody of the attacker's has acted, is only noted."""

    tolerated = False
    _stopped = False

    def send(self, command: Event) -> None:
        self._stopped = self._stopped or (command["command"] == "stop" and not self.ended)
        super().send(command)

    def complain(self) -> None:
        if not self.tolerated:
            super().complain()

    def crash(self) -> str | None:
        """How it ended before it was told to; None else. Stacks fail at closing without attacks, too."""
        if not self.ended or self._stopped:
            return None
        if fatal := self.of("fatal"):
            return str(fatal[-1].get("message"))
        return ending(self._process.wait())
