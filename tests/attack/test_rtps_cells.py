"""What Cyclone DDS lets a stranger do, and what both stacks let be replayed (of Fast DDS: test_attack_cells_real)."""

from functools import partial
from itertools import product

import pytest

from attack.campaign import Cells, at_once, run_cells
from comseclab.attack.verdict import Verdict

ATTACKS = ("forged-publish", "replay-resequenced", "silence-gap", "silence-heartbeat")
RESTARTED = {"cyclonedds": ["rtps-sign", "all-encrypt"], "fastdds": ["sros2-default", "rtps-encrypt"]}


@pytest.fixture(scope="module")
def outsiders_and_restarted() -> tuple[Cells, dict[str, Cells]]:
    outsiders, *restarted = at_once(
        partial(run_cells, "cyclonedds", ["all-encrypt"], ATTACKS),
        *(partial(run_cells, stack, protections, ["replay-restarted"]) for stack, protections in RESTARTED.items()),
    )
    return outsiders, dict(zip(RESTARTED, restarted, strict=True))


def test_outsiders_succeed_in_clear_and_not_through_everything(
    outsiders_and_restarted: tuple[Cells, dict[str, Cells]],
) -> None:
    cells, _ = outsiders_and_restarted
    expected = {"none": Verdict.SUCCEEDED, "all-encrypt": Verdict.STOPPED}
    assert {cell: found.verdict for cell, found in cells.items()} == {
        (protection, attack): expected[protection] for protection, attack in product(expected, ATTACKS)
    }


@pytest.mark.parametrize("middleware", RESTARTED)
def test_a_restarted_subscriber_takes_protected_messages_again(
    middleware: str, outsiders_and_restarted: tuple[Cells, dict[str, Cells]]
) -> None:
    _, cells = outsiders_and_restarted
    verdicts = {protection: found.verdict for (protection, _), found in cells[middleware].items()}
    # Fast DDS names the participant it sends to; where that is encrypted, its messages fit no other.
    bound = {"rtps-encrypt": Verdict.STOPPED}
    assert verdicts == {name: bound.get(name, Verdict.SUCCEEDED) for name in ("none", *RESTARTED[middleware])}
