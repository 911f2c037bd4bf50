"""The order of trials: paired, interleaved, seeded."""

from collections import Counter

from comseclab.campaign.schedule import blocks, make_groups

BASELINES = {
    "none-a": None,
    "auth-a": "none-a",
    "encrypt-a": "none-a",
    "none-b": None,
    "encrypt-b": "none-b",
    "alone": None,
}


def order(seed: int, pairs: int = 6) -> list[tuple[int, tuple[str, ...]]]:
    return [(pair, tuple(cases)) for pair, _, cases in blocks(make_groups(BASELINES), seed, pairs)]


def test_every_case_runs_once_a_pair_next_to_its_baseline() -> None:
    seen = order(seed=1)
    assert Counter(case for _, cases in seen for case in cases) == dict.fromkeys(BASELINES, 6)
    for _, cases in seen:
        assert cases[0].endswith("-a") is cases[-1].endswith("-a")


def test_the_seed_decides_the_order_and_nothing_else() -> None:
    assert order(seed=1) == order(seed=1)
    assert order(seed=1) != order(seed=2)


def test_neither_arm_always_comes_first() -> None:
    first = Counter(cases[0] for _, cases in order(seed=3, pairs=40) if "none-b" in cases)
    assert min(first["none-b"], first["encrypt-b"]) >= 10


def test_finished_cases_drop_out_and_the_baseline_stays_for_the_rest() -> None:
    groups = make_groups(BASELINES)
    ran = []
    for pair, group, cases in blocks(groups, seed=1, max_pairs=4):
        ran.append((pair, frozenset(cases)))
        if pair == 1:
            group.finished.add("auth-a" if group.baseline == "none-a" else group.baseline)
            group.finished |= set(group.variants) - {"encrypt-a"}
    later = [cases for pair, cases in ran if pair > 1]
    assert later == [frozenset({"none-a", "encrypt-a"})] * 2
