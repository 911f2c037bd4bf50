"""From a plan file to a checked Plan. Every mistake is a LabError that names the place in the file."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from comseclab.errors import LabError
from comseclab.places import shipped_plan
from comseclab.plan.levels import check_names, check_streams
from comseclab.plan.schema import Plan, Stream, Table, Workload
from comseclab.workload.recording import Recording

Overrides = Mapping[str, Mapping[str, Any]]


def load_plan(path: Path, overrides: Overrides | None = None) -> Plan:
    """Read a plan; `overrides` replaces keys by table, as in {"stop": {"max_pairs": 5}}."""
    try:
        content = tomllib.loads(path.read_text())
    except FileNotFoundError:
        raise LabError(f"no plan {path}", f"{shipped_plan('template')} is one to begin with") from None
    except OSError as error:
        raise LabError(f"cannot read plan {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise LabError(f"plan {path.name} is not TOML: {error}") from None
    except RecursionError:
        raise LabError(f"plan {path.name} is nested too deeply", "no key needs more than a few levels") from None
    for table, values in (overrides or {}).items():
        content[table] = {**content.get(table, {}), **values}
    return checked_plan(content, path)


def checked_plan(content: Mapping[str, Any], path: Path) -> Plan:
    """A plan from its parsed content; paths in it are relative to `path`'s folder."""
    where = f"plan {path.name}"
    try:
        plan = Plan.model_validate(content, context={"folder": path.parent})
    except ValidationError as error:
        first, *more = error.errors()
        rest = f" (and {len(more)} more)" if more else ""
        raise LabError(f"{where}: {_explain(first)}{rest}") from None
    check_names(plan, where)
    return plan


class SavedPlan(Table):
    """What a run folder keeps: the plan as understood, and the ids of the cases chosen from it."""

    plan: Plan
    cases: list[str]


def saved_plan(content: object, path: Path) -> SavedPlan:
    """The plan of a run folder, from the parsed content of its file `path`."""
    try:
        return SavedPlan.model_validate(content)
    except ValidationError as error:
        raise LabError(f"{path}: {_explain(error.errors()[0])}", "begin a new run") from None


def saved_text(folder: Path) -> str:
    """The plan file that a run folder keeps, as it was given. Raises LabError where it is gone."""
    try:
        return (folder / "plan.toml").read_text()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise LabError(f"{folder / 'plan.toml'} cannot be read: {reason}", "begin a new run") from None


def with_recording(plan: Plan, file: Path, topics: Sequence[str] = (), *, each_topic: bool = False) -> Plan:
    """The plan with its workloads replaced by topics of a recording; a recording's only topic need not be named.

    The topics become one workload with a stream each, or with `each_topic` a workload each.
    Raises LabError when the recording cannot be read or lacks a topic.
    """
    recorded = list(Recording.of(file).connections)
    if not topics and len(recorded) > 1:
        raise LabError(
            f"recording {file.name} has several topics", f"choose with --topic: {', '.join(sorted(recorded))}"
        )
    chosen = list(dict.fromkeys(topics or recorded))
    for topic in chosen:
        if not topic or topic not in recorded:
            listed = ", ".join(sorted(recorded))
            raise LabError(f'recording {file.name} has no messages on "{topic}"', f"it has {listed}")
    robot, station = plan.hosts.names[0], plan.hosts.names[-1]
    streams = [Stream(recording=file.resolve(), topic=topic, writer=robot, readers=[station]) for topic in chosen]
    check_streams(streams, plan.hosts.names, f"recording {file.name}")
    if each_topic:
        workloads = dict(zip(_level_names(chosen), ([stream] for stream in streams), strict=True))
    else:
        workloads = {_level_name(file.stem): streams}
    named = {name: Workload(streams=group) for name, group in workloads.items()}
    factors = plan.factors.model_copy(update={"workload": list(named)})
    matrix = [one.model_copy(update={"workload": None}) for one in plan.matrix]
    return plan.model_copy(update={"workloads": named, "factors": factors, "matrix": matrix})


def _explain(error: ErrorDetails) -> str:
    *tables, last = error["loc"] or ("",)
    kind = error["type"]
    if kind == "unknown_key":
        return f"{_place(error['loc'])} has {error['msg']}"
    if kind == "missing":
        return f'{_place(tables)} needs the key "{last}"' if tables else f"needs the table [{last}]"
    message = error["msg"][0].lower() + error["msg"][1:]
    given = error["input"]
    if isinstance(given, dict) or not tables:
        return f"{_place(error['loc'])}: {message}"
    shown = repr(str(given)) if isinstance(given, str | Path) else given
    return f"{_place(tables)} {last} = {shown}: {message}"


def _place(location: Sequence[int | str]) -> str:
    """A place as the file shows it: [stop], [links.slow], [[matrix]] 2, [[workloads.drive.streams]] 1."""
    names: list[str] = []
    place = ""
    for part in location:
        if isinstance(part, str):
            names.append(part)
            place = f"[{'.'.join(names)}]"
        elif names:
            place = f"[[{'.'.join(names)}]] {part + 1}"
    return place or "the plan"


def _level_names(topics: Sequence[str]) -> list[str]:
    """A level's name for each topic; one that is taken gets a number, as `/cmd/vel` and `/cmd_vel` are both cmd-vel."""
    names: list[str] = []
    for topic in topics:
        name = _level_name(topic)
        numbered = (f"{name}-{number}" for number in count(2))
        names.append(name if name not in names else next(one for one in numbered if one not in names))
    return names


def _level_name(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-.") or "recording"
