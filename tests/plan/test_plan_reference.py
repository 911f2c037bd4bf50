"""docs/plan.md lists every key of a plan with its type and default, every level that is built in, and no other."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeGuard

import pytest
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from comseclab.middleware import cyclonedds, ice, zenoh
from comseclab.middleware.dds_stack import LEAST_BUFFER
from comseclab.middleware.registry import MIDDLEWARES
from comseclab.plan import Plan, expand, load_plan
from comseclab.plan.levels import known_levels
from comseclab.plan.links import MBIT, MS, PROFILES
from comseclab.plan.schema import DefaultLevels, Matrix
from comseclab.trial.spec import Scheduling
from comseclab.workload.synthetic import SENSORS

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "plan.md").read_text()
NATIVE = "native/transports"
SCHEMA = Plan.model_json_schema()
LEVELS = known_levels(Plan.model_validate({"plan": {"name": "p"}}))
WORDS = {
    "integer": "whole number{s}", "number": "number{s}", "string": "string{s}", "path": "path{s}",
    "boolean": "true or false", "array": "list{s}", "object": "table{s}",
}  # fmt: skip
BOUNDS = {"minimum": "from", "exclusiveMinimum": "above", "maximum": "up to", "exclusiveMaximum": "below"}


def sections() -> dict[str, list[list[str]]]:
    """By heading, the rows of the table below it, without its head; cells as they stand."""
    found: dict[str, list[list[str]]] = {}
    rows: list[list[str]] = []
    for line in TEXT.splitlines():
        if line.startswith("#"):
            rows = found.setdefault(line.lstrip("# ").replace("`", ""), [])
        elif line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return {heading: rows[2:] for heading, rows in found.items()}


SECTIONS = sections()


def rows(heading: str) -> dict[str, list[str]]:
    """The rows of a table by what their first cell quotes."""
    keys = [row[0].strip("`") for row in SECTIONS[heading]]
    assert len(keys) == len(set(keys)), f"{heading} has a row twice"
    return {key: row[1:] for key, row in zip(keys, SECTIONS[heading], strict=True)}


def tables(path: str = "", schema: dict[str, Any] = SCHEMA) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every table a plan may have, as a heading names it, with the keys that are no tables themselves."""
    keys = {}
    for key, given in schema["properties"].items():
        kind = not_null(given)
        place = f"{path}.{key}".strip(".")
        named, listed = kind.get("additionalProperties"), kind.get("items")
        if "$ref" in kind:
            yield from tables(place, defined(kind))
        elif is_table(named):
            yield from tables(f"{place}.{'Y' if '.X' in place else 'X'}", defined(named))
        elif is_table(listed):
            yield from ((f"[{heading}]", below) for heading, below in tables(place, defined(listed)))
        elif place != "settings.X.middleware":  # written as a table for each stack
            keys[key] = {**given, **kind, "required": key in schema.get("required", ())}
    if keys:
        yield f"[{path}]", keys


def is_table(schema: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(schema, dict) and "$ref" in schema


def defined(schema: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]]
    return found


def not_null(schema: dict[str, Any]) -> dict[str, Any]:
    return next((one for one in schema.get("anyOf", ()) if one.get("type") != "null"), schema)


def type_of(schema: dict[str, Any], plural: str = "") -> str:
    """What a value must be, in words."""
    if "enum" in schema:
        return ", ".join(f'`"{value}"`' for value in schema["enum"])
    word = WORDS["path" if schema.get("format") == "path" else schema["type"]].format(s=plural)
    bounds = [f"{said} {schema[bound]:.0f}" for bound, said in BOUNDS.items() if bound in schema]
    if "minimum" in schema:
        bounds = [bound.removeprefix("up ") for bound in bounds]
    inner = schema.get("items") or schema.get("additionalProperties")
    of = [f"of {type_of(inner, 's')}"] if isinstance(inner, dict) and schema["type"] in ("array", "object") else []
    return " ".join([word, *of, *bounds])


