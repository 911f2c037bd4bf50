"""An adversary acts in the namespaces of a running testbed, within bounds, and nowhere else: tried otherwise."""

import ast
import inspect
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import typer
from pydantic import ValidationError

import comseclab.attack
from attack.inside import AS_ROOT, HERE, environment, run_inside
from attack.scenes import HOSTS, STATION, away, frame_to, scene_on
from comseclab.attack import fence, limits
from comseclab.attack.base import Attack
from comseclab.attack.dialect import Dialect, dialects
from comseclab.attack.frame import Frame
from comseclab.attack.path import OnPath
from comseclab.attack.registry import ATTACKS
from comseclab.attack.spec import AttackSpec
from comseclab.cli.attack import attack as verb
from comseclab.errors import LabError
from comseclab.testbed.host import Host
from comseclab.trial.launch import ISOLATE

ROOM = Path(comseclab.attack.__file__).parent
WAYS = ("connect", "inject", "inject_on_path")
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
        ("inject IPv6", "no IPv6"),
        ("inject a piece", "ends before"),
        ("say to a packet socket", "192.0.2.1 is no address"),
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


def test_by_hand_the_process_of_a_trial_refuses(tmp_path: Path) -> None:
    (tmp_path / "spec.json").write_text("{}")
    argv = [sys.executable, "-m", "comseclab.attack", str(tmp_path / "spec.json"), str(tmp_path)]
    with subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        code = child.wait()
        assert child.stdout
        assert child.stderr
        said, failed = child.stdout.read(), child.stderr.read()
    assert (code, failed) == (2, "")
    assert "namespaces of its own" in json.loads(said.splitlines()[-1])["cause"]


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
        scene.packet_socket,
    ]
    for send in sends:
        with pytest.raises(LabError, match="no testbed"):
            send()
    assert path.injected == []
    assert not (tmp_path / "injected.hex").exists()


@pytest.mark.parametrize(
    "dialect", {id(one): one for one in dialects().values()}.values(), ids=lambda one: one.stacks[0]
)
@pytest.mark.parametrize("attack", ATTACKS.values(), ids=lambda one: one.name)
def test_no_attack_does_anything(attack: Attack, dialect: Dialect, machine: dict[str, Host], tmp_path: Path) -> None:
    """Rules for the path it may make: nobody is there to follow them."""
    scene, path = scene_on(machine, tmp_path / "injected.hex", dialect)
    with suppress(Exception):  # some miss what they would have learned from a path
        attack.act(scene)
    rule = path.rule
    with suppress(Exception):
        list(rule(STATION) if rule else ())
    scene.end()
    assert path.injected == []
    assert (scene.budget.frames, scene.budget.bytes) == (0, 0)
    assert not (tmp_path / "injected.hex").exists()


def test_no_verb_takes_an_address() -> None:
    application = typer.Typer()
    application.command()(verb)
    parameters = {one.name for one in typer.main.get_command(application).params}
    assert "plan" in parameters
    assert not {name for name in parameters if name and ("addr" in name or "host" in name or "target" in name)}
    assert "plan" in inspect.signature(verb).parameters


def test_no_specification_holds_an_address() -> None:
    """The testbed gives its hosts their addresses; what goes into a trial has names of hosts."""
    names = set(_properties(AttackSpec.model_json_schema()))
    assert "writer_host" in names
    assert not {name for name in names if "addr" in name or name in ("ip", "target", "url")}


