"""Scenarios of the switch, run by name inside a network and mount namespace of their own.

`scenarios.py NAME PROGRAMS FOLDER`: the standard library alone, so that any user can run it. A scenario that fails
raises; everything it makes ends with its namespaces.
"""

import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from switch_network import FOLDER, PATIENCE_S, PROGRAMS, Network, address, alone, enter, probe, settled, shell

SENTINEL = b"comseclab-sentinel"


def checksum(data: bytes) -> int:
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total >> 16) + (total & 0xFFFF)
    return ~(total + (total >> 16)) & 0xFFFF


def traffic() -> None:
    """ARP, ICMP echo and UDP cross, and every counter agrees with the interfaces'."""
    network = Network({"robot": {}, "station": {"delay_ns": 1_000_000}})
    ping = network.socket("robot", socket.SOCK_RAW, socket.IPPROTO_ICMP)
    body = struct.pack("!HH", 77, 1) + SENTINEL
    echo = struct.pack("!BBH", 8, 0, checksum(struct.pack("!BBH", 8, 0, 0) + body)) + body
    began = time.monotonic()
    ping.sendto(echo, (address(2), 0))
    reply = ping.recv(2000)
    assert reply[20] == 0
    assert reply[24:] == body
    assert time.monotonic() - began >= 0.001, "the reply is delayed"
    receiver = network.socket("station")
    receiver.bind((address(2), 5000))
    sender = network.socket("robot")
    messages = [bytes([number]) * (number + 1) for number in range(200)]
    for message in messages:
        sender.sendto(message, (address(2), 5000))
    assert [receiver.recv(2000) for _ in messages] == messages
    last = network.stop()
    network.agree(last)
    assert last["ports"]["robot"]["in_frames"] >= 202
    assert last["send_error_ns"]["n"] == sum(port["out_frames"] for port in last["ports"].values())


def loss() -> None:
    """A direction that loses everything counts it; the other direction is its own."""
    network = Network({"robot": {"loss": 1.0}, "station": {}})
    for host, number, other in (("robot", 2, "station"), ("station", 1, "robot")):
        enter("switch")
        hardware = json.loads(shell("ip", "-n", other, "-j", "link", "show", "eth0"))[0]["address"]
        shell("ip", "-n", host, "neigh", "add", address(number), "lladdr", hardware, "dev", "eth0")
    there, back = probe("robot", "station")
    assert (there["sent"], there["received"], back["sent"], back["received"]) == (100, 0, 100, 100)
    last = network.stop()
    assert last["ports"]["robot"]["lost"] == last["ports"]["robot"]["in_frames"] >= 100
    assert last["ports"]["station"]["out_frames"] == 0
    network.agree(last)


def delays() -> None:
    """The probe measures each direction's own delay, none shorter than the link's."""
    network = Network({"robot": {"delay_ns": 2_000_000}, "station": {"delay_ns": 5_000_000}})
    there, back = probe("robot", "station")
    assert [there["sender"], back["sender"]] == ["from", "to"]
    assert there["received"] == back["received"] == len(there["delays_ns"]) == 100
    assert min(there["delays_ns"]) >= 2_000_000
    assert min(back["delays_ns"]) >= 5_000_000
    assert sorted(there["delays_ns"])[50] < 5_000_000, "the first direction has its own delay"
    network.stop()


def impaired() -> None:
    """Duplicates reach the probe as often as the switch counts them; corrupted frames never do."""
    network = Network({"robot": {"duplicate": 0.5}, "station": {"corrupt": 1.0}})
    there, back = probe("robot", "station")
    last = network.stop()
    network.agree(last)
    assert 0 < there["duplicated"] <= last["ports"]["robot"]["duplicated"]
    assert last["ports"]["station"]["corrupted"] == last["ports"]["station"]["in_frames"]
    assert back["received"] < back["sent"] or there["received"] == 0


def loopback() -> None:
    """The probe works within one namespace."""
    alone("10.9.0.1/32")
    for direction in probe("alone", "alone", (1, 1)):
        assert direction["received"] == direction["sent"] == 100