def default_of(schema: dict[str, Any]) -> str | None:
    """The default as TOML has it; None where there is none, so that the document says in words what holds."""
    if schema["required"]:
        return "required"
    default = schema.get("default")
    return None if default in (None, [], {}) else f"`{json.dumps(default)}`"


TABLES = dict(tables())
ZENOH_VERSION = "1.10.2"
ZENOH_S_OWN = {
    "queue_size": 2, "batch_size": 65535, "receive_buffer": 65535,
    "wait_before_drop_us": 1000, "wait_before_close_us": 5000000,
}  # fmt: skip


def test_the_tables_are_those_of_a_plan() -> None:
    stacks = {f"[settings.X.{stack}]" for stack in MIDDLEWARES}
    assert {heading for heading in SECTIONS if heading.startswith("[")} == {*TABLES, *stacks}


@pytest.mark.parametrize("heading", [heading for heading in TABLES if heading not in ("[factors]", "[[matrix]]")])
def test_every_key_is_there_with_its_type_and_default(heading: str) -> None:
    scheduling = Scheduling().model_dump() if heading == "[settings.X]" else {}
    stated = rows(heading)
    wanted = {}
    for key, schema in TABLES[heading].items():
        default = default_of({**schema, "default": scheduling.get(key, schema.get("default"))})
        wanted[key] = [type_of(schema), default or in_words(stated.get(key))]
    assert {key: row[:2] for key, row in stated.items()} == wanted


def in_words(row: list[str] | None) -> str:
    """What the document says of a default that is no value, provided that it names none."""
    return row[1] if row and "`" not in row[1] else "words"


def test_every_row_says_what_it_means() -> None:
    for heading in SECTIONS:
        if heading.startswith("["):
            assert all(all(row) and len(row) == 3 for row in rows(heading).values()), heading


def test_the_factors_are_there_with_their_levels_and_defaults() -> None:
    below = {"protection": "[below](#protections)", "link": "[below](#links)", "workload": "[below](#workloads)"}
    schemas = TABLES["[factors]"]
    assert {key: row[:2] for key, row in rows("[factors]").items()} == {
        factor: [below.get(factor) or ", ".join(f"`{level}`" for level in levels), default_of(schemas[factor])]
        for factor, levels in LEVELS.items()
    }


def test_a_matrix_has_the_keys_of_the_factors() -> None:
    assert not rows("[[matrix]]")
    assert set(Matrix.model_fields) == set(DefaultLevels.model_fields) == set(rows("[factors]"))


def test_the_links_are_there_as_they_are() -> None:
    def shown(value: float) -> str:
        return f"{value:g}" if value else ""

    assert rows("Links") == {
        name: [
            shown(link.rate_bps / MBIT), shown(link.delay_ns / MS), shown(link.jitter_ns / MS), link.jitter,
            shown(link.loss), shown(link.corrupt), shown(link.duplicate), shown(link.reorder), str(link.mtu),
        ]
        for name, link in PROFILES.items()
    }  # fmt: skip
    assert not any(link.limit_frames or link.distribution != "normal" for link in PROFILES.values())


def test_the_workloads_are_there() -> None:
    assert {name: row[:3] for name, row in rows("Workloads").items()} == {
        name: [f"`{sensor.type}`", f"{sensor.rate_hz:g} Hz", f"`{sensor.topic}`"] for name, sensor in SENSORS.items()
    }


def test_the_protections_of_each_stack_are_there() -> None:
    stated = {stack: tuple(re.findall("`(.+?)`", row[0])) for stack, row in rows("Protections").items()}
    assert stated == {name: stack.protections for name, stack in MIDDLEWARES.items()}


def in_source(file: str, pattern: str) -> str:
    """What a source file has in place of the pattern's group."""
    found = re.search(pattern, (ROOT / file).read_text())
    assert found, f"{file} has no {pattern}"
    return found[1]


