"""What a run or trial folder keeps, as whoever opens its files reads it."""

import gzip
from collections.abc import Iterator
from pathlib import Path

KEY = b"PRIVATE KEY"
"""In every file in PEM that holds one."""
IN_HEX = ("injected.hex", "delivered.txt", "false.hex")
"""Files whose lines end with bytes in hexadecimal digits, but for remarks."""


def with_private_key(folder: Path) -> list[Path]:
    """The files below a folder in which a private key stands, packed or not."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return [path for path in files if any(KEY in content for content in _contents(path))]


def _contents(path: Path) -> Iterator[bytes]:
    content = path.read_bytes()
    yield content
    if path.suffix == ".gz":
        yield gzip.decompress(content)
    if path.name in IN_HEX:
        lines = (line for line in content.decode().splitlines() if line and not line.startswith("#"))
        yield from (bytes.fromhex(line.split()[-1]) for line in lines)
