"""Testbeds are built for real, in namespaces that end with the builder."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from comseclab.plan.links import PROFILES
from comseclab.trial.launch import AS_USER, ISOLATE


def build(hosts: str, link: str) -> dict[str, Any]:
    privilege = () if os.geteuid() == 0 else AS_USER
    script = Path(__file__).with_name("inspect_network.py")
    argv = ["unshare", *privilege, *ISOLATE, "--", sys.executable, str(script), hosts, PROFILES[link].model_dump_json()]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("hosts", ["robot,station", "robot,station,other"])
def test_hosts_joined_directly_reach_each_other_without_arp(hosts: str) -> None:
    built = build(hosts, "direct")
    for name, host in built["hosts"].items():
        assert all(host["reached"].values())
        assert host["interfaces"] == {"lo": 65536, "eth0": 1500}
        assert host["offloads"] == []
        assert host["neighbours"].count("PERMANENT") == len(built["hosts"]) - 1
        assert "239.255.0.0/16 dev eth0" in host["routes"]
        assert "inet6" not in host["addresses"]
        assert host["frames"] >= len(built["hosts"]) - 1, name
    assert len({host["namespace"] for host in built["hosts"].values()}) == len(built["hosts"])


def test_the_switch_is_the_only_way_between_hosts_and_has_no_address() -> None:
    built = build("robot,station", "wifi-2018")
    for name, host in built["hosts"].items():
        assert host["reached"] == {other: other == name for other in built["hosts"]}
        assert host["interfaces"]["eth0"] == 65535
    assert built["switch"] == ""
    assert built["switch_ipv6"] == "1"


def test_on_localhost_all_hosts_share_one_loopback() -> None:
    built = build("robot,station", "localhost")
    for host in built["hosts"].values():
        assert host["interfaces"] == {"lo": 65536}
        assert all(host["reached"].values())
        assert "239.255.0.0/16 dev lo" in host["routes"]
    assert len({host["namespace"] for host in built["hosts"].values()}) == 1


def test_reassembly_of_fragments_has_memory_and_time() -> None:
    sysctls = build("robot,station", "direct")["sysctls"]
    assert sysctls["net.ipv4.ipfrag_high_thresh"] == "134217728"
    assert sysctls["net.ipv4.ipfrag_time"] == "3"


def test_the_machines_own_settings_stay() -> None:
    path = Path("/proc/sys/net/ipv4/ipfrag_time")
    before = path.read_text()
    build("robot,station", "direct")
    assert path.read_text() == before


@pytest.mark.parametrize("name", ["a-very-long-name", "Robot", "a b", "../x", ""])
def test_a_name_no_interface_can_have_is_refused(name: str) -> None:
    with pytest.raises(AssertionError, match="cannot be used"):
        build(f"robot,{name}", "direct")
