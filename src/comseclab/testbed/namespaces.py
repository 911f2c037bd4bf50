"""Network namespaces: enter one for a block, make and join their devices.

Everything here acts on namespaces under /run/netns, which a trial sees as a tmpfs of its own: they end with it.
"""

import ctypes
import fcntl
import os
import socket
import struct
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from comseclab.errors import LabError

NETNS = Path("/run/netns")
_CLONE_NEWNET = 0x40000000
_SIOCETHTOOL = 0x8946
_ETHTOOL_SETTERS = {"rx": 0x15, "tx": 0x17, "sg": 0x19, "tso": 0x1F, "gso": 0x24, "gro": 0x2C}
_libc = ctypes.CDLL(None, use_errno=True)


@contextmanager
def inside(namespace: Path) -> Iterator[None]:
    """Have the calling thread in a network namespace for the block; programs it starts there stay there."""
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    try:
        away = os.open(namespace, os.O_RDONLY)
        try:
            _setns(away)
        finally:
            os.close(away)
        try:
            yield
        finally:
            _setns(home)
    finally:
        os.close(home)


def _setns(descriptor: int) -> None:
    if _libc.setns(descriptor, _CLONE_NEWNET):
        error = ctypes.get_errno()
        raise OSError(error, f"setns: {os.strerror(error)}")


def mount_tmpfs(target: str, mode: str) -> None:
    """Cover `target` with an empty tmpfs."""
    if _libc.mount(b"tmpfs", target.encode(), b"tmpfs", 0, f"mode={mode}".encode()):
        error = ctypes.get_errno()
        raise LabError(
            f"cannot mount a private {target}: {os.strerror(error)}", "run as root, or allow user namespaces"
        )


def ip(commands: Iterable[str]) -> None:
    """Run commands of ip(8) in one go, in the calling thread's namespace."""
    _batch("ip", commands)


def tc(commands: Iterable[str]) -> None:
    """Run commands of tc(8) in one go, in the calling thread's namespace."""
    _batch("tc", commands)


def _batch(program: str, commands: Iterable[str]) -> None:
    script = "\n".join(commands)
    try:
        done = subprocess.run([program, "-batch", "-"], input=script, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise LabError(f"the program {program} is missing", "install the package iproute2") from error
    if done.returncode:
        raise LabError(f"{program} refused to build the testbed: {' '.join(done.stderr.split())}")


def offloads_off(interface: str) -> None:
    """Turn off what makes a veth carry frames no cable carries: unfinished checksums and frames above the MTU."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        for command in _ETHTOOL_SETTERS.values():
            value = ctypes.create_string_buffer(struct.pack("II", command, 0))
            request = struct.pack("16sP", interface.encode(), ctypes.addressof(value))
            fcntl.ioctl(control, _SIOCETHTOOL, request)


def set_sysctls(wanted: dict[str, str]) -> dict[str, str]:
    """Set the calling namespace's `net.*` values where that is allowed; returns all of them as they then are."""
    found = {}
    for name, value in wanted.items():
        path = Path("/proc/sys") / name.replace(".", "/")
        with suppress(OSError):  # read-only in a namespace, or absent: the value read back tells
            path.write_text(value)
        found[name] = path.read_text().strip() if path.exists() else "absent"
    return found
