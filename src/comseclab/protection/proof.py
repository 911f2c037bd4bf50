"""Does a capture agree with a DDS protection? Every layer that the wire can show is compared with the level's."""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from comseclab.protection.levels import Kind, Level
from comseclab.protection.rtps import Carried, Scanner, Traffic
from comseclab.protection.wire import frames
from comseclab.results.record import WireProof

MOST_FRAMES = 200_000
"""Of a longer capture the first frames are read: discovery, the handshake and the first messages."""


def sentinels(nonce: str) -> tuple[bytes, bytes]:
    """What messages of the trial carry, see docs/formats.md: stamped ones, and the others."""
    return b"comseclab:" + nonce.encode(), b"comsecl\0" + bytes.fromhex(nonce)


def expected(level: Level) -> Carried:
    """How every user message travels under a level, as far as the wire can show."""
    rtps, metadata = level.rtps.on_wire, level.metadata.on_wire
    if level.rtps.hides:
        return Carried(rtps, None, None)
    if level.metadata.hides:
        return Carried(rtps, metadata, None)
    return Carried(rtps, metadata, level.data.on_wire)


def prove(
    capture: Path, level: Level, topics: Sequence[str], nonce: str, least_size: int, *, announces_early: bool = False
) -> WireProof:
    """Read a capture that began before the nodes, and compare. `topics` are DDS names; `least_size` in bytes.

    `announces_early`: the stack tells unprotected endpoints to participants that have not authenticated yet, so that
    the protection of RTPS messages, which begins later, does not hide them.
    """
    scanner = Scanner(topics, sentinels(nonce), least_size)
    if capture.exists():
        for frame in islice(frames(capture), MOST_FRAMES):
            scanner.frame(frame)
    traffic = scanner.traffic
    return WireProof(
        frames=traffic.frames,
        sentinel_seen=traffic.sentinel_frames > 0,
        sentinel_expected=not level.payload_confidentiality,
        kinds=dict(sorted(traffic.kinds.items())),
        contradictions=contradictions(traffic, level, announces_early=announces_early),
    )


def contradictions(traffic: Traffic, level: Level, *, announces_early: bool = False) -> list[str]:
    """Each way in which the traffic contradicts the level, in one line each."""
    if not traffic.frames:
        return ["the capture holds no frames"]
    return [*_payloads(traffic, level), *_identities(traffic, level), *_discovery(traffic, level, announces_early)]


def _payloads(traffic: Traffic, level: Level) -> list[str]:
    found = []
    if level.payload_confidentiality and traffic.sentinel_frames:
        found.append(f"{traffic.sentinel_frames} frames show the payload in clear")
    if not level.payload_confidentiality and not traffic.sentinel_frames:
        found.append("no frame shows the payload, which nothing should hide")
    wanted = expected(level)
    if not traffic.carried[wanted]:
        found.append(f"no user message seen with {wanted}")
    found += [
        f"{count} user messages with {carried}, not {wanted}"
        for carried, count in traffic.carried.items()
        if carried != wanted
    ]
    return found


def _identities(traffic: Traffic, level: Level) -> list[str]:
    found = []
    handshakes = traffic.kinds["handshake DATA"] + traffic.kinds["handshake DATA_FRAG"]
    if level.authentication and not handshakes:
        found.append("no authentication handshake seen")
    if not level.authentication and handshakes:
        found.append(f"{handshakes} authentication handshake messages seen")
    wanted = {(level.rtps, level.discovery)} if level.secured else set()
    if traffic.participants != wanted:
        found.append(f"participants announce {_announced(traffic.participants)}, not {_announced(wanted)}")
    if level.origin_authentication and not traffic.receiver_codes:
        found.append("no codes for single receivers seen, so no origin authentication")
    if not level.origin_authentication and traffic.receiver_codes:
        found.append(f"{traffic.receiver_codes} submessages with codes for single receivers")
    return found


def _announced(participants: set[tuple[Kind, Kind]]) -> str:
    kinds = sorted(f"rtps {rtps.value} and discovery {discovery.value}" for rtps, discovery in participants)
    return "; ".join(kinds) or "no security"


def _discovery(traffic: Traffic, level: Level, announces_early: bool) -> list[str]:
    secure = traffic.kinds["secure endpoints DATA"]
    open_expected = level.discovery is Kind.NONE and not level.rtps.hides
    found = []
    if open_expected and not traffic.announced_topics:
        found.append("no discovery message names a topic, which nothing should hide")
    hidden_expected = level.discovery is not Kind.NONE if announces_early else not open_expected
    if hidden_expected and traffic.announced_topics:
        found.append(f"discovery names {', '.join(sorted(traffic.announced_topics))} without protection")
    signed_expected = level.discovery is Kind.SIGN and not level.rtps.hides
    if signed_expected and not secure:
        found.append("no signed discovery message seen")
    if not signed_expected and secure:
        found.append(f"{secure} messages of protected discovery are readable")
    return found
