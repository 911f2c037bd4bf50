"""The switch, the capture and the probe on real interfaces, as root and as an ordinary user."""

import ast
import json
import os
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SCENARIOS = HERE / "scenarios.py"
PROGRAMS = HERE.parents[1] / "build/cargo/release"
NOBODY = 65534
PYTHON = "/usr/bin/python3"
"""An interpreter that every user may run; a virtual environment need not be."""

AS_ROOT = ["unshare", "-n", "-m"]
AS_USER = ["unshare", "-U", "-r", "-n", "-m"]
DROP_ROOT = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]


CHECKOUT = str(HERE.parents[1])
REACHABLE = "/mnt"
"""Where an ordinary user finds the checkout, which may lie in a folder of root's own."""
MOUNT = ["unshare", "-m", "--propagation", "private", "sh", "-c", f'mount --bind "$0" {REACHABLE} && exec "$@"']


def as_user(*command: str) -> list[str]:
    if os.geteuid():
        return [*command]
    return [*MOUNT, CHECKOUT, *DROP_ROOT, *(part.replace(CHECKOUT, REACHABLE) for part in command)]


def scenario_names() -> list[str]:
    """What the script's own list names; the script itself cannot be imported without its arguments."""
    assigned = [node for node in ast.parse(SCENARIOS.read_text()).body if isinstance(node, ast.Assign)]
    (listed,) = (node.value for node in assigned if ast.unparse(node.targets[0]) == "SCENARIOS")
    assert isinstance(listed, ast.Tuple)
    return [ast.unparse(name) for name in listed.elts]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that an ordinary user can reach and write."""
    for parent in (tmp_path, *list(tmp_path.parents)[:2]):
        parent.chmod(0o777)
    return tmp_path


@pytest.mark.parametrize("identity", ["root", "user"])
@pytest.mark.parametrize("scenario", scenario_names())
def test_scenario(scenario: str, identity: str, folder: Path) -> None:
    if identity == "root" and os.geteuid() != 0:
        pytest.skip("needs root")
    command = [PYTHON, str(SCENARIOS), scenario, str(PROGRAMS), str(folder)]
    whole = [*AS_ROOT, *command] if identity == "root" else as_user(*AS_USER, *command)
    done = subprocess.run(whole, capture_output=True, text=True, check=False, timeout=120, cwd="/")
    assert done.returncode == 0, done.stderr
    if (folder / "expected.json").exists():
        expected = json.loads((folder / "expected.json").read_text())
        assert expected == {name: read_capture(folder / name) for name in expected}


def read_capture(file: Path) -> list[int]:
    """Frames in a capture, and probes among them, as tcpdump, an independent reader, tells."""
    command = ["tcpdump", "-nn", "-r", str(file)]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return [len(lines), sum("length 200" in line for line in lines)]


def refused(command: list[str]) -> str:
    """The one line a program that refuses its input leaves."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30, stdin=subprocess.DEVNULL)
    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    return line


def config(folder: Path, **changes: object) -> str:
    profile = {"name": "plain"}
    ports = [{"host": name, "interface": f"no-{name}", "profile": profile} for name in ("a", "b")]
    content = {"version": 1, "seed": 1, "fifo_priority": 20, "cpu": None, "spin_ns": 60000, "ports": ports, **changes}
    file = folder / "switch.json"
    file.write_text(json.dumps(content))
    file.chmod(0o666)
    return str(file)


SWITCH = str(PROGRAMS / "comseclab-switch")


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"version": 2}, "version"),
        ({"ports": []}, "two ports"),
        ({"spin_ns": -1}, "spin_ns"),
        ({"fifo_priority": 100}, "fifo_priority"),
        ({"unheard_of": 1}, "unheard_of"),
        ({"adversary": "/nowhere/adversary"}, "adversary /nowhere/adversary"),
        ({"capture": {"path": "/nowhere/x.pcapng", "frames": 1}}, "bytes"),
        ({"ports": [{"host": "a", "interface": "x", "profile": {"name": "n", "loss": 2}}] * 2}, "same host"),
    ],
)
def test_a_wrong_configuration_is_one_line(changes: dict[str, object], named: str, folder: Path) -> None:
    assert named in refused([SWITCH, config(folder, **changes)])


def test_what_is_not_json_or_not_there_is_one_line(folder: Path) -> None:
    file = folder / "broken.json"
    file.write_text('{"version": 1,\n')
    assert "broken.json" in refused([SWITCH, str(file)])
    assert "missing.json" in refused([SWITCH, str(folder / "missing.json")])
    assert "CONFIG.json" in refused([SWITCH])


def test_an_unknown_interface_is_named(folder: Path) -> None:
    assert "no-a" in refused(as_user(*AS_USER, SWITCH, config(folder)))


def test_missing_rights_are_named(folder: Path) -> None:
    assert "run as root" in refused(as_user(SWITCH, config(folder)))


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ([], "--from is missing"),
        (["--from"], "no value"),
        (["--from", "/nowhere", "--from-address", "x"], "--from-address x"),
    ],
)
def test_the_probe_refuses_wrong_arguments(arguments: list[str], named: str) -> None:
    assert named in refused([str(PROGRAMS / "comseclab-probe"), *arguments])


def test_the_probe_names_a_namespace_that_is_not_there() -> None:
    values = {"from": "/nowhere", "from-address": "::1", "to": "/nowhere", "to-address": "::1", "count": 1}
    settings = {**values, "interval-us": 1, "size": 99}
    words = [word for name, value in settings.items() for word in (f"--{name}", str(value))]
    assert "/nowhere" in refused([str(PROGRAMS / "comseclab-probe"), *words])


def test_the_capture_names_an_interface_that_is_not_there(folder: Path) -> None:
    out = str(folder / "x.pcapng")
    words = ["--interface", "no-such", "--out", out, "--frames", "1", "--bytes", "1000"]
    assert "no-such" in refused(as_user(*AS_USER, str(PROGRAMS / "comseclab-capture"), *words))
