"""The join of sends and receipts, on records made by hand and against a plain restatement in dictionaries."""

from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from comseclab.results.samples import RECEIPT, SEND, join, read_records


def sends(*indices: int) -> np.ndarray:
    records = np.zeros(len(indices), SEND)
    records["index"], records["size"] = indices, 100
    for stage, name in enumerate(("intended", "begin", "serialised", "sent")):
        records[name] = np.array(indices) * 1000 + stage
    return records


def receipts(*rows: tuple[int, int, int]) -> np.ndarray:
    """Rows of (index, arrived, flags)."""
    records = np.zeros(len(rows), RECEIPT)
    for record, (index, arrived, flags) in zip(records, rows, strict=True):
        record["index"], record["arrived"], record["done"], record["flags"], record["size"] = (
            index,
            arrived,
            arrived + 7,
            flags,
            100,
        )
    return records


def test_losses_duplicates_and_strangers_each_get_their_row() -> None:
    table = join([sends(0, 1, 2)], [receipts((2, 50, 0), (0, 60, 0), (2, 70, 0), (9, 80, 0), (0, 90, 1))], {0: [0]})
    rows = table.to_pylist()
    assert [(row["index"], row["order"], row["copy"], row["foreign"]) for row in rows] == [
        (0, 1, 0, False), (1, -1, 0, False), (2, 0, 0, False), (2, 2, 1, False), (9, 3, 0, False), (0, 4, 0, True),
    ]  # fmt: skip
    assert rows[1]["done_ns"] is None
    assert rows[1]["begin_ns"] == 1001
    assert rows[4]["begin_ns"] is None
    assert rows[5]["begin_ns"] is None


def test_every_reader_has_its_own_rows() -> None:
    second = receipts((0, 5, 0))
    second["reader"] = 1
    table = join([sends(0, 1)], [receipts((0, 4, 0), (1, 6, 0)), second], {0: [0, 1]})
    arrived = {(row["reader"], row["index"]): row["arrived_ns"] for row in table.to_pylist()}
    assert arrived == {(0, 0): 4, (0, 1): 6, (1, 0): 5, (1, 1): None}


def test_nothing_received_and_nothing_sent() -> None:
    assert join([sends(0, 1)], [], {0: [0]}).column("arrived_ns").null_count == 2
    assert join([], [receipts((3, 1, 0))], {0: [0]}).to_pylist()[0]["begin_ns"] is None
    assert join([], [], {}).num_rows == 0


@given(
    st.lists(st.integers(0, 12), unique=True),
    st.lists(st.tuples(st.integers(0, 15), st.integers(0, 10**6), st.sampled_from([0, 0, 0, 1, 2])), max_size=40),
)
def test_join_against_a_plain_restatement(indices: list[int], rows: list[tuple[int, int, int]]) -> None:
    table = join([sends(*indices)], [receipts(*rows)], {0: [0]}).to_pylist()
    genuine = defaultdict(list)
    for index, arrived, flags in sorted(rows, key=lambda row: row[1]):
        if not flags:
            genuine[index].append(arrived)
    for index in indices:
        of_index = [row for row in table if row["index"] == index and not row["foreign"]]
        assert sorted(row["arrived_ns"] for row in of_index if row["arrived_ns"] is not None) == genuine[index]
        assert sorted(row["copy"] for row in of_index) == list(range(max(1, len(genuine[index]))))
    assert sum(row["foreign"] for row in table) == sum(flags != 0 for _, _, flags in rows)
    assert sum(row["arrived_ns"] is not None for row in table) == len(rows)


def test_a_cut_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sends.bin").write_bytes(bytes(100))
    with pytest.raises(ValueError, match="within a record"):
        read_records(tmp_path / "sends.bin", SEND)
