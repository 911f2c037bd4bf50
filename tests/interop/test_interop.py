"""Which stack reads which: the findings of docs/interoperability.md, each run again.

What looked like chance, a handshake that fails or not, is decided by the subject names: they make the GUIDs, and the
lower GUID begins the handshake. Neither the starting order nor the direction of data matters. What is left to chance:
see `unread`.
"""

import pytest

from comseclab.protection.levels import LEVELS
from interop.pairs import Case, find_all, guid_prefix, unread

pytestmark = pytest.mark.usefixtures("_built")

BOTH_WAYS = [("fastdds", "cyclonedds"), ("cyclonedds", "fastdds")]
SECURED = [name for name, level in LEVELS.items() if level.secured]
ONE_WAY = ["payload-sign", "payload-encrypt"]
"""From Cyclone DDS to Fast DDS alone, where nothing but the payload is protected."""


def test_plain_each_reads_the_other_whoever_starts() -> None:
    cases = [
        Case(*way, first=first, codec=codec)
        for way in BOTH_WAYS
        for first in ("publisher", "subscriber")
        for codec in ("cdr", "ros1")
    ]
    cases += [Case(*way, size=900_000, reliable=1) for way in BOTH_WAYS]
    assert unread(cases) == []


def test_secured_each_reads_the_other_where_cyclone_begins_the_handshake() -> None:
    cases = [Case(*way, level) for way in BOTH_WAYS for level in SECURED if level not in ONE_WAY]
    cases += [Case(*way, "sros2-default", first="subscriber") for way in BOTH_WAYS]
    cases += [Case("cyclonedds", "fastdds", level) for level in ONE_WAY]
    assert unread(cases) == []


def test_cyclone_reads_no_fast_dds_where_the_payload_alone_is_protected() -> None:
    cases = [Case("fastdds", "cyclonedds", level, patience_s=6.0) for level in ONE_WAY]
    assert [case for case, finding in find_all(cases).items() if finding.intact] == []


def test_secured_nothing_is_read_where_fast_dds_begins_the_handshake() -> None:
    cases = [
        Case(*way, level, initiator="fastdds", first=first, patience_s=4.0)
        for way in BOTH_WAYS
        for level, first in (("auth", "publisher"), ("sros2-default", "subscriber"))
    ]
    findings = find_all(cases)
    assert [case for case, finding in findings.items() if finding.intact] == []
    for finding in findings.values():
        assert any("Failed to convert octet sequence to ASN1 integer" in text for text in finding.told)


def test_guids_follow_from_subject_names() -> None:
    """As both stacks announced them for these names."""
    assert guid_prefix("robot-publisher").hex() == "e5c6989f37a8"
    assert guid_prefix("station-subscriber").hex() == "83ab6a50cf73"