def flooding() -> None:
    """A broadcast reaches all hosts; what is addressed reaches its host alone."""
    network = Network({"a": {"delay_ns": 1000}, "b": {}, "c": {}})
    receivers = [network.socket(host) for host in ("b", "c")]
    for receiver in receivers:
        receiver.bind(("", 5000))
    sender = network.socket("a")
    sender.sendto(SENTINEL, ("10.9.0.255", 5000))
    assert [receiver.recv(100) for receiver in receivers] == [SENTINEL] * 2
    # After the handshake of ARP the switch knows both, and the third hears no more.
    sender.sendto(SENTINEL, (address(2), 5000))
    assert receivers[0].recv(100) == SENTINEL
    heard = network.counters()["ports"]["c"]["out_frames"]
    for _ in range(50):
        sender.sendto(SENTINEL, (address(2), 5000))
        assert receivers[0].recv(100) == SENTINEL
    last = network.stop()
    assert last["ports"]["c"]["out_frames"] == heard
    network.agree(last)


def jumbo() -> None:
    """The largest IP packets cross whole."""
    network = Network({"a": {"mtu": 65535}, "b": {"mtu": 65535}})
    receiver = network.socket("b")
    receiver.bind((address(2), 5000))
    message = os.urandom(65507)
    network.socket("a").sendto(message, (address(2), 5000))
    assert receiver.recv(70000) == message
    last = network.stop()
    assert last["ports"]["a"]["in_bytes"] > 65535
    network.agree(last)


def offloads() -> None:
    """Frames no wire would carry are counted as what they are and go no further."""
    network = Network({"a": {"mtu": 600}, "b": {"mtu": 1500}}, offloads=True)
    shell("ip", "-n", "a", "link", "set", "eth0", "mtu", "1500")
    shell("ip", "-n", "switch", "link", "set", "port-a", "mtu", "1500")
    sender = network.socket("a")
    sender.sendto(SENTINEL, (address(2), 5000))
    settled(network, lambda counters: counters["ports"]["a"]["checksum_missing"] == 1)
    shell("ip", "netns", "exec", "a", "ethtool", "-K", "eth0", "tx", "off")
    sender.sendto(bytes(900), (address(2), 5000))
    settled(network, lambda counters: counters["ports"]["a"]["oversized"] == 1)
    network.agree(network.stop())


def expect(**files: tuple[int, int]) -> None:
    """Leave word of how many frames, and how many of them probes, each capture must hold."""
    (FOLDER / "expected.json").write_text(json.dumps(files))


def start(host: str, program: str, *arguments: str) -> subprocess.Popen:
    """A program on a host, as soon as it is ready."""
    command = ["ip", "netns", "exec", host, str(PROGRAMS / program), *arguments]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert json.loads(process.stdout.readline()) == {"event": "ready"}
    return process


def capture() -> None:
    """The switch captures the first frames of all its ports, and no more."""
    network = Network({"a": {}, "b": {}}, capture={"path": str(FOLDER / "whole"), "frames": 1000, "bytes": 10**7})
    probe("a", "b", count=20)
    last = network.stop()
    crossed = sum(port[f"{way}_frames"] for port in last["ports"].values() for way in ("in", "out"))
    config = FOLDER / "switch.json"
    bounds = {"path": str(FOLDER / "cut"), "frames": 5, "bytes": 10**7}
    config.write_text(json.dumps({**json.loads(config.read_text()), "capture": bounds}))
    again = start("switch", "comseclab-switch", str(config))
    probe("a", "b", count=20)
    again.communicate("stop\n", timeout=PATIENCE_S)
    expect(whole=(crossed, 80), cut=(5, 5))


def capture_program() -> None:
    """`comseclab-capture` shows each frame of the loopback device once, and both directions of others."""
    alone("10.9.0.1/32")
    bounds = ["--frames", "1000", "--bytes", "1000000"]
    captures = [start("alone", "comseclab-capture", "--interface", "lo", "--out", str(FOLDER / "lo"), *bounds)]
    probe("alone", "alone", (1, 1), count=10)
    network = Network({"a": {}, "b": {}})
    probe("a", "b", count=1)
    captures += [start("a", "comseclab-capture", "--interface", "eth0", "--out", str(FOLDER / "eth0"), *bounds)]
    cut = ["--frames", "5", "--bytes", "1000000"]
    captures += [start("a", "comseclab-capture", "--interface", "eth0", "--out", str(FOLDER / "cut0"), *cut)]
    full, sockets = captures[-1], Path(f"/proc/{captures[-1].pid}/net/packet")
    assert packet_sockets(sockets) == 2
    probe("a", "b", count=10)
    deadline = time.monotonic() + PATIENCE_S
    while packet_sockets(sockets) > 1 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert packet_sockets(sockets) == 1, "a full capture goes on receiving frames"
    assert full.poll() is None
    for process in captures:
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 0
    network.stop()
    expect(lo=(20, 20), eth0=(20, 20), cut0=(5, 5))


