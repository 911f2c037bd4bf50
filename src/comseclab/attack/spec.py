"""AttackSpec and AttackRecord: what goes into a trial under attack, and what comes out of it. Both are JSON."""

from typing import Literal, Self

from pydantic import Field, model_validator

from comseclab.attack.limits import MOST_SECONDS
from comseclab.results.record import Record, WireProof
from comseclab.trial.spec import Spec, TrialSpec

Arm = Literal["attack", "control"]


class AttackSpec(Spec):
    """A trial under attack: the trial, the attack, and when the attack begins and ends, from the first message on."""

    version: Literal[1] = 1
    trial: TrialSpec
    attack: str
    arm: Arm = Field("attack", description="control: an insider holds the right that the attack lacks")
    forged_nonce: str = Field(pattern="^[0-9a-f]{16}$", description="by which messages of the attacker's own are known")
    begin_s: float = Field(ge=0)
    end_s: float

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        if not 0 < self.end_s - self.begin_s <= MOST_SECONDS:
            raise ValueError(f"an attack lasts up to {MOST_SECONDS:g} s, not {self.end_s - self.begin_s:g} s")
        return self


class Phase(Record):
    """Messages due, by their writer's schedule, in one phase of the trial: begun or not."""

    sent: int
    delivered: int

    @property
    def lost_share(self) -> float:
        return 1 - self.delivered / self.sent if self.sent else 0.0


class Seen(Record):
    """What the subscriber received and what everybody's programs and the capture show."""

    before: Phase = Field(description="messages due before the attack, and how many of them were delivered")
    during: Phase = Field(description="the same, of messages due during the attack")
    after: Phase = Field(description="the same, of messages due after it")
    altered: int = Field(0, description="receipts whose bytes neither the writer nor the attacker sent")
    forged: int = Field(0, description="receipts that carry the attacker's nonce")
    repeated: int = Field(0, description="genuine messages delivered again")
    stale: int = Field(0, description="of these, delivered to a subscriber that was restarted after they were sent")
    last_genuine: int | None = Field(None, description="index of the last message delivered, -1 for none")
    age_before_ns: float | None = Field(
        None, description="median time from when a message was due to its receipt, of those before the attack"
    )
    age_during_ns: float | None = Field(None, description="the same, of messages due during the attack")
    told: list[str] = Field(default_factory=list, description="what the stack told a victim's application meanwhile")
    crashed: dict[str, str] = Field(default_factory=dict, description="victim, a node or a service -> how it ended")
    rogue_received: int = Field(0, description="genuine messages that a node of the attacker received")
    readers: list[str] = Field(default_factory=list, description="credentials of the nodes that received them")
    rogue_refused: list[str] = Field(default_factory=list, description="what the attacker's node was told")
    leaked: list[str] = Field(default_factory=list, description="what the capture shows in clear")
    bytes_out: int = Field(0, description="bytes of the frames that the victims sent to a third party in that time")
    bytes_in: int = Field(0, description="bytes of the frames that the attacker's host sent in that time")
    relayed: int = Field(0, description="frames of the stream that reached the subscriber from the attacker's address")
    frames_a_message: float = Field(1.0, gt=0, description="frames of the stream for each message before the attack")
    captured: int = Field(0, description="frames in the capture")
    rogues: int = Field(0, description="nodes of the attacker's that were started")
    idle_rogues: int = Field(0, description="of these, those that ended before they had sent anything")
    injected_frames: int = Field(0, description="frames, and pieces of connections, that the attacker sent or altered")
    injected_bytes: int = Field(0, description="bytes of these")
    targeted: int = Field(0, description="frames of the stream that the attacker altered, held or dropped")


class AttackRecord(Record):
    """A closed trial under attack: `record.json` in its folder."""

    version: Literal[1] = 1
    attack: str
    arm: Arm
    case: str
    valid: bool
    reasons: list[str] = Field(description="why invalid: the laboratory or the genuine stream failed")
    seen: Seen | None
    proof: WireProof | None = Field(None, description="of the protection, by the genuine frames before the attack")
    notes: list[str] = Field(default_factory=list, description="what the attacker did, in order")
    versions: dict[str, str] = Field(default_factory=dict)
