"""A private key that a trial kept would be found, wherever it stands."""

import gzip
from pathlib import Path

import pytest

from kept import with_private_key

PEM = b"-----BEGIN PRIVATE KEY-----\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("spec.json", b'{"key": "' + PEM + b'"}'),
        ("wire.pcapng.gz", gzip.compress(bytes(99) + PEM)),
        ("injected.hex", f"17 {b'harmless'.hex()}\n18 {PEM.hex()}\n".encode()),
        ("delivered.txt", f"17 3 forged {len(PEM)} {PEM.hex()}\n".encode()),
        ("false.hex", f"# 1 altered, 0 left out\n17 3 altered 00\n16 3 sent {PEM.hex()}\n".encode()),
    ],
    ids=["plain", "packed", "sent", "delivered", "false"],
)
def test_a_key_is_found(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / "evidence" / name
    path.parent.mkdir()
    path.write_bytes(content)
    (tmp_path / "other.hex").write_bytes(b"no digits")
    assert with_private_key(tmp_path) == [path]
