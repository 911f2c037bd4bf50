"""Simulated run folders with known truth: spread between trials, losses, duplicates, reordering, forgeries."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from comseclab.results.record import HostCounters, LinkMeasured, ProcessUse, StreamRecord, TrialRecord
from comseclab.results.samples import RECEIPT, SEND, join
from comseclab.testbed.profile import LinkProfile
from comseclab.trial.spec import Factors, ProtectionSpec, StreamSpec, TrialSpec

LINK = LinkProfile(name="ethernet", rate_bps=1_000_000_000)


@dataclass(frozen=True)
class Arm:
    """One case. Times are nanoseconds, shares between 0 and 1."""

    id: str
    protection: str
    baseline: str | None = None
    median_ns: float = 300_000
    trial_spread: float = 0.1
    """Standard deviation of the logarithm of a trial's median."""
    message_spread: float = 0.3
    loss: float = 0.0
    duplicates: float = 0.0
    refused: float = 0.0
    cpu_s: float = 0.5
    wire_bytes: int = 9_500
    pattern: str = "stream"
    invalid_pairs: frozenset[int] = frozenset()
    unconnected_pairs: frozenset[int] = frozenset()
    """In these nothing is sent, and the trial is valid."""
    blocked_pairs: frozenset[int] = frozenset()
    """In these the sender is blocked half-way through the last round, and cut off."""


@dataclass(frozen=True)
class Run:
    """A run to simulate."""

    arms: list[Arm]
    pairs: int = 10
    messages: int = 400
    rounds: int = 1
    rate_hz: float = 40.0
    size: int = 9_000
    pair_spread: float = 0.2
    tolerance: float = 0.1
    deadline: dict[str, Any] | None = None
    seed: int = 1
    streams: dict[int, str] = field(default_factory=lambda: {0: "/scan"})


def write_run(folder: Path, run: Run) -> Path:
    """Write the run folder and return it."""
    random = np.random.default_rng(run.seed)
    (folder / "trials").mkdir(parents=True)
    (folder / "campaign.json").write_text(json.dumps(campaign(run)))
    (folder / "environment.json").write_text(json.dumps({"machine": {"cpus": 2}}))
    number = 0
    for pair in range(run.pairs):
        shared = random.normal(0, run.pair_spread)
        for place in random.permutation(len(run.arms)):
            arm = run.arms[place]
            for valid in [False, True] if pair in arm.invalid_pairs else [True]:
                number += 1
                scale = np.exp(shared + random.normal(0, arm.trial_spread))
                tables = [samples(random, run, arm, stream, arm.median_ns * scale) for stream in run.streams]
                table = _begun(run, arm, pair, pa.concat_tables(tables))
                write_trial(folder, record(run, arm, number, pair, valid), table, run.rounds)
    return folder


