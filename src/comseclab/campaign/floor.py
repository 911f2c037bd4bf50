"""The cipher floor: what the bare cipher costs at the sizes of a campaign, measured in the same run."""

import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def measure(native: Path, sizes: Iterable[int]) -> dict[str, Any]:
    """Time AES-256-GCM at each size in bytes, re-initialised per message.

    Returns what `comseclab-cipher-floor` prints: OpenSSL's version and per size the medians of sealing and opening, ns.
    """
    wanted = ",".join(str(size) for size in sorted(set(sizes)))
    options = ["--sizes", wanted, "--cipher", "aes-256-gcm", "--seconds", "0.2"]
    done = subprocess.run([native / "comseclab-cipher-floor", *options], capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))
