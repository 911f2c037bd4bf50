"""Zenoh under attack, for real: what certificates keep out, what only access control does, and where QUIC beats TLS."""

import pytest

from attack.campaign import Cells, run_cells
from comseclab.attack.verdict import Verdict

CLOSED = ("mtls-acl", "quic-mtls-acl")


@pytest.fixture(scope="module")
def outsiders() -> Cells:
    return run_cells("zenoh", ["tls", "quic-mtls"], ["forged-publish", "modify", "replay-restarted"])


@pytest.fixture(scope="module")
def insiders() -> Cells:
    return run_cells("zenoh", ["mtls", *CLOSED], ["insider-publish"])


@pytest.fixture(scope="module")
def spoofers() -> Cells:
    return run_cells("zenoh", ["quic"], ["silence-close", "silence-reset", "reflection", "self-signed-permissions"])


def test_a_server_that_asks_for_no_certificate_serves_strangers(outsiders: Cells) -> None:
    for protection in ("none", "tls"):
        found = outsiders[protection, "forged-publish"]
        assert found.verdict == Verdict.SUCCEEDED, found.text


def test_a_stranger_without_certificate_cannot_publish_where_one_is_asked_for(outsiders: Cells) -> None:
    assert outsiders["quic-mtls", "forged-publish"].verdict == Verdict.STOPPED


def test_what_was_said_in_clear_is_taken_again_and_nothing_else(outsiders: Cells) -> None:
    replayed = {protection: outsiders[protection, "replay-restarted"] for protection in ("none", "tls", "quic-mtls")}
    assert replayed["none"].verdict == Verdict.SUCCEEDED, replayed["none"].text
    for protection in ("tls", "quic-mtls"):
        assert replayed[protection].verdict != Verdict.SUCCEEDED, replayed[protection].text


def test_altered_messages_are_delivered_in_clear_alone(outsiders: Cells) -> None:
    assert outsiders["none", "modify"].verdict == Verdict.SUCCEEDED, outsiders["none", "modify"].text
    assert outsiders["quic-mtls", "modify"].verdict == Verdict.STOPPED, outsiders["quic-mtls", "modify"].text


def test_insiders_are_stopped_by_access_control_only(insiders: Cells) -> None:
    assert insiders["mtls", "insider-publish"].verdict == Verdict.SUCCEEDED
    for protection in CLOSED:
        assert insiders[protection, "insider-publish"].verdict == Verdict.STOPPED


def test_one_forged_close_costs_less_than_the_stream(spoofers: Cells) -> None:
    assert spoofers["none", "silence-close"].verdict == Verdict.NOT_SHOWN, spoofers["none", "silence-close"].text
    assert spoofers["quic", "silence-close"].harm["lost_share"] == 0


def test_quic_answers_an_address_that_never_asked(spoofers: Cells) -> None:
    assert spoofers["none", "reflection"].verdict == Verdict.NOT_APPLICABLE
    assert 2 < spoofers["quic", "reflection"].harm["amplification"] < 4


def test_what_does_not_exist_is_not_tried(spoofers: Cells) -> None:
    assert spoofers["quic", "silence-reset"].verdict == Verdict.NOT_APPLICABLE
    assert spoofers["quic", "self-signed-permissions"].verdict == Verdict.NOT_APPLICABLE
