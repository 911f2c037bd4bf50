import pytest

from comseclab.plan.links import PROFILES
from comseclab.results.record import ProcessUse
from comseclab.testbed.profile import LinkProfile
from comseclab.trial import validity
from comseclab.trial.probes import summary


def counters(p99: int = 0, **port: int) -> dict[str, object]:
    ports = {"robot": {"ring_dropped": 0, "send_failed": 0, "queue_dropped": 99, "lost": 99} | port}
    return {"send_error_ns": {"p50": 0, "p99": p99, "max": p99, "n": 1}, "ports": ports}


def use(run_delay_s: float) -> ProcessUse:
    return ProcessUse(
        name="robot-publisher", host="robot", user_s=1, system_s=0, pss_bytes=1, run_delay_s=run_delay_s, cpus=[0]
    )


@pytest.mark.parametrize(
    ("link", "largest", "found", "reasons"),
    [
        ("ethernet", 9_000, {}, 0),  # no switch, nothing to judge
        ("ethernet", 9_000, counters(400_000), 0),
        ("ethernet", 9_000, counters(600_000), 1),
        ("wifi", 9_000, counters(600_000), 0),  # 35 ms of delay and jitter: 0.6 ms are nothing
        ("wifi", 9_000, counters(2_000_000), 1),
        ("ethernet", 9_000_000, counters(2_000_000), 0),  # 72 ms for a cloud
        ("ethernet", 9_000_000, counters(4_000_000), 1),
        ("direct", 9_000_000, counters(600_000), 1),  # no rate, no time for it
        ("ethernet", 9_000, counters(ring_dropped=1), 1),
        ("ethernet", 9_000, counters(ring_dropped=1, send_failed=2), 2),
    ],
)
def test_a_late_or_losing_switch_makes_a_trial_invalid(
    link: str, largest: int, found: dict[str, object], reasons: int
) -> None:
    assert len(validity.judge_switch(PROFILES[link], found, largest)) == reasons


@pytest.mark.parametrize(
    ("delay_s", "foreign", "steal_s", "invalid"),
    [
        (0.1, 2.0, 0.0, False),  # others were busy, but no node waited
        (9.0, 0.1, 0.0, False),  # the nodes waited for each other: overload
        (9.0, 2.0, 0.0, True),
        (0.0, 0.0, 0.9, False),
        (0.0, 0.0, 1.1, True),
    ],
)
def test_a_machine_busy_with_others_makes_a_trial_invalid(
    delay_s: float, foreign: float, steal_s: float, invalid: bool
) -> None:
    reasons = validity.judge_machine([use(delay_s)], foreign, steal_s, window_s=10.0, cpus=2)
    assert bool(reasons) == invalid


def test_waiting_for_messages_makes_a_trial_invalid() -> None:
    assert validity.judge_closing("robot-publisher", {"event": "closed", "dry": 0}) == []
    assert "3 times" in validity.judge_closing("robot-publisher", {"event": "closed", "dry": 3})[0]
    assert "no room" in validity.judge_closing("robot-publisher", {"event": "closed", "not_recorded": 1})[0]
    assert validity.judge_closing("robot-publisher", None) == ["robot-publisher did not close"]


@pytest.mark.parametrize(
    ("link", "impaired"),
    [
        (PROFILES["ethernet"], False),
        (PROFILES["localhost"], False),
        (PROFILES["wifi"], True),
        (PROFILES["corrupt-1"], True),
        (PROFILES["delay-1000ms"], True),
        (LinkProfile(name="slow", delay_ns=100_000_000), False),
    ],
)
def test_which_links_may_keep_nodes_apart(link: LinkProfile, impaired: bool) -> None:
    assert validity.impaired(link) == impaired


def test_the_summary_of_probes() -> None:
    found = summary([float(value) for value in range(100, 0, -1)])
    assert found == {
        "mean": 50.5,
        "sd": pytest.approx(29.0115, abs=1e-4),
        "min": 1,
        "p50": 50,
        "p90": 90,
        "p99": 99,
        "max": 100,
    }
    assert summary([]) == {}
    assert summary([7.0])["sd"] == 0
