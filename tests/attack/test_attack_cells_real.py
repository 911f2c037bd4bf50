"""Fast DDS under every attack, for real, with all controls: in clear, all encrypted, the payload alone encrypted.

What differs from run to run (races, and what the stack tells the application) is left open.
"""

from functools import partial
from pathlib import Path

import pytest

from attack.campaign import Cells, at_once, run_cells
from comseclab.attack.registry import ATTACKS
from comseclab.attack.verdict import Verdict

STOPPED_BY_ENCRYPTION = (
    "eavesdrop", "modify", "forged-publish", "replay-resequenced", "subscribe-without-right",
)  # fmt: skip
BY_INSIDERS = {"insider-publish": Verdict.STOPPED, "self-signed-permissions": Verdict.SUCCEEDED}
"""One authority signs identities and permissions, as sros2 makes it: an identity's own key passes for the authority."""
HARM = {"drop": "lost_or_late_share", "delay": "older_ms", "silence-gap": "lost_share"}
OTHERS = ("replay-restarted", "relay", "reflection", "flood", "replay", "master-hijack")
PAYLOAD_IN_CLEAR_NO_MORE = ("eavesdrop", "replay-resequenced", "silence-dispose", "silence-dispose-writer")
"""Payload encryption alone stops the first; the others go by what stands around the payload, or beside it."""


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cells")


@pytest.fixture(scope="module")
def both(out: Path) -> list[Cells]:
    attacks = [*STOPPED_BY_ENCRYPTION, *BY_INSIDERS, *HARM, *OTHERS]
    return at_once(
        partial(run_cells, "fastdds", ["all-encrypt"], attacks, out=out),
        partial(run_cells, "fastdds", ["payload-encrypt"], PAYLOAD_IN_CLEAR_NO_MORE),
    )


@pytest.fixture(scope="module")
def cells(both: list[Cells]) -> Cells:
    return both[0]


@pytest.fixture(scope="module")
def payload_alone(both: list[Cells]) -> Cells:
    return both[1]


def test_every_kind_of_attack_was_tried(cells: Cells) -> None:
    tried = {attack for _, attack in cells}
    assert {name for name in ATTACKS if not name.startswith("silence-")} <= tried
    assert Verdict.INVALID not in {cell.verdict for cell in cells.values()}


def test_stopped_is_said_only_beside_a_control_that_succeeded(cells: Cells) -> None:
    for name, cell in cells.items():
        if cell.verdict is Verdict.STOPPED:
            assert cell.control_succeeded > 0, name


@pytest.mark.parametrize("attack", STOPPED_BY_ENCRYPTION)
def test_what_succeeds_in_clear_is_stopped_by_encryption(cells: Cells, attack: str) -> None:
    assert cells["none", attack].verdict is Verdict.SUCCEEDED, cells["none", attack].text
    assert cells["all-encrypt", attack].verdict is Verdict.STOPPED, cells["all-encrypt", attack].text


@pytest.mark.parametrize(("attack", "verdict"), BY_INSIDERS.items())
def test_an_insider_is_judged_beside_the_same_node_with_the_right(cells: Cells, attack: str, verdict: Verdict) -> None:
    assert cells["none", attack].verdict is Verdict.NOT_APPLICABLE
    found = cells["all-encrypt", attack]
    assert (found.verdict, found.control_succeeded) == (verdict, 1), found.text


@pytest.mark.parametrize(("attack", "number"), HARM.items())
def test_harm_is_a_number(cells: Cells, attack: str, number: str) -> None:
    found = cells["none", attack]
    assert found.verdict in (Verdict.SUCCEEDED, Verdict.DETECTED), found.text
    assert found.harm[number] > (200 if number == "older_ms" else 0.5)


@pytest.mark.parametrize("protection", ["none", "all-encrypt"])
def test_nobody_is_stopped_from_dropping(cells: Cells, protection: str) -> None:
    assert cells[protection, "drop"].verdict in (Verdict.SUCCEEDED, Verdict.DETECTED)


def test_a_restarted_subscriber_takes_no_old_message_where_all_is_encrypted(cells: Cells) -> None:
    """Fast DDS encrypts with the rest for which participant a message is."""
    assert cells["none", "replay-restarted"].verdict is Verdict.SUCCEEDED
    assert cells["all-encrypt", "replay-restarted"].verdict is Verdict.STOPPED


def test_a_gap_in_clear_is_taken_whatever_the_governance_says(cells: Cells) -> None:
    """By Fast DDS 2.9."""
    assert cells["all-encrypt", "silence-gap"].verdict is Verdict.SUCCEEDED


def test_an_insider_is_refused_by_the_victims_permission_check(cells: Cells, out: Path) -> None:
    """Neither by its own node nor for a governance of its own."""
    assert cells
    for attack, victim in (("insider-publish", "station-subscriber"), ("subscribe-without-right", "robot-publisher")):
        (trial,) = (out / "latest" / "trials").glob(f"*_all-encrypt_*_{attack}_attack-1")
        assert "rt/scan topic not found in allow rule" in (trial / "log" / f"{victim}.log").read_text()


def test_an_attack_that_makes_no_sense_says_why(cells: Cells) -> None:
    found = cells["all-encrypt", "master-hijack"]
    assert (found.verdict, found.text) == (Verdict.NOT_APPLICABLE, "fastdds has no master")


def test_an_attack_whose_control_fails_is_not_called_stopped(cells: Cells) -> None:
    """RTPS itself takes no sequence number twice."""
    assert cells["none", "replay"].verdict is Verdict.NOT_SHOWN
    assert cells["all-encrypt", "replay"].verdict is Verdict.NOT_SHOWN


def test_encryption_of_the_payload_alone_hides_it_and_keeps_no_old_message_out(payload_alone: Cells) -> None:
    assert payload_alone["payload-encrypt", "eavesdrop"].verdict is Verdict.STOPPED
    assert "topic name" in payload_alone["payload-encrypt", "eavesdrop"].text
    assert payload_alone["payload-encrypt", "replay-resequenced"].verdict is Verdict.SUCCEEDED


@pytest.mark.parametrize("protection", ["none", "payload-encrypt"])
def test_a_writer_said_to_be_gone_is_heard_no_more(payload_alone: Cells, protection: str) -> None:
    found = payload_alone[protection, "silence-dispose-writer"]
    assert found.verdict in (Verdict.SUCCEEDED, Verdict.DETECTED), found.text
    assert found.harm["lost_share"] > 0.5


def test_a_participant_said_to_be_gone_comes_back_in_clear_but_not_where_it_has_to_authenticate(
    payload_alone: Cells,
) -> None:
    """By Fast DDS 2.9."""
    assert payload_alone["none", "silence-dispose"].verdict is Verdict.NOT_SHOWN
    found = payload_alone["payload-encrypt", "silence-dispose"]
    assert found.verdict in (Verdict.SUCCEEDED, Verdict.DETECTED), found.text
    assert found.harm["lost_share"] > 0.5


def test_what_was_sent_and_delivered_is_kept(cells: Cells, out: Path) -> None:
    assert cells
    folders = list(out.glob("*/trials/*"))
    assert len(folders) >= len({name for name, cell in cells.items() if cell.repetitions})
    for folder in folders:
        evidence = folder / "evidence"
        assert (evidence / "wire.pcapng.gz").stat().st_size > 0, folder.name
        assert (evidence / "delivered.txt").stat().st_size > 0, folder.name
        if any(
            f"_{name}_" in folder.name for name in ("modify", "forged-publish", "replay-resequenced", "silence-gap")
        ):
            assert (evidence / "injected.hex").stat().st_size > 0, folder.name