def _begun(run: Run, arm: Arm, pair: int, table: pa.Table) -> pa.Table:
    """What of the trial is left if its sender was kept from sending."""
    if pair in arm.unconnected_pairs:
        return table.slice(0, 0)
    if pair not in arm.blocked_pairs:
        return table
    never = pc.and_(pc.equal(table["round"], run.rounds - 1), pc.greater_equal(table["index"], run.messages // 2))
    return table.filter(pc.invert(never))


def write_trial(folder: Path, closed: TrialRecord, table: pa.Table, rounds: int = 1, round_s: float = 2.0) -> None:
    trial = folder / "trials" / f"{closed.number:04d}-{closed.case}"
    trial.mkdir()
    (trial / "spec.json").write_text(_spec(closed, rounds, round_s).model_dump_json())
    pq.write_table(table, trial / "samples.parquet")
    (trial / "record.json").write_text(closed.model_dump_json())


def _spec(closed: TrialRecord, rounds: int, round_s: float) -> TrialSpec:
    """Whole, as the report reads it too; the analysis needs the rounds and the readers alone."""
    streams = [
        StreamSpec(
            id=stream.id, topic=stream.topic, type="sensor_msgs/msg/LaserScan", writer_host="robot",
            reader_hosts=["station"] * stream.readers, spool=Path("spool"), spool_sha256="5f3c" * 16,
            messages=stream.sent // rounds, max_size=9_000, rate_hz=40.0,
        )
        for stream in closed.streams
    ]  # fmt: skip
    factors = Factors(
        middleware="fastdds", reliability="best-effort", protection="none", link="ethernet", workload="scan",
        codec="cdr", pattern="stream", settings="default",
    )  # fmt: skip
    return TrialSpec(
        number=closed.number, pair=closed.pair, factors=factors, hosts=["robot", "station"], link=LINK,
        backend="switch", protection=ProtectionSpec(name="none", base="none"), streams=streams, types={},
        seed=closed.number, nonce="0123456789abcdef", rounds=rounds, round_s=round_s, native=Path("bin"),
    )  # fmt: skip


def campaign(run: Run) -> dict[str, Any]:
    streams = [
        {"id": stream, "topic": topic, "type": "sensor_msgs/msg/LaserScan", "max_size": run.size,
         "rate_hz": run.rate_hz, "messages": run.messages}
        for stream, topic in run.streams.items()
    ]  # fmt: skip
    cases = [
        {"id": arm.id, "baseline": arm.baseline, "link": LINK.model_dump(), "streams": streams, "factors": {
            "middleware": "fastdds", "reliability": "best-effort", "protection": arm.protection, "link": "ethernet",
            "workload": "scan", "codec": "cdr", "pattern": arm.pattern, "settings": "default"}}
        for arm in run.arms
    ]  # fmt: skip
    return {
        "version": 1, "plan": "simulated", "seed": run.seed, "warm_up": 0.1, "cases": cases, "deadline": run.deadline,
        "comparison": {"factor": "protection", "baseline": run.arms[0].protection, "tolerance": run.tolerance},
        "cipher_floor": {"openssl": "3.0", "sizes": {
            "1000": {"seal_ns": 500.0, "open_ns": 500.0}, "9000": {"seal_ns": 2500.0, "open_ns": 2500.0}}},
    }  # fmt: skip


def samples(random: np.random.Generator, run: Run, arm: Arm, stream: int, median_ns: float) -> pa.Table:
    """One stream of one trial, through the laboratory's own join of records."""
    parts = [_round(random, run, arm, stream, number, median_ns) for number in range(run.rounds)]
    return join([sends for sends, _ in parts], [receipts for _, receipts in parts], {stream: [0]})


def _round(
    random: np.random.Generator, run: Run, arm: Arm, stream: int, number: int, median_ns: float
) -> tuple[np.ndarray, np.ndarray]:
    count = run.messages
    sends = np.zeros(count, SEND)
    sends["stream"], sends["round"], sends["index"], sends["size"] = stream, number, np.arange(count), run.size
    sends["intended"] = 10**12 + number * 10**11 + (np.arange(count) * 1e9 / run.rate_hz).astype(np.int64)
    sends["begin"] = sends["intended"] + random.integers(1_000, 5_000, count)
    latency = (median_ns * np.exp(random.normal(0, arm.message_spread, count))).astype(np.int64)
    sends["serialised"] = sends["begin"] + latency // 10
    sends["sent"] = sends["begin"] + latency // 4
    sends["status"] = random.random(count) < arm.refused
    kept = np.flatnonzero((random.random(count) >= arm.loss) & (sends["status"] == 0))
    copies = kept[random.random(len(kept)) < arm.duplicates]
    of = np.concatenate([kept, copies])
    receipts = np.zeros(len(of), RECEIPT)
    for name in ("stream", "round", "index", "size"):
        receipts[name] = sends[name][of]
    receipts["done"] = sends["begin"][of] + latency[of] + 1_000 * (np.arange(len(of)) >= len(kept))
    receipts["arrived"] = receipts["done"] - latency[of] // 10
    return sends, receipts


def record(run: Run, arm: Arm, number: int, pair: int, valid: bool) -> TrialRecord:
    """A closed trial's record, with every quantity the summary takes from there."""
    sent = run.messages * run.rounds
    connected = pair not in arm.unconnected_pairs
    processes = [ProcessUse(name="publisher", host="robot", user_s=arm.cpu_s, system_s=arm.cpu_s,
                            pss_bytes=10_000_000, run_delay_s=0.0, cpus=[0])]  # fmt: skip
    return TrialRecord(
        number=number, case=arm.id, pair=pair, status="valid" if valid else "invalid",
        reasons=[] if valid else ["the switch was late"], started_at="2026-01-01T00:00:00Z",
        outcomes=[] if connected else ["no connection in 15 s"], window_s=10.0 if connected else 0.0,
        streams=[StreamRecord(id=stream, topic=topic, readers=1, matched=1, sent=sent, match_ns=50_000_000)
                 for stream, topic in run.streams.items()],
        links=[LinkMeasured(sender="robot", receiver="station", sent=100, received=99, duplicated=1, reordered=0,
                            delay_ns={"mean": 3e5, "p50": 3e5})],
        counters={"robot": HostCounters(tx_bytes=arm.wire_bytes * sent, tx_frames=7 * sent, rx_bytes=0, rx_frames=0)},
        processes=processes if connected else [],
    )  # fmt: skip
