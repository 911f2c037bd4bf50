"""What RTPS lets a stranger do where it is not protected, and what protection of each layer stops, on both stacks."""

from itertools import product

import pytest

from attack.campaign import run_cells
from comseclab.attack.verdict import Verdict

ATTACKS = ("forged-publish", "replay-resequenced", "silence-gap")


@pytest.mark.parametrize("middleware", ["fastdds", "cyclonedds"])
def test_outsiders_succeed_in_clear_and_not_through_everything(middleware: str) -> None:
    cells = run_cells(middleware, ["payload-encrypt", "all-encrypt"], ATTACKS)
    verdicts = {cell: found.verdict for cell, found in cells.items()}
    assert {cell: verdicts[cell] for cell in product(("none",), ATTACKS)} == dict.fromkeys(
        product(("none",), ATTACKS), Verdict.SUCCEEDED
    )
    # Numbers are outside of what payload protection covers, the payload is not.
    assert verdicts["payload-encrypt", "forged-publish"] is Verdict.STOPPED
    assert verdicts["payload-encrypt", "replay-resequenced"] is Verdict.SUCCEEDED
    assert verdicts["all-encrypt", "forged-publish"] is Verdict.STOPPED
    assert verdicts["all-encrypt", "replay-resequenced"] is Verdict.STOPPED
    # Fast DDS 2.9 takes a GAP in clear whatever its governance says; Cyclone DDS does not.
    gap = Verdict.SUCCEEDED if middleware == "fastdds" else Verdict.STOPPED
    assert verdicts["all-encrypt", "silence-gap"] is gap


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