def packet_sockets(table: Path) -> int:
    """Packet sockets of a network namespace: the lines of its table below the head."""
    return len(table.read_text().splitlines()) - 1


def endings() -> None:
    """The end of input, SIGINT and SIGTERM each end the switch with its last counters."""
    Network({"a": {}, "b": {}}).stop()
    endings: Iterable[Callable[[subprocess.Popen], object]] = (
        lambda process: process.stdin.close(),
        lambda process: process.send_signal(signal.SIGINT),
        lambda process: process.send_signal(signal.SIGTERM),
    )
    for end in endings:
        process = start("switch", "comseclab-switch", str(FOLDER / "switch.json"))
        end(process)
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["event"] == "counters"
        assert process.wait(PATIENCE_S) == 0


def meddle(path: socket.socket, altered: bytes, dropped: bytes) -> None:
    """Be on the path until closed: alter one payload, drop another, and send nonsense besides."""
    while packet := path.recv(1 << 17):
        port, frame = packet[:1], packet[9:]
        for nonsense in (b"", port, b"\xff" + frame):
            path.send(nonsense)
        if frame.endswith(altered):
            # Without UDP's checksum, as IPv4 allows.
            path.send(port + frame[:40] + bytes(2) + frame[42 : -len(altered)] + altered.swapcase())
        elif not frame.endswith(dropped):
            path.send(port + frame)


def on_path() -> None:
    """The adversary alters, drops and injects; when it has gone, frames pass."""
    place = FOLDER / "adversary"
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(str(place))
    listener.listen()
    network = Network({"robot": {}, "station": {"delay_ns": 1000}}, adversary=str(place))
    path, _ = listener.accept()
    thread = threading.Thread(target=meddle, args=(path, SENTINEL, b"drop me"))
    thread.start()
    receiver = network.socket("station")
    receiver.bind((address(2), 5000))
    sender = network.socket("robot")
    for message in (b"first", SENTINEL, b"drop me", b"last"):
        sender.sendto(message, (address(2), 5000))
    assert [receiver.recv(100) for _ in range(3)] == [b"first", SENTINEL.swapcase(), b"last"]
    counters = network.counters()
    lost = counters["ports"]["robot"]["in_frames"] - counters["ports"]["station"]["out_frames"]
    assert lost == 1, "what the adversary keeps is lost"
    path.shutdown(socket.SHUT_RD)
    thread.join(PATIENCE_S)
    hardware = [
        json.loads(shell("ip", "-n", host, "-j", "link", "show", "eth0"))[0]["address"] for host in network.hosts
    ]
    injected = udp_frame(*(bytes.fromhex(one.replace(":", "")) for one in hardware), b"injected")
    path.send(b"\0" + injected)
    assert receiver.recv(100) == b"injected"
    path.close()
    sender.sendto(SENTINEL, (address(2), 5000))
    assert receiver.recv(100) == SENTINEL
    last = network.stop()
    assert last["ports"]["robot"]["in_frames"] - last["ports"]["station"]["out_frames"] == 0, (
        "one dropped, one injected"
    )


def udp_frame(source: bytes, target: bytes, payload: bytes) -> bytes:
    """From host 1 to port 5000 of host 2, both named by hardware address."""
    udp = struct.pack("!HHHH", 5000, 5000, 8 + len(payload), 0) + payload
    head = [0x45, 0, 20 + len(udp), 0, 0, 64, socket.IPPROTO_UDP, 0, *map(socket.inet_aton, (address(1), address(2)))]
    head[7] = checksum(struct.pack("!BBHHHBBH4s4s", *head))
    return target + source + b"\x08\x00" + struct.pack("!BBHHHBBH4s4s", *head) + udp


SCENARIOS = (
    traffic, loss, delays, impaired, loopback, flooding, jumbo, offloads, capture, capture_program, endings, on_path,
)  # fmt: skip

if __name__ == "__main__":
    shell("mount", "-t", "tmpfs", "tmpfs", "/run")
    {scenario.__name__: scenario for scenario in SCENARIOS}[sys.argv[1]]()
