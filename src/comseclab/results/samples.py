"""From the nodes' records to samples: the join of sends and receipts, one row a send and reader.

Layout of the records and of the samples: docs/formats.md.
"""

import struct
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

SEND = np.dtype([
    ("stream", "<u2"), ("round", "<u2"), ("index", "<u4"), ("size", "<u4"), ("status", "<u4"),
    ("intended", "<i8"), ("begin", "<i8"), ("serialised", "<i8"), ("sent", "<i8"), ("reserved", "<i8", 2),
])  # fmt: skip
RECEIPT = np.dtype([
    ("stream", "<u2"), ("reader", "<u2"), ("round", "<u2"), ("flags", "<u2"), ("index", "<u4"), ("size", "<u4"),
    ("writer", "<u4"), ("reserved", "<u4"), ("arrived", "<i8"), ("done", "<i8"), ("sender", "V16"), ("spare", "<i8"),
])  # fmt: skip
KEPT_SIZE = struct.Struct("<I")
FOREIGN = 1 | 2
TIMES = {"intended_ns": "intended", "begin_ns": "begin", "serialised_ns": "serialised", "sent_ns": "sent"}


def read_records(path: Path, dtype: np.dtype) -> np.ndarray:
    """The records of one node. Raises ValueError when the file is cut within a record."""
    if path.stat().st_size % dtype.itemsize:
        raise ValueError(f"{path.name} ends within a record")
    return np.fromfile(path, dtype)


def read_kept(path: Path) -> list[bytes]:
    """The beginnings of messages a node kept, the n-th belonging to the n-th record of the file beside it
    (docs/formats.md). Raises ValueError when the file is cut within an entry.
    """
    data, at, kept = path.read_bytes(), 0, []
    while at < len(data):
        begin = at + KEPT_SIZE.size
        at = begin + KEPT_SIZE.unpack_from(data, at)[0] if begin <= len(data) else begin
        if at > len(data):
            raise ValueError(f"{path.name} ends within a message")
        kept.append(data[begin:at])
    return kept


def join(sends: Sequence[np.ndarray], receipts: Sequence[np.ndarray], readers: dict[int, Iterable[int]]) -> pa.Table:
    """Join all nodes' sends and receipts of one trial.

    `readers` names, per stream id, the readers that should have received each message.
    """
    every_send = np.concatenate(sends) if sends else np.empty(0, SEND)
    every_receipt = np.concatenate(receipts) if receipts else np.empty(0, RECEIPT)
    parts = [
        _join_one(every_send[every_send["stream"] == stream], _received(every_receipt, stream, reader), stream, reader)
        for stream, stream_readers in readers.items()
        for reader in sorted(set(stream_readers))
    ]
    return pa.concat_tables(parts) if parts else _table(np.empty(0, SEND), np.empty(0, RECEIPT), 0, 0)


def _received(receipts: np.ndarray, stream: int, reader: int) -> np.ndarray:
    chosen: np.ndarray = receipts[(receipts["stream"] == stream) & (receipts["reader"] == reader)]
    return chosen


def _key(records: np.ndarray) -> np.ndarray:
    keys: np.ndarray = records["round"].astype(np.int64) << 32 | records["index"].astype(np.int64)
    return keys


def _join_one(sends: np.ndarray, receipts: np.ndarray, stream: int, reader: int) -> pa.Table:
    receipts = receipts[np.argsort(receipts["arrived"], kind="stable")]
    arrival = np.arange(len(receipts))
    foreign = (receipts["flags"] & FOREIGN) != 0
    send_keys, receipt_keys = _key(sends), _key(receipts)
    by_key = np.argsort(send_keys, kind="stable")
    slot = np.searchsorted(send_keys[by_key], receipt_keys)
    slot = np.minimum(slot, max(len(sends) - 1, 0))
    known = ~foreign & (len(sends) > 0)
    if len(sends):
        known &= send_keys[by_key][slot] == receipt_keys
    copies = _copies(receipt_keys, foreign)

    first = known & (copies == 0)
    row_of_send = np.full(len(sends), -1)
    if len(sends):
        row_of_send[by_key[slot[first]]] = arrival[first]
    rest = arrival[~first]
    send_of_rest = np.where(known[rest], by_key[slot[rest]] if len(sends) else -1, -1)

    send_rows = np.concatenate([np.arange(len(sends)), send_of_rest])
    receipt_rows = np.concatenate([row_of_send, rest])
    return _assemble(sends, receipts, send_rows, receipt_rows, copies, foreign, stream, reader)


def _copies(keys: np.ndarray, foreign: np.ndarray) -> np.ndarray:
    """For each receipt in order of arrival, how many genuine receipts of the same message came before."""
    order = np.lexsort((np.arange(len(keys)), keys, foreign))
    ordered, kind = keys[order], foreign[order]
    begins = np.ones(len(keys), bool)
    begins[1:] = (ordered[1:] != ordered[:-1]) | (kind[1:] != kind[:-1])
    start = np.maximum.accumulate(np.where(begins, np.arange(len(keys)), 0)) if len(keys) else np.empty(0, int)
    copies = np.empty(len(keys), np.int64)
    copies[order] = np.arange(len(keys)) - start
    copies[foreign] = 0
    return copies


def _table(sends: np.ndarray, receipts: np.ndarray, stream: int, reader: int) -> pa.Table:
    nothing = np.empty(0, np.int64)
    return _assemble(sends, receipts, nothing, nothing, nothing, np.empty(0, bool), stream, reader)


def _assemble(
    sends: np.ndarray, receipts: np.ndarray, send_rows: np.ndarray, receipt_rows: np.ndarray,
    copies: np.ndarray, foreign: np.ndarray, stream: int, reader: int,
) -> pa.Table:  # fmt: skip
    count = len(send_rows)
    has_send, has_receipt = send_rows >= 0, receipt_rows >= 0

    def either(name: str, kind: type) -> np.ndarray:
        values: np.ndarray = np.zeros(count, kind)
        values[has_receipt] = receipts[name][receipt_rows[has_receipt]]
        values[has_send] = sends[name][send_rows[has_send]]
        return values

    def of_receipt(values: np.ndarray, missing: int, kind: type) -> np.ndarray:
        result: np.ndarray = np.full(count, missing, kind)
        result[has_receipt] = values[receipt_rows[has_receipt]]
        return result

    taken = np.zeros(count, bool)
    taken[has_send] = sends["status"][send_rows[has_send]] == 0
    columns: dict[str, pa.Array] = {
        "stream": pa.array(np.full(count, stream, np.uint16)),
        "reader": pa.array(np.full(count, reader, np.uint16)),
        "round": pa.array(either("round", np.uint16)),
        "index": pa.array(either("index", np.uint32)),
        "size": pa.array(either("size", np.uint32)),
        "copy": pa.array(of_receipt(copies, 0, np.uint16)),
        "order": pa.array(of_receipt(np.arange(len(receipts)), -1, np.int32)),
        "foreign": pa.array(of_receipt(foreign, 0, bool)),
        "taken": pa.array(taken),
    }
    for column, name in TIMES.items():
        values = np.zeros(count, np.int64)
        values[has_send] = sends[name][send_rows[has_send]]
        columns[column] = pa.array(values, mask=~has_send)
    for name in ("arrived", "done"):
        columns[f"{name}_ns"] = pa.array(of_receipt(receipts[name], 0, np.int64), mask=~has_receipt)
    return pa.table(columns)
