"""An adversary acts in the namespaces of a running testbed, within bounds, and nowhere else: tried otherwise."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from attack.inside import AS_ROOT, HERE, environment, run_inside
from attack.scenes import HOSTS, STATION, away, frame_to, scene_on
from attack.traffic import messages, recorded
from comseclab.attack import fence
from comseclab.attack.base import Attack
from comseclab.attack.dialect import Dialect, dialect_of, dialects
from comseclab.attack.path import OnPath, passes
from comseclab.attack.registry import ATTACKS
from comseclab.errors import LabError
from comseclab.testbed.host import Host
from comseclab.trial.launch import ISOLATE
from comseclab.trial.spec import Factors

WAYS = ("connect", "inject", "inject_on_path")
LOOK_AND_HOLD = {"eavesdrop", "drop", "delay"}
"""Attacks that send nothing: they only look at frames, take them off the path, or hold them."""
NODES = {"insider-publish", "self-signed-permissions", "subscribe-without-right"}
"""Attacks that are nodes on the attacker's host; that these are started there alone: test_fences_in_code."""
FOREIGN = f"comseclab-test-{os.getpid()}"


@contextmanager
def foreign_namespace() -> Iterator[Path]:
    """A namespace of the machine's with a name, as other programs make them."""
    subprocess.run(["ip", "netns", "add", FOREIGN], check=True)
    try:
        yield Path("/run/netns") / FOREIGN
    finally:
        subprocess.run(["ip", "netns", "delete", FOREIGN], check=True)


def _found(said: str) -> dict[str, str | None]:
    found: dict[str, str | None] = json.loads(said)
    return found


@pytest.fixture(scope="module")
def tried() -> dict[str, str | None]:
    """What became of each try in a testbed, which is given the machine's own namespace, and as root another one."""
    with ExitStack() as stack:
        paths = [Path("/proc/self/ns/net")]
        if os.geteuid() == 0:
            paths.append(stack.enter_context(foreign_namespace()))
        files = [stack.enter_context(path.open()) for path in paths]
        descriptors = tuple(file.fileno() for file in files)
        return _found(run_inside(ISOLATE, "inside_testbed.py", *map(str, descriptors), pass_fds=descriptors))


# In a testbed.


@pytest.mark.parametrize(
    "what",
    [
        "fresh namespaces", "enclosing the testbed", "the path", "the attacker's host", "inject", "inject_on_path",
        "the attacker's host from a thread",
    ],
)  # fmt: skip
def test_within_a_testbed_all_is_open(tried: dict[str, str | None], what: str) -> None:
    assert tried[what] is None


def test_what_is_allowed_is_done_once(tried: dict[str, str | None]) -> None:
    assert (tried["frames sent"], tried["frames on the path"]) == ("1", "1")


def test_a_connection_that_is_refused_was_tried_and_one_that_nobody_answers_was_not(
    tried: dict[str, str | None],
) -> None:
    assert (tried["spent on a closed port"], tried["spent on nobody's port"]) == ("1", "0")


@pytest.mark.parametrize(
    ("what", "cause"),
    [
        ("a host before the testbed is enclosed", "no testbed"),
        ("the path before the testbed is enclosed", "no testbed"),
        ("enclosing another", "enclosed here already"),
        ("the attacker's host from a child", "no testbed"),
        ("a foreign namespace", "no namespace of this testbed"),
        ("no namespace", "no namespace of this testbed"),
        ("the switch's own namespace", "no namespace of this testbed"),
        ("a namespace of the machine, 0", "no namespace of this testbed"),
        ("enclosing the switch's own namespace", "was not made by this testbed"),
        ("enclosing a namespace of the machine, 0", "was not made by this testbed"),
        ("enclosing a host under another's address", "is not the host"),
        ("a host with a route out", "a route leads out"),
        ("a host with a foreign address", "192.0.2.7 is no address of a testbed"),
        ("inject fragment", "192.0.2.1 is no address"),
        ("inject IPv6", "86dd, which is not IPv4"),
        ("inject a piece", "ends before"),
        ("inject after the end", "the attack has ended"),
        ("say after the end", "the attack has ended"),
    ],
)
def test_everything_else_is_closed(tried: dict[str, str | None], what: str, cause: str) -> None:
    assert cause in (tried[what] or "nothing was refused")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives namespaces of the machine a name")
def test_a_named_namespace_of_the_machine_is_closed(tried: dict[str, str | None]) -> None:
    assert "no namespace of this testbed" in (tried["a namespace of the machine, 1"] or "")
    assert "was not made by this testbed" in (tried["enclosing a namespace of the machine, 1"] or "")


@pytest.mark.parametrize("address", away())
def test_an_address_that_is_not_a_testbeds_is_closed(tried: dict[str, str | None], address: str) -> None:
    results = [text for what, text in tried.items() if what in {f"{way} {address}" for way in WAYS}]
    assert results
    assert all("address" in (text or "nothing was refused") for text in results)


def test_who_listens_does_so_on_the_attackers_host_until_the_end(tried: dict[str, str | None]) -> None:
    assert tried["listening at"] == "10.77.0.3"
    assert tried["listening outside"] == ""
    assert tried["listener after the end"] == "-1"


# Outside one.


def test_namespaces_that_are_not_fresh_are_closed() -> None:
    without_pid = tuple(part for part in ISOLATE if part not in ("--pid", "--kill-child", "--mount-proc"))
    assert "not the process of a testbed" in (
        _found(run_inside(without_pid, "inside_testbed.py", "--alone"))["fresh namespaces"] or ""
    )


