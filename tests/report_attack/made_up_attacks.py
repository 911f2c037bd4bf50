"""Attack runs with known answers: every verdict, every standing, a race, trials with evidence, and a run of costs."""

import json
from collections.abc import Mapping
from pathlib import Path

from comseclab.analysis.summary import Comparison, LossAware, Ratio, Row, Summary
from comseclab.attack.matrix import CellRow, Described, Matrix
from comseclab.attack.registry import ATTACKS
from comseclab.attack.spec import AttackRecord, Phase, Seen
from comseclab.attack.verdict import Verdict

NAMES = ("eavesdrop", "modify", "insider-publish", "replay", "drop", "silence-gap", "self-signed-permissions")
S, D, X, OK, NS, NA, INV = (
    Verdict.SUCCEEDED, Verdict.DETECTED, Verdict.DISRUPTED, Verdict.STOPPED, Verdict.NOT_SHOWN,
    Verdict.NOT_APPLICABLE, Verdict.INVALID,
)  # fmt: skip
VERDICTS: Mapping[tuple[str, str], tuple[Verdict, ...]] = {
    ("fastdds", "none"): (S, S, NA, NS, S, S, NA),
    ("fastdds", "auth"): (S, S, S, NS, S, S, S),
    ("fastdds", "payload-sign"): (S, OK, OK, NS, S, S, INV),
    ("fastdds", "all-encrypt"): (OK, X, S, NS, D, OK, OK),
    ("zenoh", "none"): (S, S, NA, S, S, NA, NA),
    ("zenoh", "mtls"): (OK, OK, S, OK, S, NA, NA),
    ("own", "cipher"): (OK, OK, NA, S, S, NA, NA),
}
RACE = ("fastdds", "all-encrypt", "insider-publish")
WHOLE = Phase(sent=32, delivered=32)
TRIAL = "trials/fastdds_all-encrypt_modify"


def cell(middleware: str, protection: str, attack: str, verdict: Verdict) -> CellRow:
    """A cell whose counts go with its verdict."""
    tried = verdict not in (NA, INV)
    race = (middleware, protection, attack) == RACE
    return CellRow(
        title=f"{attack} on {middleware} {protection}",
        middleware=middleware,
        protection=protection,
        base=protection,
        reliability="reliable",
        codec="cdr",
        settings="default",
        attack=attack,
        verdict=verdict,
        text=f"{verdict.value} is what happened",
        succeeded=(2 if race else 3) if verdict is S else 0,
        repetitions=3 if tried else 0,
        control_succeeded=3 if tried and verdict is not NS else 0,
        race=race,
        harm={"lost_share": 0.75} if attack == "drop" else {},
        evidence=[f"{TRIAL}_attack-1", f"{TRIAL}_control-1"]
        if (protection, attack) == ("all-encrypt", "modify")
        else [],
        again=f"comseclab attack runs/x --only middleware={middleware},protection={protection} --attack {attack}",
    )


def matrix() -> Matrix:
    """The whole `attack.json`."""
    chosen = [ATTACKS[name] for name in NAMES]
    return Matrix(
        plan="made-up",
        environment={"system": {"kernel": "6.1"}, "middleware": {"fastdds": "2.9.1"}},
        attacks=[
            Described(
                name=one.name, title=one.title, success=one.success, stride=one.stride, controls=list(one.controls)
            )
            for one in chosen
        ],
        cells=[
            cell(middleware, protection, name, verdict)
            for (middleware, protection), verdicts in VERDICTS.items()
            for name, verdict in zip(NAMES, verdicts, strict=True)
        ],
    )


def write_attacks(folder: Path, changed: Matrix | None = None) -> Path:
    """A run folder with `attack.json` and the trials of one cell."""
    folder.mkdir(parents=True)
    (folder / "attack.json").write_text((changed or matrix()).model_dump_json(indent=1))
    (folder / "plan.toml").write_text('[plan]\nname = "made-up"\n')
    for arm, altered in (("attack", 0), ("control", 5)):
        seen = Seen(
            before=WHOLE, during=Phase(sent=48, delivered=2), after=WHOLE, altered=altered, targeted=12,
            told=["station-subscriber: sample lost"],
        )  # fmt: skip
        write_trial(folder / f"{TRIAL}_{arm}-1", "modify", arm, seen)
    return folder


def write_trial(folder: Path, attack: str, arm: str, seen: Seen, *, valid: bool = True) -> None:
    """A trial's folder; what is there already is overwritten."""
    (folder / "evidence").mkdir(parents=True, exist_ok=True)
    record = AttackRecord(
        attack=attack, arm="attack" if arm == "attack" else "control", case="c", valid=valid,
        reasons=[] if valid else ["no match"], seen=seen, versions={"fastdds": "2.9.1"},
    )  # fmt: skip
    (folder / "record.json").write_text(record.model_dump_json())
    (folder / "spec.json").write_text(json.dumps({"trial": {"seed": 4711}}))
    for name in ("wire.pcapng.gz", "delivered.txt", "injected.hex"):
        (folder / "evidence" / name).write_text("x")
    (folder / "evidence" / "empty.txt").touch()


RATIOS = {
    ("fastdds", "auth"): (1.4,),
    ("fastdds", "payload-sign"): (4.0, 9.0),
    ("fastdds", "all-encrypt"): (1.5,),
    ("zenoh", "mtls"): (1.02,),
    ("own", "cipher"): (1.3,),
}


def write_costs(
    folder: Path,
    plan: str = "made-up",
    factor: str = "protection",
    ratios: Mapping[tuple[str, str], tuple[float, ...]] = RATIOS,
) -> Path:
    """A run folder with the `summary.json` of the same plan measured: a row a workload."""
    folder.mkdir(parents=True)
    rows = [_row(*key, f"w{number}", ratio) for key, found in ratios.items() for number, ratio in enumerate(found)]
    rows += [_row(middleware, "none", "w0", None) for middleware in ("fastdds", "zenoh")]
    summary = Summary(
        plan=plan, seed=1, valid=True, warm_up=0.1, environment={}, cases=rows, invalid_trials=[],
        comparison=Comparison(factor=factor, baseline="none", tolerance=0.1),
    )  # fmt: skip
    (folder / "summary.json").write_text(summary.model_dump_json())
    return folder


def _row(middleware: str, protection: str, workload: str, ratio: float | None) -> Row:
    factors = {
        "middleware": middleware, "reliability": "reliable", "protection": protection, "link": "localhost",
        "workload": workload, "codec": "cdr", "pattern": "stream", "settings": "default",
    }  # fmt: skip
    compared = ratio and Ratio(
        median=ratio,
        low=ratio / 1.1,
        high=ratio * 1.1,
        verdict="more",
        pairs=5,
        lost_pairs=0,
        tolerance=0.1,
        method="t",
    )
    return Row(
        case="_".join(factors.values()), baseline=None, factors=factors, stream="/scan", stream_id=0, type="t",
        max_size=9000, link={}, trials=5, invalid=0, outcomes={}, sent=100, not_taken=0, lost=0, loss=0.0, duplicated=0,
        reordered=0, late=0, foreign=0, loss_aware_ns=LossAware(n=100, p50=1e5, p90=1e5, p99=None, p999=None),
        offered_hz=40.0, achieved_hz=40.0, throughput_bps=1e6, wire_bytes_per_message=9100.0,
        wire_frames_per_message=1.0, handshake_ns=1e8, cpu_core_share={}, cpu_core_share_by_process={}, pss_bytes={},
        ratio_to_baseline=compared or None,
    )  # fmt: skip
