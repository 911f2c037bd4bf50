"""A governance of a user's is taken for a level only where it asks for all that the level claims."""

from pathlib import Path

import pytest

from comseclab.errors import LabError
from comseclab.protection import documents, user_documents
from comseclab.protection.authority import Authority
from comseclab.protection.levels import LEVELS

SECURED = [name for name, level in LEVELS.items() if level.secured]
SWITCHES = {
    "allow_unauthenticated_participants": "false",
    "enable_join_access_control": "true",
    "enable_read_access_control": "true",
    "enable_write_access_control": "true",
    "enable_discovery_protection": "true",
}
"""With what a level that protects discovery needs of them."""
OTHER = {"true": "false", "false": "true"}


def check(text: str, level: str, folder: Path) -> None:
    path = folder / "governance.xml"
    path.write_text(text)
    document = user_documents.load(path, "domain_access_rules", Authority.create().certificate)
    user_documents.check_governance(document, LEVELS[level], ["rt/scan"])


@pytest.mark.parametrize("level", SECURED)
def test_what_a_level_asks_for_fits_it(level: str, tmp_path: Path) -> None:
    check(documents.governance(LEVELS[level], 0), level, tmp_path)


def test_other_spellings_of_a_boolean_fit(tmp_path: Path) -> None:
    text = documents.governance(LEVELS["sros2-default"], 0)
    check(text.replace(">true<", "> 1 <").replace(">false<", ">False<"), "sros2-default", tmp_path)


@pytest.mark.parametrize(("name", "needed"), SWITCHES.items())
def test_a_switch_the_other_way_is_refused(name: str, needed: str, tmp_path: Path) -> None:
    text = documents.governance(LEVELS["sros2-default"], 0)
    wrong = text.replace(f"<{name}>{needed}<", f"<{name}>{OTHER[needed]}<")
    with pytest.raises(LabError, match=f"{name} is {OTHER[needed]}, but its base needs {needed}") as caught:
        check(wrong, "sros2-default", tmp_path)
    assert caught.value.remedy == f"write <{name}>{needed}</{name}>"
    with pytest.raises(LabError, match=f"{name} is missing"):
        check(text.replace(f"<{name}>{needed}</{name}>", ""), "sros2-default", tmp_path)


def test_discovery_in_clear_fits_where_the_level_leaves_it_so(tmp_path: Path) -> None:
    text = documents.governance(LEVELS["rtps-sign"], 0)
    assert "<enable_discovery_protection>false<" in text
    check(text, "rtps-sign", tmp_path)