def _properties(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        for part in schema.values():
            yield from _properties(part)


# The code.

PROCESSES = {"subprocess", "multiprocessing", "pty", "ctypes", "asyncio", "socketserver", "scapy", "pyroute2"}
NETWORK = {"urllib.request", "http.server", "ftplib", "smtplib", "imaplib", "poplib", "telnetlib"}
OF_THE_TESTBED = {"comseclab.testbed.namespaces", "comseclab.testbed.program"}
OPENS = {"create_connection", "create_server", "socketpair", "fromfd", "socket", "getaddrinfo", "gethostbyname"}
"""Of the module socket."""
ELSEWHERE = {
    "HTTPConnection", "HTTPSConnection", "ServerProxy", "SimpleXMLRPCServer", "urlopen", "Popen", "Program", "Daemon",
    "start_daemon", "system", "fork", "execv", "execvp", "posix_spawn", "setns", "unshare",
}  # fmt: skip
SENDS = {"send", "sendall", "sendto", "sendmsg", "sendfile"}
MODULES = sorted(path for path in ROOM.rglob("*.py"))
SILENT = [path for path in MODULES if path.name not in ("scene.py", "path.py", "conduct.py", "victims.py")]
OPEN = {
    "path.py": {"socket.socket"},
    "scene.py": {"socket.socket", "socket.create_connection", "socket.create_server"},
    "fence.py": {"comseclab.testbed.namespaces"},
    "conduct.py": {"subprocess", "comseclab.testbed.program"},
    "victims.py": {"comseclab.testbed.program"},
}
"""Who may what: the path and the scene, which are fenced, open sockets; who conducts a trial starts nodes and waits."""


def reaches_out(path: Path) -> set[str]:
    """What a module imports or calls that opens a socket, starts a process or enters a namespace."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names if _denied(name.name)}
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} if _denied(node.module) else set()
            found |= {f"{node.module}.{name.name}" for name in node.names if _denied(f"{node.module}.{name.name}")}
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            owner, _, name = called.rpartition(".")
            if name in ELSEWHERE or (owner == "socket" and name in OPENS) or (not owner and name in OPENS):
                found.add(called)
    return found


def _denied(module: str) -> bool:
    return module in PROCESSES | NETWORK | OF_THE_TESTBED or module.split(".", 1)[0] in PROCESSES


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOM)))
def test_only_the_fenced_open_sockets_or_start_processes(path: Path) -> None:
    assert reaches_out(path) == OPEN.get(str(path.relative_to(ROOM)), set())


def test_what_is_looked_for_is_found(tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    path.write_text(
        "import socket, subprocess\nfrom os import fork\nsocket.create_connection(('192.0.2.1', 1))\n"
        "from socket import socket as s\nx.start_daemon()\nfork()\nfrom http.server import HTTPServer\n"
    )
    assert reaches_out(path) == {"subprocess", "socket.create_connection", "x.start_daemon", "fork", "http.server"}


@pytest.mark.parametrize("path", SILENT, ids=lambda path: str(path.relative_to(ROOM)))
def test_only_the_scene_sends(path: Path) -> None:
    """On sockets: what is sent another way is neither bounded nor written down. Two more give commands to nodes."""
    calls = [node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    assert [ast.unparse(call) for call in calls if isinstance(call, ast.Attribute) and call.attr in SENDS] == []


def test_the_scene_opens_sockets_in_the_attackers_namespace_only() -> None:
    nodes = list(ast.walk(ast.parse((ROOM / "scene.py").read_text())))
    blocks = [
        node for node in nodes if isinstance(node, ast.With) and "fence.within(self.attacker)" in ast.unparse(node)
    ]
    fenced = {inner for block in blocks for inner in ast.walk(block)}
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    opening = [call for call in calls if ast.unparse(call.func) in OPEN["scene.py"]]
    assert len(opening) >= 3
    assert all(node in fenced for node in opening)


def test_one_module_alone_is_a_program() -> None:
    programs = [path.name for path in MODULES if "__main__" in path.read_text() or path.name == "__main__.py"]
    assert programs == ["__main__.py"]


# Bounds.

NOBODY = Host("attacker", Path("/proc/self/ns/net"), "10.77.0.3", "lo", Path())


class Clock:
    """Seconds, by hand."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def spend(budget: limits.Budget, clock: Clock, count: int, size: int, every_s: float) -> int:
    """How many of so many frames are allowed."""
    for number in range(count):
        try:
            budget.spend(size)
        except LabError:
            return number
        clock.now += every_s
    return count


@pytest.mark.parametrize(
    ("size", "every_s", "allowed"),
    [
        (100, 0.0004, limits.MOST_FRAMES),
        (1_000_000, 0.01, limits.MOST_BYTES // 1_000_000),
        (100, 0.5, int(limits.MOST_SECONDS / 0.5) + 1),
        (100, 0.00001, limits.MOST_FRAMES_A_SECOND),
        (limits.MOST_BYTES + 1, 0.1, 0),
    ],
    ids=["frames", "bytes", "seconds", "rate", "one"],
)
def test_a_budget_ends(size: int, every_s: float, allowed: int) -> None:
    clock = Clock()
    assert spend(limits.Budget(clock), clock, 2 * limits.MOST_FRAMES, size, every_s) == allowed


def test_a_budget_lasts_from_the_first_frame_on() -> None:
    clock = Clock()
    budget = limits.Budget(clock)
    clock.now += 10 * limits.MOST_SECONDS
    assert spend(budget, clock, 10, 100, 0.1) == 10


def test_a_second_later_as_many_may_follow() -> None:
    clock = Clock()
    budget = limits.Budget(clock)
    assert spend(budget, clock, limits.MOST_FRAMES, 1, 0) == limits.MOST_FRAMES_A_SECOND
    clock.now += 1.0
    assert spend(budget, clock, limits.MOST_FRAMES, 1, 0) == limits.MOST_FRAMES - limits.MOST_FRAMES_A_SECOND


def test_what_is_refused_is_not_counted() -> None:
    budget = limits.Budget()
    with pytest.raises(LabError):
        budget.spend(limits.MOST_BYTES + 1)
    assert (budget.frames, budget.bytes) == (0, 0)


def test_a_budget_that_is_closed_is_empty() -> None:
    budget = limits.Budget()
    budget.close()
    with pytest.raises(LabError, match="has ended"):
        budget.spend(1)


@pytest.mark.parametrize("delay_s", [-0.1, limits.MOST_HELD_S + 0.1, float("nan"), float("inf")])
def test_a_frame_is_held_only_so_long(delay_s: float) -> None:
    with pytest.raises(LabError, match="would be held"):
        limits.check_held(delay_s)
    limits.check_held(limits.MOST_HELD_S)


@pytest.mark.parametrize("end_s", [0.8, 0.5, 0.8 + limits.MOST_SECONDS + 0.1, float("inf"), float("nan")])
def test_an_attack_lasts_only_so_long(end_s: float) -> None:
    fields = {"trial": scene_on({"attacker": NOBODY}, Path())[0].spec.trial, "attack": "drop", "forged_nonce": "0" * 16}
    with pytest.raises(ValidationError, match="an attack lasts up to"):
        AttackSpec(**fields, begin_s=0.8, end_s=end_s)  # type: ignore[arg-type]
    AttackSpec(**fields, begin_s=0.8, end_s=0.8 + limits.MOST_SECONDS)  # type: ignore[arg-type]


def test_frames_within_a_testbed_pass() -> None:
    for address in ("10.77.0.2", "239.255.0.1", "10.77.0.255"):
        fence.check_frame(frame_to(address))
    fence.check_frame(Frame(0, b"\xff" * 12 + b"\x08\x06" + bytes(28)).raw)
