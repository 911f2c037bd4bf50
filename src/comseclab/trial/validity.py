"""When a trial is invalid: the laboratory failed, not the thing it measures (docs/methodology.md).

The limits are generous: a small shared machine should pass while it is not disturbed.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from comseclab.results.record import ProcessUse, WireProof
from comseclab.testbed.profile import LinkProfile
from comseclab.testbed.program import Event

SWITCH_LATE_NS = 500_000
"""Error of the switch's sending time, p99: a saturated machine with SCHED_FIFO stays below 0.15 ms."""
SWITCH_LATE_SHARE = 0.05
"""The same as a share of the link's delay, jitter and the time its rate takes for the largest message: where a message
is long on its way, a later switch changes nothing."""
RUN_DELAY_SHARE = 0.25
"""Of the window a node was ready and had no CPU. Nodes that fill their own CPUs wait for each other: that is overload,
an outcome. So this counts only together with FOREIGN_CPU_SHARE."""
FOREIGN_CPU_SHARE = 0.5
"""CPU that programs outside the trial took, as a share of one core."""
STEAL_SHARE = 0.05
"""Of the window, per CPU: time the hypervisor gave to others."""
CLEAN_DELAY_NS = 500_000_000
"""A link with a longer delay may keep discovery from ending in time."""


def impaired(link: LinkProfile) -> bool:
    """Whether the link may keep nodes from matching, so that no match is an outcome."""
    return bool(link.loss or link.corrupt) or link.delay_ns + 4 * link.jitter_ns > CLEAN_DELAY_NS


def judge_switch(link: LinkProfile, counters: Mapping[str, Any], largest: int) -> list[str]:
    """Reasons found in the switch's last `counters`; `largest` is the size of the largest message, bytes."""
    if not counters:
        return []
    reasons = []
    late_ns = counters["send_error_ns"]["p99"]
    on_link_ns = 8e9 * largest / link.rate_bps if link.rate_bps else 0.0
    limit_ns = max(SWITCH_LATE_NS, SWITCH_LATE_SHARE * (link.delay_ns + link.jitter_ns + on_link_ns))
    if late_ns > limit_ns:
        reasons.append(f"the switch was late: p99 {late_ns / 1e3:.0f} us, limit {limit_ns / 1e3:.0f} us")
    for host, port in counters["ports"].items():
        for name in ("ring_dropped", "send_failed"):
            if port[name]:
                reasons.append(f"the switch lost frames of {host} itself: {name} {port[name]}")
    return reasons


def judge_machine(
    processes: Sequence[ProcessUse], foreign_share: float, steal_s: float, window_s: float, cpus: int
) -> list[str]:
    """Reasons found in what the machine did meanwhile."""
    reasons = []
    if steal_s > STEAL_SHARE * window_s * cpus:
        reasons.append(f"the hypervisor took {steal_s:.2f} s of CPU from this machine")
    worst = max(processes, key=lambda process: process.run_delay_s, default=None)
    if worst and worst.run_delay_s > RUN_DELAY_SHARE * window_s and foreign_share > FOREIGN_CPU_SHARE:
        reasons.append(
            f"other programs used {100 * foreign_share:.0f} % of a CPU,"
            f" and {worst.name} waited for one {worst.run_delay_s:.2f} s of {window_s:.2f} s"
        )
    return reasons


def judge_closing(node: str, closed: Event | None) -> list[str]:
    """Reasons found in a node's `closed` event."""
    if closed is None:
        return [f"{node} did not close"]
    reasons = []
    if dry := closed.get("dry", 0):
        reasons.append(f"{node} had to wait for its messages {dry} times: reading them was too slow")
    if lacking := closed.get("not_recorded", 0):
        reasons.append(f"{node} had no room to record {lacking} messages")
    return reasons


def judge_proof(proof: WireProof | None) -> list[str]:
    """Reasons found on the wire."""
    return [f"the wire contradicts the protection: {text}" for text in proof.contradictions] if proof else []
