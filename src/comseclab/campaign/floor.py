"""The cipher floor: what the bare cipher costs at the sizes of a campaign, measured in the same run."""

import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def measure(native: Path, sizes: Iterable[int]) -> dict[str, Any]:
    """Time AES-256-GCM (OpenSSL, re-initialised per message) at each size in bytes; as `comseclab-cipher-floor` prints it."""
    wanted = ",".join(str(size) for size in sorted(set(sizes)))
    command: list[str | Path] = [native / "comseclab-cipher-floor", "--sizes", wanted, "--cipher", "aes-256-gcm", "--seconds", "0.2"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))
