"""Reading a run folder: the only file access of the analysis. Layout: docs/formats.md."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydantic import BaseModel, ValidationError

from comseclab.analysis.samples import Columns
from comseclab.analysis.summary import Comparison
from comseclab.errors import LabError
from comseclab.results.store import RunFolder
from comseclab.testbed.profile import LinkProfile

COUNTS = ["stream", "reader", "round", "index", "size", "copy", "order", "taken"]
TIMES = ["intended_ns", "begin_ns", "serialised_ns", "sent_ns", "arrived_ns", "done_ns"]


class Stream(BaseModel):
    """One stream of a case, as `campaign.json` lists it."""

    id: int
    topic: str
    type: str
    max_size: int
    rate_hz: float
    messages: int


class Case(BaseModel):
    id: str
    factors: dict[str, Any]
    baseline: str | None
    link: LinkProfile
    streams: list[Stream]
    protection_base: str | None = None
    """The built-in protection whose claims hold; None in older runs."""

    @property
    def echo(self) -> bool:
        return self.factors.get("pattern") == "echo"


class Limit(BaseModel):
    """The plan's deadline: at most `allowed_share` of the messages may be later than `limit_ns`."""

    limit_ns: int
    allowed_share: float = 0.001


class Stop(BaseModel):
    """The plan's stopping rule."""

    min_pairs: int = 5
    max_pairs: int = 30


class Campaign(BaseModel):
    """`campaign.json`."""

    version: Literal[1]
    plan: str
    seed: int
    comparison: Comparison | None = None
    deadline: Limit | None = None
    stop: Stop = Stop()
    warm_up: float = 0.1
    cases: list[Case]
    cipher_floor: dict[str, Any] = {}


def read_campaign(run: RunFolder) -> Campaign:
    """Raises LabError when `campaign.json` is damaged or of another version."""
    try:
        return Campaign.model_validate(run.read_json("campaign.json"))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise LabError(f"{run.path / 'campaign.json'}: {where}: {first['msg']}", "the run must be made again") from None


def read_samples(trial: Path, streams: Sequence[Stream]) -> Iterator[tuple[Stream, Columns]]:
    """The samples of a trial, a stream at a time, be they none. Raises LabError when they cannot be read."""
    path = trial / "samples.parquet"
    try:
        table = pq.read_table(path, columns=COUNTS + TIMES)
    except (OSError, pa.ArrowException) as error:
        raise LabError(f"{path} cannot be read: {error}", "remove that trial's folder and resume the run") from None
    for stream in streams:
        part = table if len(streams) == 1 else table.filter(pc.equal(table["stream"], stream.id))
        yield stream, numpy_columns(part)


def read_times(trial: Path) -> dict[int, int]:
    """How many times each message of a stream is scheduled in a trial, by stream: rounds x readers.

    Raises LabError when `spec.json` is damaged.
    """
    path = trial / "spec.json"
    try:
        spec = json.loads(path.read_text())
        return {stream["id"]: spec["rounds"] * len(stream["reader_hosts"]) for stream in spec["streams"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LabError(f"{path} cannot be read: {error}", "remove that trial's folder and resume the run") from None


def numpy_columns(table: pa.Table) -> Columns:
    columns = {name: table[name].to_numpy() for name in COUNTS}
    columns["was_sent"] = pc.is_valid(table["begin_ns"]).to_numpy()
    columns["has_arrived"] = pc.is_valid(table["done_ns"]).to_numpy()
    return columns | {name: pc.fill_null(table[name], 0).to_numpy() for name in TIMES}
