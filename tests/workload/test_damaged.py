"""Recordings cut off or altered anywhere end in a LabError or in a spool, in bounded memory."""

import resource
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from recordings import FORMATS, Sent, Write
from test_recording import sample

from comseclab.errors import LabError
from comseclab.workload.recording import Recorded, Recording
from comseclab.workload.spool import Spools

ADDRESS_SPACE_BYTES = 4 << 30
Damage = Callable[[bytes], bytes]


@pytest.fixture(autouse=True)
def _bounded_memory() -> Iterator[None]:
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE_BYTES, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, limits)


def cut(place: float) -> Damage:
    return lambda whole: whole[: int(place * len(whole))]


def altered(changes: list[tuple[float, bytes]]) -> Damage:
    def apply(whole: bytes) -> bytes:
        result = bytearray(whole)
        for place, new in changes:
            begin = int(place * len(whole))
            result[begin : begin + len(new)] = new
        return bytes(result)

    return apply


places = st.floats(0, 1, exclude_max=True)
extremes = st.sampled_from([b"\0" * 8, b"\xff" * 4, b"\xff" * 8, b"\xff\xff\xff\x7f", b"\0\0\0\x10"])
damages = st.one_of(
    places.map(cut), st.lists(st.tuples(places, st.binary(min_size=1, max_size=4) | extremes), min_size=1).map(altered)
)


@pytest.mark.parametrize("kind", FORMATS)
def test_damaged_files_are_refused_or_read(kind: str, write: Write, tmp_path: Path) -> None:
    sent: list[Sent] = sample() * 3
    path = write(kind, sorted(sent, key=lambda message: message[2]))
    file = next(path.glob(f"*.{kind}")) if path.is_dir() else path
    whole = file.read_bytes()
    outcomes = {"read": 0, "refused": 0}

    @settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck), database=None, derandomize=True)
    @given(damages)
    def damaged(damage: Damage) -> None:
        damaged_file = tmp_path / f"{sum(outcomes.values())}{file.suffix}"
        damaged_file.write_bytes(damage(whole))
        try:
            recording = Recording.of(damaged_file)
            for topic in recording.connections:
                recording.type(topic).check_identity()
                Spools(tmp_path / "spools").prepare(Recorded(damaged_file, topic), 0.1)
            outcomes["read"] += 1
        except LabError as error:
            outcomes["refused" if "\n" not in str(error) else "several lines"] += 1
        finally:
            damaged_file.unlink()
        assert not list((tmp_path / "spools").glob("*.part")) if (tmp_path / "spools").exists() else True

    damaged()
    assert outcomes["refused"] > 50
    assert outcomes["read"] > 0


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck), database=None, derandomize=True)
@given(st.binary(max_size=300), st.sampled_from([*FORMATS, "yaml"]))
def test_anything_at_all_is_refused(tmp_path_factory: pytest.TempPathFactory, content: bytes, kind: str) -> None:
    folder = tmp_path_factory.mktemp("any")
    file = folder / ("metadata.yaml" if kind == "yaml" else f"any.{kind}")
    file.write_bytes(content)
    with pytest.raises(LabError):
        _ = Recording.of(folder if kind == "yaml" else file).connections
