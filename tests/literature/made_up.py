"""A made-up run of the 2018 study: what each cell would show if its messages behaved as the published ones did."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "analysis"))
sys.path.insert(0, str(Path(__file__).parents[1] / "report"))
from demo_run import ENVIRONMENT
from simulate import Arm, Run, campaign, record, samples, write_trial

from comseclab.literature.study import Key, Study, load
from comseclab.plan.links import PROFILES


@dataclass(frozen=True)
class Behaviour:
    """Of one cell: its typical latency and its loss."""

    median_ns: float
    loss: float


Change = Callable[[Key, Behaviour], Behaviour | None]
"""What a cell does instead of what was published; None: it is not in the run."""


def as_published(_: Key, behaviour: Behaviour) -> Behaviour:
    return behaviour


def write_study(
    folder: Path, change: Change = as_published, pairs: int = 3, messages: int = 60, seed: int = 5,
    round_s: float = 60.0,
) -> Path:  # fmt: skip
    """Write the run folder and return it. Trials differ by a few per cent; `round_s` is only what they say."""
    study, random = load("martin2018"), np.random.default_rng(seed)
    (folder / "trials").mkdir(parents=True)
    cases, number = [], 0
    for key, published in study.published.items():
        behaviour = change(key, Behaviour(published.mean_ns or 1e6, published.loss))
        if behaviour is None:
            continue
        run, arm, factors = _cell(study, key, behaviour, pairs, messages)
        described = campaign(replace(run, arms=[arm]))["cases"][0]
        cases.append(described | {"factors": factors, "link": PROFILES[factors["link"]].model_dump()})
        for pair in range(pairs):
            number += 1
            noise = float(np.exp(random.normal(0, 0.02)))
            overload = ["overload: 50 of 60 messages were published"] if 0.5 < behaviour.loss < 1 else []
            closed = record(run, arm, number, pair, True).model_copy(update={"outcomes": overload})
            table = samples(random, run, arm, 0, behaviour.median_ns * noise)
            write_trial(folder, closed, table, round_s=round_s)
    (folder / "campaign.json").write_text(
        json.dumps(campaign(Run(arms=[Arm("x", "none")])) | {"plan": "martin2018-quick", "cases": cases})
    )
    (folder / "plan.toml").write_text('[plan]\nname = "martin2018-quick"\n')
    (folder / "environment.json").write_text(json.dumps(ENVIRONMENT))
    return folder


def _cell(study: Study, key: Key, behaviour: Behaviour, pairs: int, messages: int) -> tuple[Run, Arm, dict[str, str]]:
    configuration, network = study.configuration(key[0]), study.network(key[1])
    factors = {
        "middleware": configuration.middleware, "reliability": configuration.reliability,
        "protection": configuration.protection, "link": network.link, "workload": key[2],
        "codec": "ros1", "pattern": "stream", "settings": configuration.settings,
    }  # fmt: skip
    plain = "_".join((factors | {"protection": "none"}).values())
    name = "_".join(factors.values())
    arm = Arm(
        name, configuration.protection, None if name == plain else plain,
        median_ns=behaviour.median_ns, loss=behaviour.loss, message_spread=0.1,
    )  # fmt: skip
    return Run(arms=[], pairs=pairs, messages=messages, streams={0: f"/{key[2]}"}), arm, factors
