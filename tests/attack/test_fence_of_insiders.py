"""The plugin by which an insider of Cyclone DDS grants itself everything works in a testbed only: tried elsewhere."""

import subprocess
import sys
from collections.abc import Callable

import pytest

from attack.inside import AS_ROOT
from comseclab.attack import dds_insider
from comseclab.middleware import cyclonedds
from comseclab.places import native_programs
from comseclab.protection import dds
from comseclab.protection.dds import Participant
from comseclab.trial.spec import ProtectionSpec

OPENS = """
import ctypes, sys
ddsc = ctypes.CDLL("libddsc.so")
if ddsc.dds_create_domain(0, sys.argv[1].encode()) < 0 or ddsc.dds_create_participant(0, None, None) < 0:
    sys.exit("no participant")
"""
"""Any process of Cyclone DDS: the plugin comes with the configuration."""
WITH_ADDRESSES = """
opens=$1 configuration=$2; shift 2
ip link set lo up
for address; do ip address add "$address" dev lo; done
exec "$0" -c "$opens" "$configuration"
"""
TESTBEDS = "10.77.0.3"
ELSEWHERE = {"another network": "192.0.2.7/24", "the next network": "10.77.1.3/24", "IPv6": "2001:db8::7/64"}
Open = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Open:
    """Opens an insider's participant in a namespace that has a testbed's address, and the ones given."""
    folder = tmp_path_factory.mktemp("material")
    nobody = frozenset[str]()
    material = dds.prepare(
        ProtectionSpec(name="auth", base="auth"), [Participant("insider", "attacker", nobody, nobody)], 0, folder
    )
    genuine = material.files["insider"]
    files = dds_insider.of_cyclonedds(genuine, genuine["permissions"], folder / "insider")
    configuration = dds_insider.with_plugin(cyclonedds.required(TESTBEDS, files), native_programs())

    def run(*addresses: str) -> subprocess.CompletedProcess[str]:
        argv = ["unshare", *AS_ROOT, "--net", "--", "sh", "-ec", WITH_ADDRESSES, sys.executable, OPENS, configuration]
        given = [*argv, f"{TESTBEDS}/24", *addresses]
        return subprocess.run(given, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)

    return run


def test_in_a_testbed_it_works(opened: Open) -> None:
    done = opened()
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("address", ELSEWHERE.values(), ids=ELSEWHERE)
def test_where_anybody_else_could_be_reached_it_refuses(opened: Open, address: str) -> None:
    done = opened(address)
    assert done.returncode == 1
    assert "insiders work in a testbed of the laboratory only" in done.stderr
    assert done.stderr.endswith("no participant\n")
