"""A simulated run in the shape of the demonstration plan: two workloads, three links, plain and secured."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

sys.path.insert(0, str(Path(__file__).parents[1] / "analysis"))
from simulate import Arm, Run, campaign, record, samples, write_trial

from comseclab.results.record import LinkMeasured, ProcessUse, TrialRecord, WireProof
from comseclab.testbed.profile import LinkProfile
from comseclab.trial.spec import Factors, ProtectionSpec, StreamSpec, TrialSpec

LINKS = {
    "localhost": LinkProfile(name="localhost", kind="loopback", mtu=65535),
    "ethernet": LinkProfile(name="ethernet", rate_bps=1_000_000_000, delay_ns=300_000, jitter_ns=360_000),
    "wifi": LinkProfile(name="wifi", rate_bps=54_000_000, delay_ns=13_000_000, jitter_ns=22_000_000, loss=0.01),
}
MEDIANS_NS = {
    ("scan", "localhost"): 95_000,
    ("scan", "ethernet"): 520_000,
    ("scan", "wifi"): 41_000_000,
    ("image", "localhost"): 900_000,
    ("image", "ethernet"): 8_900_000,
}
ADDED_NS = {"scan": 60_000, "image": 1_900_000}
SIZES = {"scan": (9_000, 40.0), "image": (921_600, 32.0)}


def write_demo(
    folder: Path,
    pairs: int = 6,
    messages: int = 300,
    plan: str = "demo",
    topic: str = "/scan",
    protection: str = "sros2-default",
    reason: str = "the switch was late",
    lossy: str = "",
) -> Path:
    """Write the run folder and return it. On the link named `lossy` nothing arrives in the secured arm."""
    random = np.random.default_rng(7)
    (folder / "trials").mkdir(parents=True)
    cases: list[dict[str, Any]] = []
    number = 0
    for (workload, link), median_ns in MEDIANS_NS.items():
        size, rate_hz = SIZES[workload]
        run = Run(
            arms=[],
            pairs=pairs,
            messages=messages,
            rate_hz=rate_hz,
            size=size,
            streams={0: topic if workload == "scan" else "/image"},
        )
        arms = _arms(workload, link, median_ns, protection)
        if link == lossy:
            arms[1] = replace(arms[1], loss=1.0)
        cases += _cases(run, arms, workload, link)
        for pair in range(pairs):
            for arm in arms:
                for valid in [False, True] if pair in arm.invalid_pairs else [True]:
                    number += 1
                    noise = np.exp(random.normal(0, 0.04))
                    closed = _record(random, record(run, arm, number, pair, valid), workload, link, arm)
                    closed.reasons = [] if valid else [reason]
                    write_trial(folder, closed, pa.concat_tables([samples(random, run, arm, 0, arm.median_ns * noise)]))
                    spec = _spec(run, arm, number, pair, workload, link)
                    (folder / "trials" / f"{number:04d}-{arm.id}" / "spec.json").write_text(spec.model_dump_json())
    described = campaign(Run(arms=[replace(_arms("scan", "wifi", 1, protection)[0])])) | {"plan": plan, "cases": cases}
    described["cipher_floor"]["sizes"]["921600"] = {"seal_ns": 190_000.0, "open_ns": 185_000.0}
    (folder / "campaign.json").write_text(json.dumps(described))
    (folder / "plan.toml").write_text(f'[plan]\nname = "{plan}"\nseed = 1\n')
    (folder / "environment.json").write_text(json.dumps(ENVIRONMENT))
    return folder


def _arms(workload: str, link: str, median_ns: float, protection: str) -> list[Arm]:
    loss = {"wifi": 0.07, "ethernet": 0.0, "localhost": 0.0}[link]
    plain = Arm(
        f"{workload}-{link}-none",
        "none",
        median_ns=median_ns,
        message_spread=0.25,
        loss=loss,
        cpu_s=0.21,
        wire_bytes=SIZES[workload][0] + 420,
    )
    secured = replace(
        plain,
        id=f"{workload}-{link}-secured",
        protection=protection,
        baseline=plain.id,
        cpu_s=0.34,
        wire_bytes=plain.wire_bytes + 190,
        median_ns=median_ns + ADDED_NS[workload],
        loss=loss * 1.1,
        invalid_pairs=frozenset({1} if link == "wifi" else ()),
    )
    return [plain, secured]


def _factors(arm: Arm, workload: str, link: str) -> dict[str, str]:
    return {
        "middleware": "fastdds",
        "reliability": "best-effort",
        "protection": arm.protection,
        "link": link,
        "workload": workload,
        "codec": "cdr",
        "pattern": "stream",
        "settings": "default",
    }


def _cases(run: Run, arms: list[Arm], workload: str, link: str) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = campaign(replace(run, arms=arms))["cases"]
    for case, arm in zip(cases, arms, strict=True):
        case |= {"link": LINKS[link].model_dump(), "factors": _factors(arm, workload, link)}
    return cases


def _record(random: np.random.Generator, closed: TrialRecord, workload: str, link: str, arm: Arm) -> TrialRecord:
    delay = max(LINKS[link].delay_ns, 14_000) * np.exp(random.normal(0, 0.03))
    ways = [("robot", "station"), ("station", "robot")]
    measured = [
        LinkMeasured(
            sender=sender,
            receiver=receiver,
            sent=100,
            received=99 if link == "wifi" else 100,
            duplicated=0,
            reordered=0,
            delay_ns={
                "mean": delay * 1.1,
                "sd": delay * 0.4,
                "min": delay * 0.2,
                "p50": delay,
                "p90": delay * 2,
                "p99": delay * 3,
                "max": delay * 4,
            },
        )
        for sender, receiver in ways
    ]
    secured = arm.protection != "none"
    reader = ProcessUse(
        name="station-subscriber",
        host="station",
        user_s=arm.cpu_s * 0.7,
        system_s=arm.cpu_s * 0.4,
        pss_bytes=18_000_000,
        run_delay_s=0,
        cpus=[1],
    )
    return closed.model_copy(
        update={
            "links": measured if link != "localhost" else [],
            "processes": [*closed.processes, reader],
            "proof": WireProof(
                frames=900,
                sentinel_seen=not secured,
                sentinel_expected=not secured,
                kinds={"SEC_PREFIX": 700, "SRTPS_PREFIX": 700} if secured else {"DATA_FRAG": 800, "HEARTBEAT": 40},
                contradictions=[],
            ),
            "switch": {"realtime": True},
            "transport": {
                "transport": "fastdds",
                "version": "2.9.1",
                "nodes": {"robot-publisher": {"closed": {"memory_locked": True}}},
            },
            "outcomes": ["overload: the writer fell behind its schedule"]
            if (workload, link, secured) == ("image", "ethernet", True)
            else [],
            "started_at": "2026-01-01T10:00:00+00:00",
            "sysctls": {"net.ipv4.ipfrag_high_thresh": "134217728"},
        }
    )


def _spec(run: Run, arm: Arm, number: int, pair: int, workload: str, link: str) -> TrialSpec:
    stream = StreamSpec(
        id=0,
        topic=run.streams[0],
        type="sensor_msgs/msg/LaserScan",
        writer_host="robot",
        reader_hosts=["station"],
        spool=Path("spool"),
        spool_sha256="5f3c" * 16 if workload == "scan" else "a01b" * 16,
        messages=run.messages,
        max_size=run.size,
        rate_hz=run.rate_hz,
    )
    return TrialSpec(
        number=number,
        pair=pair,
        factors=Factors.model_validate(_factors(arm, workload, link)),
        hosts=["robot", "station"],
        link=LINKS[link],
        backend="switch" if link != "localhost" else "none",
        protection=ProtectionSpec(name=arm.protection, base=arm.protection),
        streams=[stream],
        types={},
        seed=number,
        nonce="0123456789abcdef",
        round_s=2.0,
        native=Path("bin"),
    )


ENVIRONMENT = {
    "machine": {
        "cpu": "A CPU with AES instructions",
        "cpus": 2,
        "usable_cpus": [0, 1],
        "memory_bytes": 8_000_000_000,
        "virtualised": True,
        "governor": None,
        "clock_source": "tsc",
    },
    "system": {"kernel": "6.1.0", "distribution": "Debian GNU/Linux 12 (bookworm)"},
    "root": True,
    "middleware": {"fastdds": "2.9.1"},
    "libraries": {"python": "3.11.2", "comseclab": "0.1.0"},
    "sysctls": {"net.core.rmem_max": "212992"},
    "load_before": 0.1,
    "clock": {"source": "tsc", "ticks_per_second": 2.4e9, "reference_tick": 1, "reference_ns": 1, "read_cost_ns": 11.5},
    "link_backend": "switch",
}
