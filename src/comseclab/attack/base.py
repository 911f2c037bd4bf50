"""What the laboratory asks of an attack. A new one is a file in `attacks/`, and a row among the page's claims.

An attack acts on a Scene: the path between the hosts, and a host of its own. What it must know of a stack's messages
it asks the stack's dialect (`dialects/`), so that attacks are written once for all stacks.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

from comseclab.attack.spec import Seen

if TYPE_CHECKING:
    from comseclab.attack.dialect import Dialect
    from comseclab.attack.scene import Scene

Control = Literal["plain", "permitted"]
"""Of an outsider: the same attack where there is no protection. Of an insider: the same node holding the right."""
Credentials = Literal["none", "no-permission", "self-signed", "permitted"]
"""Of a node on the attacker's host: no identity at all; a valid one without the right to the topic; the same with
a permissions document that it signed itself; a valid one that holds the right."""


@dataclass(frozen=True)
class Rogue:
    """A node on the attacker's host, started with the others and told to publish when the attack begins."""

    role: Literal["publisher", "subscriber"]
    credentials: Credentials


class Effect(StrEnum):
    """What one trial under attack did, before it is compared with its control. The order is who wins."""

    SUCCEEDED = "succeeded"
    DETECTED = "detected"
    DISRUPTED = "disrupted"
    NOTHING = "nothing"


@dataclass(frozen=True)
class Outcome:
    """An effect, in words, and its harm as a number where the attack is one of harm."""

    effect: Effect
    text: str
    harm: dict[str, float] = field(default_factory=dict)
    reached: bool = False
    """The attack did what it is for, noticed or not: what its positive control must show."""


class Attack(ABC):
    """One attack."""

    name: str
    title: str
    """A sentence: what the attacker does."""
    success: str
    """A sentence: what counts as success."""
    stride: str
    """Spoofing, Tampering, Repudiation, Information disclosure, Denial of service, Elevation of privilege."""
    lasts_s: float = 1.2
    """Of the genuine stream's time. An attack that is not done by then makes its trial invalid."""
    controls: tuple[Control, ...] = ("plain",)
    """What must succeed in the same run before the attack is called stopped."""

    def rogues(self, dialect: "Dialect", *, control: bool) -> Sequence[Rogue]:
        """Nodes on the attacker's host; `control`: in the arm that must succeed."""
        return ()

    def act(self, scene: "Scene") -> None:
        """Begin; returns soon. What was begun is undone by the scene when the attack ends."""
        return

    def tried(self, seen: Seen) -> bool:
        """Whether the attacker did what the attack is; if it found nothing to act on, nothing was stopped. Pure.

        A node of the attacker's is tried by being there and sending: that it would do its work is for the control to
        show. One that ended before it had sent anything, as for settings of its own that are wrong, tried nothing.
        """
        return not seen.idle_rogues and (seen.rogues > 0 or seen.targeted + seen.injected_frames > 0)

    @abstractmethod
    def judge(self, seen: Seen) -> Outcome:
        """What the trial shows. Pure."""
