"""What Cyclone DDS lets a stranger do, and what both stacks let be replayed (of Fast DDS: test_attack_cells_real)."""

from itertools import product

import pytest

from attack.campaign import run_cells
from comseclab.attack.verdict import Verdict

ATTACKS = ("forged-publish", "replay-resequenced", "silence-gap", "silence-heartbeat")


def test_outsiders_succeed_in_clear_and_not_through_everything() -> None:
    cells = run_cells("cyclonedds", ["all-encrypt"], ATTACKS)
    expected = {"none": Verdict.SUCCEEDED, "all-encrypt": Verdict.STOPPED}
    assert {cell: found.verdict for cell, found in cells.items()} == {
        (protection, attack): expected[protection] for protection, attack in product(expected, ATTACKS)
    }


@pytest.mark.parametrize(
    ("middleware", "protections"),
    [("cyclonedds", ["rtps-sign", "all-encrypt"]), ("fastdds", ["sros2-default", "rtps-encrypt"])],
)
def test_a_restarted_subscriber_takes_protected_messages_again(middleware: str, protections: list[str]) -> None:
    cells = run_cells(middleware, protections, ["replay-restarted"])
    verdicts = {protection: found.verdict for (protection, _), found in cells.items()}
    # Fast DDS names the participant it sends to; where that is encrypted, its messages fit no other.
    bound = {"rtps-encrypt": Verdict.STOPPED}
    assert verdicts == {name: bound.get(name, Verdict.SUCCEEDED) for name in ("none", *protections)}