def constant(stack: str, file: str, name: str) -> str:
    """A number in the source of a native transport, as the document quotes it."""
    return f"`{in_source(f'{NATIVE}/{stack}/src/{file}', rf' {name} = ([0-9]+);')}`"


def defaults(stack: str) -> dict[str, str]:
    """The defaults of a stack's settings, as the document has them."""
    if stack == "ice":
        return {"message_size_max_kb": f"`{ice.DEFAULT_SIZE_KB}`, or what the messages need"}
    if stack == "ros1":
        return {
            "queue_size": f"{constant(stack, 'names.cpp', 'kQueueSize')}, fewer of large ones",
            "max_datagram_size": constant(stack, "settings.hpp", "max_datagram_size"),
        }
    if stack == "zenoh":
        source = "src/comseclab/middleware/zenoh.py"
        switches = {key: in_source(source, rf'get\("{key}", (\w+)\)').lower() for key in ("express", "verify_name")}
        values = {**ZENOH_S_OWN, **switches, "max_message_size": zenoh.MAX_MESSAGE_SIZE}
        return {key: f"`{value}`" for key, value in values.items()}
    of_dds = {
        "send_buffer": f"`{LEAST_BUFFER}`",
        "receive_buffer": f"`{LEAST_BUFFER}`, or room for two messages",
        "history_depth": f"{constant(stack, 'qos.cpp', 'kBestEffortDepth')}; `reliable`: all",
        "publish_timeout_ms": constant(stack, "qos.cpp", "kPublishTimeoutMs"),
    }
    if stack == "cyclonedds":
        sizes = {"max_message_size": cyclonedds.MESSAGE_SIZE, "history_size": cyclonedds.HISTORY_SIZE}
        return {**of_dds, **{key: f"`{size}`" for key, size in sizes.items()}, "configuration": "none"}
    size = constant(stack, "settings.hpp", "max_message_size")
    return {**of_dds, "max_message_size": size, "publish_mode": '`"synchronous"`', "qos_profile": "none"}


@pytest.mark.parametrize("stack", MIDDLEWARES)
def test_the_settings_of_each_stack_are_there(stack: str) -> None:
    kinds = {key: re.sub("^an? ", "", one.wanted) for key, one in MIDDLEWARES[stack].settings.items()}
    assert {key: row[:2] for key, row in rows(f"[settings.X.{stack}]").items()} == {
        key: [kind, defaults(stack)[key]] for key, kind in kinds.items()
    }


def test_zenoh_s_own_defaults_are_of_the_version_that_is_built() -> None:
    """They stand in its DEFAULT_CONFIG.json5, transport/link; look them up again when this fails."""
    assert in_source(f"{NATIVE}/zenoh/Cargo.lock", r'name = "zenoh"\nversion = "(.+)"') == ZENOH_VERSION
    assert f"Zenoh {ZENOH_VERSION}" in TEXT


@pytest.mark.parametrize(("number", "cases"), [(0, 6), (1, 1), (2, 2)])
def test_its_examples_are_plans(number: int, cases: int, tmp_path: Path) -> None:
    (tmp_path / "fastdds.xml").write_text("<dds/>")
    (tmp_path / "cyclonedds.xml").write_text("<CycloneDDS/>")
    with Writer(tmp_path / "bag", version=9, storage_plugin=StoragePlugin.MCAP) as bag:
        types = get_typestore(Stores.ROS2_HUMBLE)
        connection = bag.add_connection("/front/scan", SENSORS["scan"].type, typestore=types)
        bag.write(connection, 0, b"\0\1\0\0")
    (tmp_path / "bag" / "bag.mcap").rename(tmp_path / "drive.mcap")
    plan = tmp_path / "plan.toml"
    plan.write_text('[plan]\nname = "p"\n' + re.findall("```toml\n(.+?)```", TEXT, re.DOTALL)[number])
    assert len(expand(load_plan(plan))) == cases
