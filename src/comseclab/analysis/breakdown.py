"""Where a protection's latency goes: codec, cipher, extra bytes on the link, and the rest."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from comseclab.analysis.summary import Breakdown

PASSES = {
    "none": 0, "auth": 0,
    "rtps-sign": 1, "rtps-encrypt": 1, "metadata-sign": 1, "metadata-encrypt": 1,
    "payload-sign": 1, "payload-encrypt": 1,
    "all-sign": 3, "all-encrypt": 3, "all-encrypt-origin": 3, "sros2-default": 3,
    "tls": 1, "mtls": 1, "mtls-acl": 1, "quic": 1, "quic-mtls": 1, "quic-mtls-acl": 1,
}  # fmt: skip
"""How often a protection passes a cipher or an authenticator over the whole message, on each side."""


def cipher_pass_ns(floor: Mapping[str, Any], size: int) -> float | None:
    """Seal and open once at `size` bytes, interpolated between the sizes measured; None where none was."""
    measured = sorted((int(at), timing["seal_ns"] + timing["open_ns"]) for at, timing in floor.get("sizes", {}).items())
    if not measured:
        return None
    sizes, times = zip(*measured, strict=True)
    return float(np.interp(size, sizes, times))


def breakdown(
    total_ns: float,
    codec_ns: float,
    protections: tuple[str, str],
    size: int,
    floor: Mapping[str, Any],
    wire_bytes: tuple[float | None, float | None],
    rate_bps: int,
) -> Breakdown:
    """Split `total_ns`, the difference of median latency to the baseline.

    `codec_ns` is the difference of serialisation and deserialisation; `protections` (built-in ones) and `wire_bytes`
    (per message) are those of the baseline and of the case; `size` is the message's in bytes; `rate_bps` 0 means no
    rate.
    """
    passes = PASSES[protections[1]] - PASSES[protections[0]] if all(name in PASSES for name in protections) else None
    once = cipher_pass_ns(floor, size)
    cipher = None if passes is None or once is None else passes * once
    extra = None if wire_bytes[0] is None or wire_bytes[1] is None else wire_bytes[1] - wire_bytes[0]
    on_link = None if extra is None else (extra * 8e9 / rate_bps if rate_bps else 0.0)
    return Breakdown(
        total_ns=total_ns, codec_ns=codec_ns, cipher_floor_ns=cipher, passes=passes,
        extra_bytes=extra, extra_bytes_ns=on_link,
        rest_ns=total_ns - codec_ns - (cipher or 0.0) - (on_link or 0.0),
    )  # fmt: skip
