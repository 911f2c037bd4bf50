"""IceStorm under attack, for real: open to everybody in clear, closed to strangers by mutual TLS, blind to insiders."""

import pytest

from attack.campaign import Cells, run_cells
from comseclab.attack.verdict import Verdict

STOPPED_BY_TLS = ("forged-publish", "replay-restarted", "reflection")
ENDED_BY_A_CALL = ("silence-unsubscribe", "silence-destroy")


@pytest.fixture(scope="module")
def cells() -> Cells:
    attacks = [
        *STOPPED_BY_TLS,
        "insider-publish",
        "replay-resequenced",
        *ENDED_BY_A_CALL,
        "self-signed-permissions",
    ]
    return run_cells("ice", ["mtls"], attacks)


@pytest.mark.parametrize("attack", STOPPED_BY_TLS)
def test_stranger_succeeds_in_clear_and_is_stopped_by_tls(cells: Cells, attack: str) -> None:
    assert cells["none", attack].verdict == Verdict.SUCCEEDED, cells["none", attack].text
    assert cells["mtls", attack].verdict == Verdict.STOPPED, cells["mtls", attack].text


def test_one_call_makes_the_broker_send_the_stream_to_a_third_party(cells: Cells) -> None:
    assert cells["none", "reflection"].harm["amplification"] > 100


@pytest.mark.parametrize("attack", ENDED_BY_A_CALL)
def test_stranger_ends_a_subscription_or_the_topic_in_clear_only(cells: Cells, attack: str) -> None:
    assert cells["none", attack].harm["lost_share"] > 0.9, cells["none", attack].text
    assert cells["mtls", attack].verdict == Verdict.STOPPED, cells["mtls", attack].text


def test_whoever_holds_a_certificate_may_publish(cells: Cells) -> None:
    assert cells["mtls", "insider-publish"].verdict == Verdict.SUCCEEDED
    assert cells["mtls", "self-signed-permissions"].verdict == Verdict.NOT_APPLICABLE


def test_a_record_put_back_is_not_delivered_but_ends_a_reliable_stream(cells: Cells) -> None:
    assert cells["none", "replay-resequenced"].verdict == Verdict.SUCCEEDED
    assert cells["mtls", "replay-resequenced"].verdict in (Verdict.DETECTED, Verdict.DISRUPTED)
