"""A plan as TOML text again, for the run folder: only what was given, paths absolute, defaults left out."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from comseclab.plan.schema import Plan


def to_toml(plan: Plan) -> str:
    """Text that `load_plan` reads as an equal plan."""
    content = plan.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude_none=True)
    return "\n".join(_table(content, ())).lstrip("\n") + "\n"


def _table(content: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    """The lines of a table: its own values first, then the tables in it."""
    nested = {key: value for key, value in content.items() if _is_table(value)}
    for key, value in content.items():
        if key not in nested:
            yield f"{_key(key)} = {_value(value)}"
    for key, value in nested.items():
        name = ".".join(_key(part) for part in (*path, key))
        for one in value if isinstance(value, list) else [value]:
            yield f"\n[[{name}]]" if isinstance(value, list) else f"\n[{name}]"
            yield from _table(one, (*path, key))


def _is_table(value: object) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and bool(value) and isinstance(value[0], dict))


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key)


def _value(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_value(one) for one in value)}]"
    return json.dumps(value)
