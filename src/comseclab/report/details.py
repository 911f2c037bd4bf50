"""The page's lower half: links, trials, proofs, environment, how to repeat."""

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from comseclab.report import units
from comseclab.report.arms import every_arm
from comseclab.report.run import RunData
from comseclab.results.record import LinkMeasured, TrialRecord

LINK_QUANTITIES = ("mean", "sd", "min", "p50", "p99")


def links(data: RunData) -> tuple[str, list[dict[str, Any]]]:
    """The unit of delays, and a row a link and direction: as configured, and the median over trials of the probes."""
    configured = {row.case: row.link for row in data.summary.cases}
    found: dict[tuple[str, str, str], list[LinkMeasured]] = {}
    for record in data.records:
        if record.status == "valid" and record.case in configured:
            for link in record.links:
                name = str(configured[record.case].get("name", "link"))
                found.setdefault((name, link.sender, link.receiver), []).append(link)
    unit = units.unit_for(link.delay_ns.get("p50") for measured in found.values() for link in measured)
    profiles = {str(link.get("name", "link")): link for link in configured.values()}
    rows = [
        {
            "label": f"{name}, {sender} → {receiver}",
            "configured": describe_link(profiles[name]),
            "cells": _measured(measured, unit),
        }
        for (name, sender, receiver), measured in found.items()
    ]
    return unit.name, rows


def _measured(measured: Sequence[LinkMeasured], unit: units.Unit) -> list[str]:
    sent = sum(link.sent for link in measured)
    lost = median((link.sent - link.received) / link.sent for link in measured if link.sent) if sent else None
    reordered = median(link.reordered / link.received for link in measured if link.received) if sent else None
    delays = [_middle(measured, name) for name in LINK_QUANTITIES]
    return [
        str(len(measured)),
        units.count(sent),
        units.percent(lost),
        *(unit.number(delay) for delay in delays),
        units.percent(reordered),
    ]


def _middle(measured: Sequence[LinkMeasured], name: str) -> float | None:
    known = [link.delay_ns[name] for link in measured if name in link.delay_ns]
    return median(known) if known else None


def describe_link(link: Mapping[str, Any]) -> str:
    """A link profile in words: `1 Gbit/s, 300 ± 360 µs normal, in order, no loss, MTU 1500`."""
    if link.get("kind") == "loopback":
        return "both nodes on one host, over loopback"
    if link.get("kind") == "direct":
        return "two hosts, nothing emulated"
    parts = [units.rate(link["rate_bps"])] if link.get("rate_bps") else ["no rate limit"]
    parts.append(_delay(link))
    parts.append("in order" if link.get("jitter") == "fifo" else "frames may overtake")
    shares = [(link.get(name), name) for name in ("loss", "corrupt", "duplicate", "reorder")]
    parts += [f"{100 * share:g} % {name}" for share, name in shares if share] or ["no loss"]
    return ", ".join([*parts, f"MTU {link.get('mtu', '–')}"])


def _delay(link: Mapping[str, Any]) -> str:
    delay, jitter = link.get("delay_ns") or 0, link.get("jitter_ns") or 0
    if not jitter:
        return units.duration(delay) if delay else "no delay"
    unit = units.unit_for([delay, jitter])
    return f"{delay / unit.ns:g} ± {jitter / unit.ns:g} {unit.name} {link.get('distribution', '')}".strip()


def trials_line(data: RunData) -> str:
    """How many trials there were and how much they sent."""
    valid = sum(record.status == "valid" for record in data.records)
    sent = units.count(sum(row.sent for row in data.summary.cases))
    dropped = f"{100 * data.summary.warm_up:g}"
    wrong = "none invalid" if valid == len(data.records) else f"{len(data.records) - valid} invalid"
    return (
        f"{len(data.records)} trials, {wrong}; {sent} messages counted, after the first {dropped} % of each "
        "round, which warm up."
    )


def _name(data: RunData, case: str) -> str:
    return next((f"{arm.place}, {arm.label}" for arm in every_arm(data.panels) if arm.row.case == case), case)


def invalid(data: RunData) -> list[dict[str, Any]]:
    return [
        {
            "number": record.number,
            "folder": f"{data.folder(record)}/",
            "case": _name(data, record.case),
            "reasons": "; ".join(record.reasons),
        }
        for record in data.records
        if record.status == "invalid"
    ]


def outcomes(data: RunData) -> list[dict[str, Any]]:
    found = {(row.case, text): trials for row in data.summary.cases for text, trials in row.outcomes.items()}
    return [{"case": _name(data, case), "text": text, "trials": trials} for (case, text), trials in found.items()]


def proofs(data: RunData) -> list[dict[str, Any]]:
    """Per protection, what the captures of its valid trials showed."""
    protection = {row.case: str(row.factors.get("protection", "–")) for row in data.summary.cases}
    found: dict[str, list[TrialRecord]] = {}
    for record in data.records:
        if record.proof is not None and record.status == "valid" and record.case in protection:
            found.setdefault(protection[record.case], []).append(record)
    return [_proof(name, [record.proof for record in records if record.proof]) for name, records in found.items()]


