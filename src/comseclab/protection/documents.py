"""Governance and permissions documents of DDS Security 1.1 (clauses 9.4.1.2 and 9.4.1.3), as XML text."""

from collections.abc import Iterable
from xml.sax.saxutils import escape

from comseclab.protection.levels import Kind, Level

_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<dds xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
    'xsi:noNamespaceSchemaLocation="http://www.omg.org/spec/DDS-SECURITY/20170901/omg_shared_ca_{}.xsd">\n'
)
VALID_FROM, VALID_UNTIL = "2020-01-01T00:00:00", "2100-01-01T00:00:00"
"""Fixed, so that the documents of two trials are the same text. The certificates bound the validity anyway."""


def governance(level: Level, domain: int) -> str:
    """The governance document of a level: one rule for all topics of one domain."""
    protects_discovery = str(level.discovery is not Kind.NONE).lower()
    return (
        _HEAD.format("governance")
        + f"""  <domain_access_rules>
    <domain_rule>
      <domains><id>{domain}</id></domains>
      <allow_unauthenticated_participants>false</allow_unauthenticated_participants>
      <enable_join_access_control>true</enable_join_access_control>
      <discovery_protection_kind>{level.discovery.value}</discovery_protection_kind>
      <liveliness_protection_kind>{level.discovery.value}</liveliness_protection_kind>
      <rtps_protection_kind>{level.rtps.value}</rtps_protection_kind>
      <topic_access_rules>
        <topic_rule>
          <topic_expression>*</topic_expression>
          <enable_discovery_protection>{protects_discovery}</enable_discovery_protection>
          <enable_liveliness_protection>{protects_discovery}</enable_liveliness_protection>
          <enable_read_access_control>true</enable_read_access_control>
          <enable_write_access_control>true</enable_write_access_control>
          <metadata_protection_kind>{level.metadata.value}</metadata_protection_kind>
          <data_protection_kind>{level.data.value}</data_protection_kind>
        </topic_rule>
      </topic_access_rules>
    </domain_rule>
  </domain_access_rules>
</dds>
"""
    )


def permissions(subject: str, writes: Iterable[str], reads: Iterable[str], domain: int) -> str:
    """The permissions document of one identity: the DDS topics it may write and read, and nothing else.

    `subject` is the certificate's subject name in the order of RFC 4514 (last attribute first); implementations
    compare it as text.
    """
    rules = _rule("publish", writes) + _rule("subscribe", reads)
    allowed = f"""      <allow_rule>
        <domains><id>{domain}</id></domains>
{rules}      </allow_rule>
"""
    return (
        _HEAD.format("permissions")
        + f"""  <permissions>
    <grant name="{escape(subject, {'"': "&quot;"})}">
      <subject_name>{escape(subject)}</subject_name>
      <validity><not_before>{VALID_FROM}</not_before><not_after>{VALID_UNTIL}</not_after></validity>
{allowed if rules else ""}      <default>DENY</default>
    </grant>
  </permissions>
</dds>
"""
    )


def _rule(verb: str, topics: Iterable[str]) -> str:
    listed = "".join(f"<topic>{escape(topic)}</topic>" for topic in sorted(set(topics)))
    return f"        <{verb}><topics>{listed}</topics></{verb}>\n" if listed else ""
