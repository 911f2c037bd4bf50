"""What a level's name means: built in, or defined in the plan."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from comseclab.errors import LabError
from comseclab.middleware.registry import MIDDLEWARES
from comseclab.plan.links import MBIT, MS, PROFILES
from comseclab.plan.schema import DefaultLevels, Matrix, Plan, Settings, Stream, nearest
from comseclab.testbed.profile import LinkProfile
from comseclab.trial.spec import OwnTransport, ProtectionSpec, Scheduling
from comseclab.workload.recording import Recorded, Recording
from comseclab.workload.source import Source
from comseclab.workload.synthetic import SENSORS, Synthetic

DEFAULT_SETTINGS = "default"
TOPIC = r"(/[A-Za-z_][A-Za-z0-9_]*)+"


def built_in_protections() -> list[str]:
    """Every protection some middleware supports."""
    return list(dict.fromkeys(name for stack in MIDDLEWARES.values() for name in stack.protections))


def own_protections(plan: Plan) -> list[str]:
    """Those of the plan's own transports."""
    return [name for transport in plan.transports.values() for name in transport.protections]


def known_levels(plan: Plan) -> dict[str, list[str]]:
    """The levels each factor has, by factor."""
    return {
        "middleware": [*MIDDLEWARES, *plan.transports],
        "reliability": ["best-effort", "reliable"],
        "protection": [*built_in_protections(), *plan.protections, *own_protections(plan)],
        "link": [*PROFILES, *plan.links],
        "workload": [*SENSORS, *plan.workloads],
        "codec": ["cdr", "ros1"],
        "pattern": ["stream", "echo"],
        "settings": [DEFAULT_SETTINGS, *plan.settings],
    }


def check_names(plan: Plan, where: str) -> None:
    """Raise LabError for a level, host or base that nobody knows, and for an own one that hides a built-in."""
    known = known_levels(plan)
    _check_own_names(plan, where)
    for place, levels in _places(plan):
        for factor, names in levels:
            for name in names:
                _check(name, known[factor], f"{where}: {place} {factor}")
    _check(plan.comparison.baseline, known[plan.comparison.factor], f"{where}: [comparison] baseline")
    _check(plan.attack.workload, known["workload"], f"{where}: [attack] workload")
    for name, link in plan.links.items():
        _check(link.base, list(PROFILES), f"{where}: [links.{name}] base")
    for name, protection in plan.protections.items():
        _check(protection.base, built_in_protections(), f"{where}: [protections.{name}] base")
        for host in protection.permissions:
            _check(host, plan.hosts.names, f"{where}: [protections.{name}] permissions")
    for name, settings in plan.settings.items():
        for stack, options in settings.middleware.items():
            keys = [key for key in Settings.model_fields if key != "middleware"]
            _check(stack, [*MIDDLEWARES, *keys], f"{where}: [settings.{name}]", "key")
            if refusal := MIDDLEWARES[stack].refuse_settings(options):
                raise LabError(f"{where}: [settings.{name}.{stack}]: {refusal}")
        for host in settings.node_cpus or {}:
            _check(host, plan.hosts.names, f"{where}: [settings.{name}] node_cpus", "host")
    for name, workload in plan.workloads.items():
        check_streams(workload.streams, plan.hosts.names, f"{where}: [workloads.{name}]")


def link_profile(plan: Plan, name: str, settings: str) -> LinkProfile:
    """The profile of a link level; the MTU of the settings level overrides the link's."""
    if name in PROFILES:
        profile = PROFILES[name]
    else:
        own = plan.links[name]
        profile = PROFILES[own.base]
        if profile.kind != "emulated":
            profile = profile.model_copy(update={"kind": "emulated"})
        update: dict[str, Any] = own.model_dump(
            exclude_none=True, exclude={"base", "rate_mbps", "delay_ms", "delay_sd_ms"}
        )
        for key, field, unit in (
            ("rate_mbps", "rate_bps", MBIT),
            ("delay_ms", "delay_ns", MS),
            ("delay_sd_ms", "jitter_ns", MS),
        ):
            if (value := getattr(own, key)) is not None:
                update[field] = round(value * unit)
        profile = profile.model_copy(update={**update, "name": name})
    mtu = plan.settings[settings].mtu if settings in plan.settings else None
    return profile.model_copy(update={"mtu": mtu}) if mtu else profile


