"""Small real trials for the tests: specs, the native programs, a normal user, and what must not be left."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from comseclab.plan.links import PROFILES
from comseclab.testbed.profile import LinkProfile
from comseclab.trial.spec import Factors, ProtectionSpec, StreamSpec, TrialSpec
from comseclab.workload.spool import Spools
from comseclab.workload.synthetic import Synthetic

CHECKOUT = Path(__file__).parents[2]
REACHABLE = "/mnt"
"""Where another user finds the checkout, which may lie in a folder of root's own."""
NATIVE = Path(os.environ.get("CSLTMP", Path(os.environ.get("COMSECLAB_BUILD", CHECKOUT / "build")) / "bin"))
NOISE = ("other programs used", "the hypervisor took", "the switch was late")
"""Beginnings of the reasons that a busy machine gives: not what these tests are about."""

LABORATORIES: "list[subprocess.Popen[str]]" = []
"""Those started by run_apart; a test that fails must not leave one with the machine's lock."""


def native() -> Path:
    if not (NATIVE / "comseclab-node").exists():
        pytest.skip("the native programs are not built: ./comseclab build")
    return NATIVE


def make_spec(folder: Path, *, link: str | LinkProfile = "direct", protection: str = "none", pattern: str = "stream",
              size: int = 2000, rate_hz: float = 100.0, round_s: float = 0.5, **changes: Any) -> TrialSpec:  # fmt: skip
    """One opaque stream from robot to station, or `streams` as (writer, readers) each; `changes` are spec fields."""
    spool = Spools(folder / "spools").prepare(Synthetic("opaque", rate_hz, 1, size), round_s)
    profile = PROFILES[link] if isinstance(link, str) else link
    streams = [
        StreamSpec(
            id=number, topic=f"/data{number}", type=spool.type, writer_host=writer, reader_hosts=readers,
            spool=spool.path, spool_sha256=spool.sha256, messages=spool.messages, rate_hz=rate_hz,
            max_size=spool.max_size["cdr"],
        )
        for number, (writer, readers) in enumerate(changes.pop("ends", [("robot", ["station"])]))
    ]  # fmt: skip
    fields: dict[str, Any] = {
        "number": 1, "pair": 0, "hosts": ["robot", "station"], "link": profile,
        "backend": "switch" if profile.kind == "emulated" else "none",
        "factors": Factors.model_validate({
            "middleware": "fastdds", "reliability": "reliable", "protection": protection, "link": profile.name,
            "workload": "opaque", "codec": "cdr", "pattern": pattern, "settings": "default",
        }),
        "protection": ProtectionSpec(name=protection, base=protection), "streams": streams, "types": spool.types,
        "seed": 1, "nonce": "0123456789abcdef", "round_s": round_s, "drain_s": 0.3, "probes": 20, "native": native(),
    } | changes  # fmt: skip
    return TrialSpec(**fields)


def serious(reasons: list[str]) -> list[str]:
    """The reasons that no other load on the machine explains."""
    return [reason for reason in reasons if not reason.startswith(NOISE)]


def run_apart(
    spec: TrialSpec,
    folder: Path,
    *,
    user: int | None = None,
    wrapper: Sequence[str] = (),
    spec_folder: Path | None = None,
) -> "subprocess.Popen[str]":
    """Start a laboratory of its own that runs one trial and prints its record.

    `user`: as another user. `wrapper`: by another command. The spec is put beside the folder unless told otherwise.
    """
    spec_path = (spec_folder or folder.parent) / f"{folder.name}-spec.json"
    spec_path.write_text(spec.model_dump_json())
    python, environment = sys.executable, dict(os.environ)
    drop: list[str] = []
    if user is not None:
        reach = f'mount --bind "$0" {REACHABLE} && exec "$@"'
        drop = ["unshare", "-m", "--propagation", "private", "sh", "-c", reach, str(CHECKOUT)]
        drop += ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
        # setpriv itself still has root's rights when it starts a program; a shell shows the user's.
        if subprocess.run([*drop, "sh", "-c", 'test -x "$0"', python], check=False).returncode:
            python = shutil.which("python3", path="/usr/bin") or python
        packages = next(path for path in sys.path if path.endswith("site-packages"))
        environment["PYTHONPATH"] = f"{CHECKOUT / 'src'}:{packages}"
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        environment["HOME"] = str(folder.parent)
        for path in (folder.parent, *folder.parent.rglob("*")):
            os.chown(path, user, user)
    script = str(Path(__file__).with_name("laboratory.py"))
    if user is not None:
        script = script.replace(str(CHECKOUT), REACHABLE)
        environment["PYTHONPATH"] = environment["PYTHONPATH"].replace(str(CHECKOUT), REACHABLE)
        spec_path.write_text(spec_path.read_text().replace(str(CHECKOUT), REACHABLE))
    laboratory = subprocess.Popen(
        [*wrapper, *drop, python, script, str(spec_path), str(folder)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True,
    )  # fmt: skip
    LABORATORIES.append(laboratory)
    return laboratory
