"""A campaign's course: repeating, giving up, stopping, resuming.

The trials' outcomes are scripted; their running is tested in tests/trial.
"""

from collections.abc import Mapping
from pathlib import Path

import pytest

from comseclab.campaign.run import PAUSES_S, Campaign, Rule
from comseclab.results.record import TrialRecord
from comseclab.results.store import RunFolder, write_atomically

BASELINES = {"none": None, "encrypt": "none"}


class Bench:
    """Closes trials as told: `fails` names (case, pair) and how often the lab fails there."""

    def __init__(self, fails: Mapping[tuple[str, int], int] | None = None) -> None:
        self.fails = dict(fails or {})
        self.ran: list[tuple[str, int, int]] = []
        self.stop_after: int | None = None

    def execute(self, case: str, pair: int, number: int, folder: Path) -> TrialRecord:
        folder.mkdir(parents=True)
        if self.stop_after is not None and len(self.ran) == self.stop_after:
            raise KeyboardInterrupt
        self.ran.append((case, pair, number))
        failing = self.fails.get((case, pair), 0)
        self.fails[case, pair] = failing - 1
        record = TrialRecord(
            number=number, case=case, pair=pair, status="invalid" if failing > 0 else "valid",
            reasons=["the switch was late"] if failing > 0 else [], started_at="2026-01-01", window_s=1, streams=[],
        )  # fmt: skip
        write_atomically(folder / "record.json", record.model_dump_json())
        return record

    def began(self, case: str, pair: int, number: int) -> None: ...
    def ended(self, record: TrialRecord, seconds: float, remaining_trials: int) -> None:
        assert remaining_trials > 0


def campaign(run: RunFolder, bench: Bench, enough_at: int = 5) -> Campaign:
    return Campaign(
        run=run, baselines=BASELINES, seed=1, rule=Rule(5, 8, lambda pairs: len(pairs) >= enough_at),
        execute=bench.execute, medians=lambda _: {0: 1.0}, watcher=bench, pauses_s=[0.0] * len(PAUSES_S),
    )  # fmt: skip


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return RunFolder.create(tmp_path, "plan with spaces")


def test_it_stops_at_the_pair_where_the_rule_holds(run: RunFolder) -> None:
    bench = Bench()
    campaign(run, bench, enough_at=6).go()
    assert sorted({pair for _, pair, _ in bench.ran}) == [0, 1, 2, 3, 4, 5]


def test_it_ends_at_the_most_pairs_when_nothing_is_resolved(run: RunFolder) -> None:
    bench = Bench()
    campaign(run, bench, enough_at=99).go()
    assert len(bench.ran) == 2 * 8


def test_invalid_trials_are_repeated_and_kept(run: RunFolder) -> None:
    bench = Bench(fails={("encrypt", 2): 1})
    campaign(run, bench).go()
    assert [record.status for record in run.records()].count("invalid") == 1
    assert len(bench.ran) == 2 * 5 + 1


def test_a_case_the_lab_cannot_measure_is_given_up(run: RunFolder) -> None:
    bench = Bench(fails={("none", 1): 1 + len(PAUSES_S)})
    course = campaign(run, bench)
    course.go()
    assert course.given_up == {"none"}
    assert max(pair for _, pair, _ in bench.ran) == 1


def test_an_interrupted_campaign_resumes_where_it_was(run: RunFolder) -> None:
    whole = Bench()
    campaign(RunFolder.create(run.path.parent / "other", "plan"), whole).go()
    first, second = Bench(), Bench()
    first.stop_after = 5
    with pytest.raises(KeyboardInterrupt):
        campaign(run, first).go()
    assert not run.trial(6, whole.ran[5][0]).exists()
    (run.path / "trials" / "0006-cut").mkdir()
    resumed = campaign(run, second)
    resumed.resume()
    resumed.go()
    assert first.ran + second.ran == whole.ran
    assert not (run.path / "trials" / "0006-cut").exists()
