"""Zenoh under attack, for real: what certificates keep out, what only access control does, and where QUIC beats TLS."""

import pytest

from attack.campaign import Cells, run_cells
from comseclab.attack.verdict import Verdict


@pytest.fixture(scope="module")
def over_tcp() -> Cells:
    return run_cells("zenoh", ["tls", "mtls", "mtls-acl"], ["forged-publish", "replay-restarted", "insider-publish"])


@pytest.fixture(scope="module")
def over_quic() -> Cells:
    return run_cells(
        "zenoh", ["quic"], ["modify", "silence-close", "silence-reset", "reflection", "self-signed-permissions"]
    )


def test_a_server_that_asks_for_no_certificate_serves_strangers(over_tcp: Cells) -> None:
    for protection in ("none", "tls"):
        found = over_tcp[protection, "forged-publish"]
        assert found.verdict == Verdict.SUCCEEDED, found.text


def test_a_stranger_without_certificate_cannot_publish_where_one_is_asked_for(over_tcp: Cells) -> None:
    assert over_tcp["mtls", "forged-publish"].verdict == Verdict.STOPPED


def test_what_was_said_in_clear_is_taken_again_and_nothing_else(over_tcp: Cells) -> None:
    replayed = {protection: over_tcp[protection, "replay-restarted"] for protection in ("none", "tls", "mtls")}
    assert replayed["none"].verdict == Verdict.SUCCEEDED, replayed["none"].text
    for protection in ("tls", "mtls"):
        assert replayed[protection].verdict != Verdict.SUCCEEDED, replayed[protection].text


def test_altered_messages_are_delivered_in_clear_alone(over_quic: Cells) -> None:
    assert over_quic["none", "modify"].verdict == Verdict.SUCCEEDED, over_quic["none", "modify"].text
    assert over_quic["quic", "modify"].verdict == Verdict.STOPPED, over_quic["quic", "modify"].text


def test_insiders_are_stopped_by_access_control_only(over_tcp: Cells) -> None:
    assert over_tcp["mtls", "insider-publish"].verdict == Verdict.SUCCEEDED
    assert over_tcp["mtls-acl", "insider-publish"].verdict == Verdict.STOPPED


def test_one_forged_close_costs_less_than_the_stream(over_quic: Cells) -> None:
    assert over_quic["none", "silence-close"].verdict == Verdict.NOT_SHOWN, over_quic["none", "silence-close"].text
    assert over_quic["quic", "silence-close"].harm["lost_share"] == 0


def test_quic_answers_an_address_that_never_asked(over_quic: Cells) -> None:
    assert over_quic["none", "reflection"].verdict == Verdict.NOT_APPLICABLE
    assert 2 < over_quic["quic", "reflection"].harm["amplification"] < 4


def test_what_does_not_exist_is_not_tried(over_quic: Cells) -> None:
    assert over_quic["quic", "silence-reset"].verdict == Verdict.NOT_APPLICABLE
    assert over_quic["quic", "self-signed-permissions"].verdict == Verdict.NOT_APPLICABLE
