"""The fence around everything an adversary does: the namespaces of a running testbed of ours, and their addresses.

Every socket of an adversary is opened through here. It is no defence against whoever changes this program; it keeps the
laboratory from ever acting on anything but itself. A trial under attack builds its testbed in a fresh network namespace
and then encloses it, once; from then on this process, and no other, may act on the hosts it named, and on nothing else.
"""

import ipaddress
import os
import re
import socket
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from comseclab.errors import LabError
from comseclab.testbed.host import Host
from comseclab.testbed.namespaces import NETNS, inside
from comseclab.testbed.network import SUBNET

LOCAL = ipaddress.IPv4Network(f"{SUBNET}.0/24")
GROUPS = ipaddress.IPv4Network("224.0.0.0/4")
_LOOPBACK = ipaddress.IPv4Network("127.0.0.0/8")
_REMEDY = "attacks run inside `comseclab attack` only"
_NET = Path("/proc/thread-self/net")
"""What the calling thread's network namespace has."""
_IPV4 = b"\x08\x00"
"""The EtherType."""

Identity = tuple[int, int]
_ours: set[Identity] = set()
"""The namespaces of this process's testbed."""


def check_fresh() -> None:
    """Raise LabError unless this is the first process of its PID namespace, in a network namespace without an address.

    So is the process of a trial before and after it has joined its hosts by a switch; nothing that was there before is.
    """
    if os.getpid() != 1:
        raise LabError("this is not the process of a testbed", _REMEDY)
    if (_NET / "fib_trie").read_text():
        raise LabError("this network namespace has addresses, so it is not a testbed's", _REMEDY)


def enclose(hosts: Sequence[Host]) -> None:
    """Have these hosts be the testbed; to be called once, by the process that made them. Raises LabError."""
    check_fresh()
    if _ours:
        raise LabError("a testbed is enclosed here already", _REMEDY)
    for host in hosts:
        if host.namespace.parent != NETNS:
            raise LabError(f"{host.namespace} was not made by this testbed", _REMEDY)
        with inside(host.namespace):
            _check_isolated(host)
    _ours.update(_identity(host.namespace) for host in hosts)


def check_testbed() -> None:
    """Raise LabError unless this process has enclosed a testbed."""
    if os.getpid() != 1 or not _ours:
        raise LabError("no testbed is running here", _REMEDY)


@contextmanager
def within(host: Host) -> Iterator[None]:
    """Have the calling thread in the host's namespace for the block. Raises LabError unless it is a testbed's."""
    check_testbed()
    if not host.namespace.exists() or _identity(host.namespace) not in _ours:
        raise LabError(f"{host.namespace} is no namespace of this testbed", _REMEDY)
    with inside(host.namespace):
        _check_isolated(host)
        yield


def check_address(address: str) -> str:
    """The address, if it is one of a testbed. Raises LabError."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        raise LabError(f"{address!r} is no address", _REMEDY) from None
    if parsed not in LOCAL and parsed not in GROUPS:
        raise LabError(f"{address} is no address of a testbed", _REMEDY)
    return address


def check_frame(raw: bytes) -> None:
    """Raise LabError unless an Ethernet frame is one of IPv4 for a testbed's address. Its source may be made up.

    No attack sends anything else, and what is tagged or of another protocol may be for whoever it wants.
    """
    if len(raw) < 34:
        raise LabError("a frame ends before its IPv4 header does", _REMEDY)
    if raw[12:14] != _IPV4:
        raise LabError(f"a frame has the EtherType {raw[12:14].hex()}, which is not IPv4's", _REMEDY)
    check_address(socket.inet_ntoa(raw[30:34]))


def _check_isolated(host: Host) -> None:
    """The calling thread is on this host, and nothing leads out of it: all its routes end in the testbed."""
    addresses = re.findall(r"-- ([0-9.]+)\n +/32 host LOCAL", (_NET / "fib_trie").read_text())
    if host.address not in addresses:
        raise LabError(f"{host.namespace} is not the host with the address {host.address}", _REMEDY)
    for address in addresses:
        if ipaddress.ip_address(address) not in _LOOPBACK:
            check_address(address)
    for line in (_NET / "route").read_text().splitlines()[1:]:
        destination, gateway, mask = (socket.inet_ntoa(struct.pack("=I", int(line.split()[n], 16))) for n in (1, 2, 7))
        network = ipaddress.IPv4Network(f"{destination}/{mask}")
        if gateway != "0.0.0.0" or not (network.subnet_of(LOCAL) or network.subnet_of(GROUPS)):
            raise LabError(f"a route leads out of {host.namespace}: {network} by {gateway}", _REMEDY)


def _identity(namespace: Path) -> Identity:
    found = namespace.stat()
    return found.st_dev, found.st_ino
