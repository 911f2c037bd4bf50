"""Private network namespaces for tests, as root or in a user namespace; they end with their `with` block."""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Namespace:
    """A network namespace held by a process of ours."""

    def __init__(self, parent: "Namespace | None" = None) -> None:
        user = ["-U", "-r"] if parent is None and os.geteuid() else []
        hold = ["unshare", *user, "-n", "setpriv", "--pdeathsig", "KILL", "sleep", "infinity"]
        self._user = bool(user) or (parent is not None and parent._user)
        self.holder = subprocess.Popen(parent.within(hold) if parent else hold)
        outside = os.readlink(f"/proc/{parent.pid if parent else 'self'}/ns/net")
        while os.readlink(f"/proc/{self.pid}/ns/net") == outside or self._command() != "sleep":
            assert self.holder.poll() is None, "no network namespace could be made"
            time.sleep(0.01)
        self.run("ip", "link", "set", "lo", "up")

    @property
    def pid(self) -> int:
        return self.holder.pid

    def _command(self) -> str:
        return Path(f"/proc/{self.pid}/comm").read_text().strip()

    def within(self, command: list[str]) -> list[str]:
        user = ["-U", "--preserve-credentials"] if self._user else []
        return ["nsenter", "-t", str(self.pid), *user, "-n", *command]

    def run(self, *command: str) -> None:
        subprocess.run(self.within(list(command)), check=True)

    def wait_for_carrier(self, interface: str) -> None:
        """The kernel brings a veth up some time after it was asked to; until then Fast DDS does not see it."""
        show = self.within(["ip", "-oneline", "link", "show", "dev", interface])
        deadline = time.monotonic() + 10
        while b"state UP" not in subprocess.run(show, capture_output=True, check=True).stdout:
            assert time.monotonic() < deadline, f"{interface} has no carrier"
            time.sleep(0.01)

    def close(self) -> None:
        self.holder.kill()
        self.holder.wait()


@contextmanager
def loopback() -> Iterator[Namespace]:
    """A namespace with lo alone."""
    namespace = Namespace()
    try:
        yield namespace
    finally:
        namespace.close()


@contextmanager
def veth_pair() -> Iterator[tuple[Namespace, Namespace]]:
    """Two namespaces joined by a veth pair: 10.9.0.1 and 10.9.0.2, offloads off, room for IP fragments."""
    with loopback() as left:
        right = Namespace(left)
        try:
            left.run("ip", "link", "add", "wire", "type", "veth", "peer", "name", "wire", "netns", str(right.pid))
            for namespace, address in ((left, "10.9.0.1"), (right, "10.9.0.2")):
                namespace.run("ethtool", "-K", "wire", "tx", "off", "rx", "off")
                namespace.run("ip", "address", "add", f"{address}/24", "dev", "wire")
                namespace.run("ip", "link", "set", "wire", "up")
                namespace.run("sysctl", "--quiet", "net.ipv4.ipfrag_high_thresh=134217728")
            for namespace in (left, right):
                namespace.wait_for_carrier("wire")
            yield left, right
        finally:
            right.close()
