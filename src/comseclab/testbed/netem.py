"""Link profiles by the kernel's own netem.

netem acts once per direction, at the sender's side, and not on the sending host's own queue: there it would tell a
local TCP of its drops. Each host's port is therefore joined by a small bridge to a veth whose near end holds the
netem, and whose far end is in the common bridge:

    eth0 = port-HOST -- bridge -- x-HOST [netem] = y-HOST -- bridge "switch"

A profile that reorders and has a rate takes two such stages, delay before rate. A child netem would mean the same,
but kernels since 6.1.143 refuse a second netem under one that duplicates.
"""

from collections.abc import Sequence

from comseclab.testbed.namespaces import ip, offloads_off, tc
from comseclab.testbed.profile import LinkProfile

UNLIMITED_RATE = "1000gbit"
"""Under a rate netem keeps frames in order; this one takes 12 ns for a frame of 1500 B."""


def stages(profile: LinkProfile) -> list[str]:
    """The arguments of each netem a frame passes, in order."""
    limit = profile.queue_limit()
    impair = [f"limit {limit}"]
    if profile.delay_ns or profile.jitter_ns:
        impair.append(f"delay {profile.delay_ns / 1000}us")
    if profile.jitter_ns:
        impair.append(f"{profile.jitter_ns / 1000}us distribution {profile.distribution}")
    for name in ("loss", "corrupt", "duplicate", "reorder"):
        share = getattr(profile, name)
        if share:
            impair.append(f"{name} {100 * share:.6f}%")
    if profile.jitter == "fifo":
        return [" ".join([*impair, f"rate {profile.rate_bps}bit" if profile.rate_bps else f"rate {UNLIMITED_RATE}"])]
    return [" ".join(impair)] + ([f"limit {limit} rate {profile.rate_bps}bit"] if profile.rate_bps else [])


def chains(hosts: Sequence[str], profile: LinkProfile) -> None:
    """Join the ports of all hosts, each through its own netem."""
    ends = []
    for number, host in enumerate(hosts):
        end = f"port-{host}"
        for stage, arguments in enumerate(stages(profile)):
            near, far = f"x{stage}-{host}", f"y{stage}-{host}"
            ip([f"link add {near} type veth peer name {far}"])
            for interface in (near, far):
                offloads_off(interface)
            ip(f"link set {interface} mtu {profile.mtu} arp off up" for interface in (near, far))
            bridge(f"b{stage}-{number}", [end, near], profile.mtu)
            tc([f"qdisc add dev {near} root netem {arguments}"])
            end = far
        ends.append(end)
    bridge("switch", ends, profile.mtu)


def bridge(name: str, ports: Sequence[str], mtu: int) -> None:
    """A plain bridge: no spanning tree, no address, multicast flooded as by a simple switch."""
    ip([
        f"link add {name} type bridge stp_state 0 forward_delay 0 mcast_snooping 0",
        *(f"link set {port} master {name}" for port in ports),
        f"link set {name} mtu {mtu} arp off up",
    ])  # fmt: skip