def _proof(protection: str, shown: Sequence[Any]) -> dict[str, Any]:
    seen, expected = sum(proof.sentinel_seen for proof in shown), sum(proof.sentinel_expected for proof in shown)
    kinds: Counter[str] = Counter()
    for proof in shown:
        kinds.update(proof.kinds)
    should = "as it should be" if seen == expected else "which contradicts the protection"
    told = "yes" if seen == len(shown) else "no" if seen == 0 else f"in {seen} of {len(shown)}"
    most = ", ".join(f"{name} {units.count(number)}" for name, number in kinds.most_common(6))
    return {"protection": protection, "trials": len(shown), "sentinel": f"{told}, {should}", "kinds": most}


def samples(data: RunData) -> list[dict[str, str]]:
    return [
        {
            "href": f"{data.folder(record)}/samples.parquet",
            "label": f"{record.number}: {_name(data, record.case)} ({record.status})",
        }
        for record in data.records
    ]


def environment(data: RunData) -> list[dict[str, Any]]:
    """Groups of facts: `environment.json` as it stands, what trials pinned and set, and the stacks' own versions."""
    run = [("Pinning", text) for text in _pinning(data)]
    stacks = dict.fromkeys(_stack(record) for record in data.records)
    run += [("Transport", text) for text in stacks if text]
    own = {name: value for record in data.records for name, value in record.sysctls.items()}
    return machine(data.summary.environment, run, own)


def machine(
    described: Mapping[str, Any], run: Sequence[tuple[str, str]] = (), sysctls: Mapping[str, str] | None = None
) -> list[dict[str, Any]]:
    """Groups of facts from `environment.json`, and what a run adds to it."""
    plain: list[tuple[str, str]] = []
    groups: list[dict[str, Any]] = []
    for name, value in described.items():
        if name == "clock" and isinstance(value, dict):
            groups.append({"title": "Clock", "facts": list(_clock(value))})
        elif isinstance(value, dict):
            groups.append({"title": _title(name), "facts": list(_facts(value))})
        else:
            plain.append((_title(name), _text(name, value)))
    plain += run
    if sysctls:
        groups.append({"title": "Settings in the trials' namespaces", "facts": sorted(sysctls.items())})
    return [*groups, *([{"title": "Run", "facts": plain}] if plain else [])]


def _facts(value: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, part in value.items():
        yield _title(name), _text(name, part)


def _clock(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "Source", str(found["source"])
    yield "Cost of a read", units.duration(found["read_cost_ns"])
    yield "Rate", f"{units.digits(found['ticks_per_second'] / 1e6, 6)} MHz"


def _title(name: str) -> str:
    words = name.replace("_bytes", "").replace("_", " ").replace("cpu", "CPU")
    return name if "." in name else words[:1].upper() + words[1:]


def _text(name: str, value: Any) -> str:
    if value is None:
        return "not known"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name.endswith("_bytes") and isinstance(value, int | float):
        return units.size(value)
    if isinstance(value, list):
        return ", ".join(str(part) for part in value)
    if isinstance(value, dict):
        return ", ".join(f"{key} {part}" for key, part in value.items())
    return str(value)


def _stack(record: TrialRecord) -> str:
    return " ".join(str(record.transport[key]) for key in ("transport", "version") if record.transport.get(key))


def _pinning(data: RunData) -> list[str]:
    where: dict[str, None] = {}
    for record in data.records:
        for process in record.processes:
            where[f"{process.host}/{process.name} on CPU {', '.join(str(cpu) for cpu in process.cpus)}"] = None
    return ["; ".join(where)] if where else []


def commands(data: RunData) -> str:
    """What to type to get this run again, and this page."""
    folder = typed(data.path)
    return f"comseclab run {folder}\ncomseclab report {folder}"


def typed(path: Path) -> str:
    """A run folder as one types it where the page is made."""
    here = Path.cwd()
    return shlex.quote(str(path.relative_to(here) if path.is_relative_to(here) else path))


def repeat(data: RunData) -> list[tuple[str, str]]:
    """The seed, what identifies the messages sent, and what carried out the links."""
    hashes: dict[str, None] = {}
    for spec in data.specs:
        for stream in spec.streams:
            sent = f"{stream.messages} messages, SHA-256 {stream.spool_sha256}"
            hashes[f"{spec.factors.workload} {stream.topic}: {sent}; from {stream.source}"] = None
    backends = dict.fromkeys(f"{spec.link.name}: {spec.backend}" for spec in data.specs)
    facts = [("Seed", str(data.summary.seed)), *(("Messages", text) for text in hashes)]
    return [*facts, ("Link backend", ", ".join(backends))] if backends else facts
