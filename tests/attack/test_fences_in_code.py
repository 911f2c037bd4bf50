"""An adversary acts in the namespaces of a running testbed only: what its code could do otherwise, it does not hold."""

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import comseclab.attack
from comseclab.attack.spec import AttackSpec
from comseclab.cli.attack import attack as verb

ROOM = Path(comseclab.attack.__file__).parent
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


def test_nodes_are_started_on_hosts_of_the_testbed_only() -> None:
    nodes = list(ast.walk(ast.parse((ROOM / "conduct.py").read_text())))
    blocks = [node for node in nodes if isinstance(node, ast.With) and "fence.within(node.host)" in ast.unparse(node)]
    fenced = {inner for block in blocks for inner in ast.walk(block)}
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    starting = [call for call in calls if ast.unparse(call.func) in ("Victim", "Program")]
    assert starting
    assert all(call in fenced for call in starting)


def test_one_module_alone_is_a_program() -> None:
    programs = [path.name for path in MODULES if "__main__" in path.read_text() or path.name == "__main__.py"]
    assert programs == ["__main__.py"]


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