def protection_spec(plan: Plan, name: str) -> ProtectionSpec:
    """The specification of a protection level."""
    own = plan.protections.get(name)
    return ProtectionSpec(name=name, **own.model_dump()) if own else ProtectionSpec(name=name, base=name)


def scheduling(plan: Plan, name: str) -> Scheduling:
    """The scheduling of a settings level."""
    own = plan.settings.get(name, Settings())
    return Scheduling(**own.model_dump(exclude_none=True, exclude={"mtu", "middleware"}))


def middleware_settings(plan: Plan, name: str) -> dict[str, dict[str, Any]]:
    """The options of a settings level, per middleware."""
    return plan.settings[name].middleware if name in plan.settings else {}


def own_transport(plan: Plan, name: str) -> OwnTransport | None:
    """The plan's own transport of that name; None for a middleware that is built in."""
    own = plan.transports.get(name)
    return OwnTransport.model_validate(own.model_dump()) if own else None


def workload_streams(plan: Plan, name: str) -> list[Stream]:
    """The streams of a workload level: the plan's own, or a synthetic sensor's, from the first host to the last."""
    if name in plan.workloads:
        return plan.workloads[name].streams
    return [Stream.model_validate({"sensor": name, "from": plan.hosts.names[0], "to": [plan.hosts.names[-1]]})]


def sources(streams: Sequence[Stream], seed: int) -> list[Source]:
    """Where the messages of a workload's streams come from; topics of one recording keep step with each other."""
    together: dict[Path, list[str]] = {}
    for stream in streams:
        if stream.recording and stream.topic and not stream.rate_hz:
            together.setdefault(stream.recording, []).append(stream.topic)
    begins = {path: Recording.of(path).all_begun_ns(topics) for path, topics in together.items() if len(topics) > 1}
    return [_source(stream, seed, begins) for stream in streams]


def _source(stream: Stream, seed: int, begins: Mapping[Path, int]) -> Source:
    if stream.recording and stream.topic:
        begin_ns = None if stream.rate_hz else begins.get(stream.recording)
        return Recorded(stream.recording, stream.topic, stream.rate_hz, begin_ns)
    if stream.sensor:
        return Synthetic(stream.sensor, stream.rate_hz or SENSORS[stream.sensor].rate_hz, seed)
    return Synthetic("opaque", stream.rate_hz or 1.0, seed, stream.opaque_bytes or 0)


def topic(stream: Stream) -> str:
    """The ROS topic a stream is published on."""
    default = SENSORS[stream.sensor].topic if stream.sensor else "/opaque"
    return stream.publish_as or stream.topic or default


def _places(plan: Plan) -> list[tuple[str, list[tuple[str, list[str]]]]]:
    def levels(table: Matrix) -> list[tuple[str, list[str]]]:
        return [(factor, getattr(table, factor) or []) for factor in DefaultLevels.model_fields]

    matrices = [(f"[[matrix]] {number}", levels(matrix)) for number, matrix in enumerate(plan.matrix, 1)]
    return [("[factors]", levels(plan.factors)), *matrices]


def _check(name: str, known: list[str], where: str, kind: str = "level") -> None:
    if name not in known:
        raise LabError(f'{where} has no {kind} "{name}"; {nearest(name, known)}')


def _check_own_names(plan: Plan, where: str) -> None:
    taken: Mapping[str, list[str]] = {
        "links": list(PROFILES),
        "workloads": list(SENSORS),
        "protections": built_in_protections(),
        "settings": [DEFAULT_SETTINGS],
        "transports": list(MIDDLEWARES),
    }
    for table, built_in in taken.items():
        for name in getattr(plan, table):
            if name in built_in:
                raise LabError(f"{where}: [{table}.{name}] has a built-in's name", "give it another")


def check_streams(streams: list[Stream], hosts: list[str], where: str) -> None:
    """Raise LabError for an unknown host, a bad or repeated topic, and messages without room for their identity."""
    topics: list[str] = []
    for stream in streams:
        _check(stream.writer, hosts, f"{where} from", "host")
        for host in stream.readers:
            _check(host, hosts, f"{where} to", "host")
        if topic(stream) in topics:
            raise LabError(f"{where} has two streams on {topic(stream)}", "give one another topic, or publish_as")
        if not re.fullmatch(TOPIC, topic(stream)):
            raise LabError(f'{where}: "{topic(stream)}" is no ROS topic', 'give one such as publish_as = "/scan"')
        topics.append(topic(stream))
    for messages in sources(streams, 0):
        if messages.type:
            messages.type.check_identity()
