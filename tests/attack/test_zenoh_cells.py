"""Zenoh under attack, for real: what certificates keep out, what only access control does, and where QUIC beats TLS."""

from functools import partial
from pathlib import Path

import pytest

from attack.campaign import Cells, at_once, run_cells
from comseclab.attack.dialects.zenoh import FORGED, READER_PORT
from comseclab.attack.spec import AttackRecord
from comseclab.attack.verdict import Verdict


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the trials over TCP stay."""
    return tmp_path_factory.mktemp("kept")


@pytest.fixture(scope="module")
def both(kept: Path) -> list[Cells]:
    over_tcp = ["tls", "mtls", "mtls-acl"], ["forged-publish", "replay-restarted", "insider-publish"]
    over_quic = ["quic"], ["modify", "silence-close", "silence-reset", "reflection", "self-signed-permissions"]
    return at_once(
        partial(run_cells, "zenoh", *over_tcp, out=kept),
        partial(run_cells, "zenoh", *over_quic),
    )


@pytest.fixture(scope="module")
def over_tcp(both: list[Cells]) -> Cells:
    return both[0]


@pytest.fixture(scope="module")
def over_quic(both: list[Cells]) -> Cells:
    return both[1]


def test_a_server_that_asks_for_no_certificate_serves_strangers(over_tcp: Cells) -> None:
    for protection in ("none", "tls"):
        found = over_tcp[protection, "forged-publish"]
        assert found.verdict == Verdict.SUCCEEDED, found.text


def test_a_stranger_without_certificate_cannot_publish_where_one_is_asked_for(over_tcp: Cells) -> None:
    assert over_tcp["mtls", "forged-publish"].verdict == Verdict.STOPPED


@pytest.mark.usefixtures("over_tcp")
@pytest.mark.parametrize(("protection", "taken"), [("none", FORGED), ("tls", 0), ("mtls", 0), ("mtls-acl", 0)])
def test_messages_said_over_plain_tcp_are_taken_in_clear_alone(kept: Path, protection: str, taken: int) -> None:
    """Each claims the index 0, as does the first message of the attacker's node."""
    (trial,) = kept.glob(f"latest/trials/zenoh_reliable_{protection}_*_forged-publish_attack-1")
    listed = [line.split()[1:3] for line in (trial / "evidence" / "delivered.txt").read_text().splitlines()]
    assert listed.count(["0", "forged"]) in (taken, taken + 1)
    record = AttackRecord.model_validate_json((trial / "record.json").read_text())
    assert record.seen
    assert record.seen.injected_frames > 0
    told = "forged messages said in it" if taken else f"10.77.0.2:{READER_PORT}: "
    assert any(told in note for note in record.notes)


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