def test_the_machines_own_network_is_closed_to_the_process_of_a_trial() -> None:
    """A namespace with an address stands for the machine; all others of the trial's process are its own."""
    inner = [part for part in ISOLATE if part != "--net"]
    script = f'ip link set lo up; exec unshare {" ".join(inner)} -- {sys.executable} "$0" --alone'
    argv = ["unshare", *AS_ROOT, "--net", "--", "sh", "-c", script, str(HERE / "inside_testbed.py")]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True, env=environment())
    assert "has addresses" in json.loads(done.stdout)["fresh namespaces"]


@pytest.fixture
def machine(tmp_path: Path) -> dict[str, Host]:
    """Hosts that are all the machine itself."""
    own = Path("/proc/self/ns/net")
    return {name: Host(name, own, f"10.77.0.{number}", "lo", tmp_path) for number, name in enumerate(HOSTS, 1)}


@pytest.mark.parametrize("module", ["comseclab.attack", "comseclab.trial"])
@pytest.mark.parametrize("names", [[], ["spec.json", "."], ["a", "b", "c"]], ids=len)
def test_by_hand_the_process_of_a_trial_refuses(module: str, names: list[str], tmp_path: Path) -> None:
    (tmp_path / "spec.json").write_text("{}")
    argv = [sys.executable, "-m", module, *(str(tmp_path / name) for name in names)]
    with subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        code = child.wait()
        assert child.stdout
        assert child.stderr
        said, failed = child.stdout.read(), child.stderr.read()
    assert (code, failed) == (2, "")
    assert "namespaces of its own" in json.loads(said)["cause"]


def test_nobody_is_on_a_path_where_no_testbed_is(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="no testbed"):
        OnPath(tmp_path / "adversary.sock")
    assert list(tmp_path.iterdir()) == []


def test_nothing_can_be_enclosed(machine: dict[str, Host]) -> None:
    with pytest.raises(LabError, match="not the process of a testbed"):
        fence.enclose(list(machine.values()))
    with pytest.raises(LabError, match="no testbed"), fence.within(machine["attacker"]):
        pass


def test_what_sends_is_closed(machine: dict[str, Host], tmp_path: Path) -> None:
    scene, path = scene_on(machine, tmp_path / "injected.hex")
    sends = [
        lambda: scene.inject(STATION.raw),
        lambda: scene.inject_on_path(STATION),
        lambda: scene.connect("10.77.0.2", 80),
        scene.listen,
    ]
    for send in sends:
        with pytest.raises(LabError, match="no testbed"):
            send()
    assert path.injected == []
    assert not (tmp_path / "injected.hex").exists()


def applicable() -> Iterator[Any]:
    """Each attack on each stack where it makes sense, and on QUIC, which alone reflects among those of Zenoh."""
    stages = [*((dialect, "none") for dialect in {id(one): one for one in dialects().values()}.values())]
    for dialect, protection in [*stages, (dialect_of("zenoh"), "quic")]:
        factors = Factors.model_construct(middleware=dialect.stacks[0], reliability="reliable", protection=protection)
        for attack in ATTACKS.values():
            if dialect.refuse(attack.name, factors) is None:
                name = f"{attack.name}-{dialect.stacks[0]}-{protection}"
                yield pytest.param(attack, dialect, protection, id=name)


def sends(attack: Attack, dialect: Dialect) -> bool:
    """Whether an attack sends anything by itself."""
    if attack.name == "forged-publish":
        return type(dialect).forge is not Dialect.forge  # or its node alone publishes
    return attack.name not in LOOK_AND_HOLD | NODES


@pytest.mark.timeout(30)  # one that got through might listen for ever
@pytest.mark.parametrize(("attack", "dialect", "protection"), [*applicable()])
def test_no_attack_does_anything(
    attack: Attack, dialect: Dialect, protection: str, machine: dict[str, Host], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """It has seen all it needs, and what sends is refused: at once, in a thread, or when a message comes by."""
    scene, path = scene_on(machine, tmp_path / "injected.hex", dialect, protection)
    stage = dialect.stacks[0], protection
    path.seen = recorded(*stage)
    monkeypatch.setattr(scene, "apart", lambda work, *arguments: work(*arguments))
    refused = pytest.raises(LabError, match="no testbed is running here") if sends(attack, dialect) else nullcontext()
    with refused:
        attack.act(scene)
        for frame in messages(*stage, range(11, 21)):
            list((path.rule or passes)(frame))
    scene.end()
    assert path.injected == []
    assert (scene.budget.frames, scene.budget.bytes) == (0, 0)
    assert not (tmp_path / "injected.hex").exists()


def test_frames_within_a_testbed_pass() -> None:
    for address in ("10.77.0.2", "239.255.0.1", "10.77.0.255"):
        fence.check_frame(frame_to(address))


@pytest.mark.parametrize("address", ["10.77.0.2", "192.0.2.1"])
@pytest.mark.parametrize(
    "before",
    [b"\x81\x00\x00\x01\x08\x00", b"\x88\xa8\x00\x01\x81\x00\x00\x01\x08\x00", b"\x86\xdd", b"\x08\x06", b"\x00\x40"],
    ids=["one VLAN", "two VLANs", "IPv6", "ARP", "IEEE 802.3"],
)
def test_frames_that_are_not_plainly_of_ipv4_are_closed(before: bytes, address: str) -> None:
    frame = frame_to(address)
    with pytest.raises(LabError, match=f"EtherType {before[:2].hex()}"):
        fence.check_frame(frame[:12] + before + frame[14:])


@pytest.mark.parametrize("size", [0, 13, 14, 33])
def test_frames_that_are_cut_short_are_closed(size: int) -> None:
    with pytest.raises(LabError, match="ends before"):
        fence.check_frame(frame_to("10.77.0.2")[:size])
