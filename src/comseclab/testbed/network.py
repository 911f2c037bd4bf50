"""The testbed's network: hosts as namespaces, joined directly, by the kernel's bridge, or by our switch.

The trial's own network namespace is the switch's; it has no addresses. Each host has `eth0`, whose other end is
`port-HOST` there. Addresses, hardware addresses and neighbours are fixed, so that no ARP crosses a link.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from comseclab.errors import LabError
from comseclab.testbed import netem
from comseclab.testbed.host import Host
from comseclab.testbed.namespaces import NETNS, inside, ip, offloads_off, set_sysctls
from comseclab.testbed.profile import LinkProfile

SUBNET = "10.77.0"
MULTICAST = "239.255.0.0/16"
FILES = Path("/run/comseclab")
HOST_NAME = re.compile("[a-z][a-z0-9-]{0,9}")
"""An interface's name has 15 characters at most, and `port-` stands before the host's."""

NO_IPV6 = {"net.ipv6.conf.all.disable_ipv6": "1", "net.ipv6.conf.default.disable_ipv6": "1"}
HOST_SYSCTLS = NO_IPV6 | {
    # Default reassembly memory loses most messages of 60 kB at 1 % frame loss.
    "net.ipv4.ipfrag_high_thresh": "134217728",
    "net.ipv4.ipfrag_time": "3",
    "net.core.rmem_max": "67108864",
    "net.core.wmem_max": "67108864",
}


@dataclass(frozen=True)
class Network:
    """A testbed that is up."""

    hosts: dict[str, Host]
    sysctls: dict[str, str]
    """As they are in every host, set or not."""


def build(names: Sequence[str], profile: LinkProfile, backend: str) -> Network:
    """Make the hosts and join them. The switch's own process is not started here. Raises LabError."""
    for name in names:
        if not HOST_NAME.fullmatch(name):
            raise LabError(f"host name {name!r} cannot be used", "up to 10 small letters, digits and hyphens")
    FILES.mkdir(mode=0o700, parents=True, exist_ok=True)
    if profile.kind == "loopback":
        return _loopback(names)
    set_sysctls(NO_IPV6)
    if profile.kind == "direct" and len(names) == 2:
        _pair(names)
    else:
        _star(names, profile, backend)
    return _configure(names, profile)


def hosts_of(names: Sequence[str]) -> dict[str, Host]:
    """The hosts of a network that is no loopback, by their names; they need not be there."""
    return {name: _host(name, name, f"{SUBNET}.{number}", "eth0") for number, name in enumerate(names, 1)}


def _host(name: str, namespace: str, address: str, interface: str) -> Host:
    return Host(name, NETNS / namespace, address, interface, FILES / "hosts" / name)


def _loopback(names: Sequence[str]) -> Network:
    """All hosts' programs in one namespace, on a plain loopback device of its usual MTU."""
    ip([f"netns add {names[0]}"])
    with inside(NETNS / names[0]):
        sysctls = set_sysctls(HOST_SYSCTLS)
        ip(["link set lo multicast on up", f"route add {MULTICAST} dev lo"])
    return Network({name: _host(name, names[0], "127.0.0.1", "lo") for name in names}, sysctls)


def _pair(names: Sequence[str]) -> None:
    one, other = names
    ip([f"netns add {one}", f"netns add {other}", "link add end-0 type veth peer name end-1"])


def _star(names: Sequence[str], profile: LinkProfile, backend: str) -> None:
    ports = [f"port-{name}" for name in names]
    ip([f"netns add {name}" for name in names])
    ip(f"link add end-{number} type veth peer name {port}" for number, port in enumerate(ports))
    for port in ports:
        offloads_off(port)
    ip(f"link set {port} mtu {profile.mtu} arp off up" for port in ports)
    if profile.kind == "direct":
        netem.bridge("switch", ports, profile.mtu)
    elif backend == "kernel":
        netem.chains(names, profile)


def hardware_of(address: str) -> str:
    """The hardware address of the host that has this IPv4 address."""
    return f"02:00:{bytes(map(int, address.split('.'))).hex(':')}"


def _configure(names: Sequence[str], profile: LinkProfile) -> Network:
    hosts = hosts_of(names)
    hardware = {name: hardware_of(host.address) for name, host in hosts.items()}
    for number in range(len(names)):
        offloads_off(f"end-{number}")
    ip(f"link set end-{number} netns {name} name eth0" for number, name in enumerate(names))
    sysctls: dict[str, str] = {}
    for name, host in hosts.items():
        with inside(host.namespace):
            sysctls = set_sysctls(HOST_SYSCTLS)
            ip([
                "link set lo up",
                f"link set eth0 address {hardware[name]} mtu {profile.mtu} multicast on up",
                f"address add {host.address}/24 broadcast {SUBNET}.255 dev eth0",
                f"route add {MULTICAST} dev eth0",
                *(
                    f"neighbour replace {other.address} lladdr {hardware[other.name]} nud permanent dev eth0"
                    for other in hosts.values()
                    if other is not host
                ),
            ])  # fmt: skip
    return Network(hosts, sysctls)
