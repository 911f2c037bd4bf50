"""The fence around everything an adversary does: the namespaces of a running testbed of ours, and their addresses.

Every socket of an adversary is opened through here. It is no defence against whoever changes this program; it keeps the
laboratory from ever acting on anything but itself.
"""

import ipaddress
import json
import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from comseclab.errors import LabError
from comseclab.testbed.host import Host
from comseclab.testbed.namespaces import inside
from comseclab.testbed.network import FILES, SUBNET

_REMEDY = "attacks run inside `comseclab attack` only"
_TESTBED = FILES / "testbed.json"
LOCAL = ipaddress.ip_network(f"{SUBNET}.0/24")
GROUPS = ipaddress.ip_network("224.0.0.0/4")


def enclose(hosts: Sequence[Host]) -> None:
    """Write down which namespaces are the testbed's; to be called once, by the process that made them."""
    _TESTBED.write_text(json.dumps({"pid": os.getpid(), "namespaces": [_identity(host.namespace) for host in hosts]}))


def check_address(address: str) -> str:
    """The address, if it is one of a testbed. Raises LabError."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        raise LabError(f"{address!r} is no address", _REMEDY) from None
    if parsed not in LOCAL and parsed not in GROUPS:
        raise LabError(f"{address} is no address of a testbed", _REMEDY)
    return address


@contextmanager
def within(host: Host) -> Iterator[None]:
    """Have the calling thread in the host's namespace for the block. Raises LabError unless it is a testbed's."""
    _check_testbed(host.namespace)
    with inside(host.namespace):
        _check_isolated()
        yield


def _check_testbed(namespace: Path) -> None:
    try:
        made = json.loads(_TESTBED.read_text())
    except (OSError, ValueError):
        raise LabError("no testbed is running here", _REMEDY) from None
    if made.get("pid") != os.getpid() or os.getpid() != 1:
        raise LabError("this is not the process of a testbed", _REMEDY)
    if _identity(namespace) not in made["namespaces"]:
        raise LabError(f"{namespace} is no namespace of this testbed", _REMEDY)


def _check_isolated() -> None:
    """No interface here has an address that a testbed would not give it, so nothing leads out."""
    shown = subprocess.run(["ip", "-4", "-oneline", "address"], capture_output=True, text=True, check=True).stdout
    for address in re.findall(r"inet ([0-9.]+)", shown):
        if not ipaddress.ip_address(address).is_loopback:
            check_address(address)


def _identity(namespace: Path) -> list[int]:
    found = namespace.stat()
    return [found.st_dev, found.st_ino]
