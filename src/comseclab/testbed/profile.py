"""Link profiles: what one direction of a path does to frames.

The semantics are those of Linux 6.1's sch_netem (draw order: duplicate, loss, corrupt, limit, delay).
Both backends, the kernel's netem and the user-space switch, take this model and mean the same by it.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class LinkProfile(BaseModel):
    """One direction of a path, applied at the sender's side of the switch.

    `jitter = "fifo"`: frames leave in the order they came; the rate serialises them after the delay of the
    frame before (netem with `rate` in the same qdisc). `jitter = "reorder"`: each frame's delay is its own, so
    frames may overtake each other; the rate then serialises them in the order they come out of the delay.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    kind: Literal["loopback", "direct", "emulated"] = "emulated"
    mtu: int = Field(1500, ge=576, le=65535, description="largest IP packet, bytes")
    rate_bps: int = Field(0, ge=0, description="bits per second, of whole Ethernet frames; 0: unlimited")
    delay_ns: int = Field(0, ge=0)
    jitter_ns: int = Field(0, ge=0, description="standard deviation (normal) or half range (uniform)")
    distribution: Literal["normal", "uniform"] = "normal"
    jitter: Literal["fifo", "reorder"] = "fifo"
    loss: float = Field(0.0, ge=0, le=1)
    corrupt: float = Field(0.0, ge=0, le=1, description="one bit of the frame flipped")
    duplicate: float = Field(0.0, ge=0, le=1)
    reorder: float = Field(0.0, ge=0, le=1, description="frames sent at once, ahead of the delayed ones")
    limit_frames: int = Field(0, ge=0, description="queue limit; 0: chosen from rate and delay")

    def queue_limit(self) -> int:
        """The queue limit in frames: as given, else room for 2 s above the longest usual delay at the rate."""
        if self.limit_frames:
            return self.limit_frames
        frames_per_second = (self.rate_bps or 1_000_000_000) / (8 * self.mtu)
        seconds = 2 + (self.delay_ns + 4 * self.jitter_ns) / 1e9
        return max(1000, round(frames_per_second * seconds))
