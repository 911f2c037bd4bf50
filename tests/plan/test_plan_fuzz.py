"""Whatever stands in a plan file, it is read or refused in one line."""

import datetime
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from comseclab.errors import LabError
from comseclab.plan import Plan, expand
from comseclab.plan.read import checked_plan
from comseclab.plan.schema import Link, Matrix, Protection, Settings, Stream, Table

WORDS = ["none", "auth", "wifi", "scan", "fastdds", "robot", "station", "default", "own", "/scan", "", "x y"]
DAY = datetime.date(2026, 1, 1)
words = st.sampled_from(WORDS)
scalars = words | st.integers(-2, 2000) | st.floats() | st.booleans() | st.just(DAY) | st.text(max_size=5)


def nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=2)


values = st.recursive(scalars, nested, max_leaves=5)


def table(model: type[Table]) -> st.SearchStrategy[dict[str, Any]]:
    """Some of the model's keys, and now and then another, with anything as their values."""
    keys = [field.alias or name for name, field in model.model_fields.items()]
    return st.dictionaries(st.sampled_from([*keys, "odd"]), values, max_size=4)


def named(model: type[Table]) -> st.SearchStrategy[dict[str, dict[str, Any]]]:
    return st.dictionaries(st.sampled_from(["own", "other", "wifi"]), table(model), max_size=2)


tables = {
    name: table(field.annotation)
    for name, field in Plan.model_fields.items()
    if isinstance(field.annotation, type) and issubclass(field.annotation, Table) and name != "plan"
}
workloads = st.lists(table(Stream), max_size=2).map(lambda streams: {"own": {"streams": streams}})
plans = st.fixed_dictionaries(
    {"plan": st.just({"name": "p"}) | table(Plan.model_fields["plan"].annotation or Table)},
    optional=tables | {
        "matrix": st.lists(table(Matrix), max_size=2), "links": named(Link), "protections": named(Protection),
        "settings": named(Settings), "workloads": workloads, "deadline": values, "odd": values,
    },
)  # fmt: skip


@settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck), database=None, derandomize=True)
@given(plans)
def test_any_content_is_read_or_refused(content: dict[str, Any]) -> None:
    try:
        cases = expand(checked_plan(content, Path("p.toml")))
    except LabError as error:
        message = str(error)
    else:
        message = cases[0].id
    assert "\n" not in message


@settings(max_examples=500, deadline=None, suppress_health_check=list(HealthCheck), database=None, derandomize=True)
@given(st.sampled_from([Link, Settings]), st.data())
def test_any_value_of_a_level_in_use_is_read_or_refused(model: type[Table], data: st.DataObject) -> None:
    level = data.draw(
        st.dictionaries(st.sampled_from(list(model.model_fields)), st.integers() | st.floats(), max_size=2)
    )
    factor, name = ("link", "links") if model is Link else ("settings", "settings")
    content = {"plan": {"name": "p"}, "factors": {factor: "own"}, name: {"own": level}}
    try:
        message = expand(checked_plan(content, Path("p.toml")))[0].id
    except LabError as error:
        message = str(error)
    assert "\n" not in message


@settings(max_examples=500, deadline=None, suppress_health_check=list(HealthCheck), database=None, derandomize=True)
@given(st.sampled_from([*tables, "matrix", "links", "workloads", "settings", "protections", "plan"]), values)
def test_anything_in_a_table_s_place_is_read_or_refused(name: str, value: Any) -> None:
    try:
        expand(checked_plan({"plan": {"name": "p"}, name: value}, Path("p.toml")))
    except LabError as error:
        message = str(error)
    else:
        message = ""
    assert "\n" not in message
