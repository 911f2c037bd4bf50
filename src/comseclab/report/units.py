"""How the report writes numbers: one place for units and digits.

Three significant digits, as few as a reader needs to tell two cases apart; the files beside the page keep every digit.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

NOTHING = "–"
THIN = "\u202f"


@dataclass(frozen=True)
class Unit:
    """A unit of time: its name, its length in nanoseconds, and the smallest number worth writing in it in a column."""

    name: str
    ns: float
    least: float

    def number(self, value_ns: float | None) -> str:
        """The value in this unit, without the unit's name."""
        return NOTHING if value_ns is None else digits(value_ns / self.ns)


UNITS = (Unit("ns", 1, 0), Unit("µs", 1e3, 0.01), Unit("ms", 1e6, 0.01), Unit("s", 1e9, 1))


def digits(value: float, significant: int = 3) -> str:
    """Significant digits without an exponent, whole numbers in full; thousands apart by thin spaces."""
    if not math.isfinite(value):
        return "∞" if value > 0 else "−∞" if value < 0 else NOTHING
    if value == 0:
        return "0"
    decimals = max(significant - 1 - math.floor(math.log10(abs(value))), 0)
    if decimals and math.floor(math.log10(abs(round(value, decimals)))) > math.floor(math.log10(abs(value))):
        decimals -= 1
    return f"{value:,.{decimals}f}".replace(",", THIN).replace("-", "−")


def unit_for(values_ns: Iterable[float | None]) -> Unit:
    """One unit for a whole column: the largest in which the smallest value is still worth writing."""
    positive = [value for value in values_ns if value is not None and value > 0 and math.isfinite(value)]
    smallest = min(positive, default=1e6)
    return next((unit for unit in reversed(UNITS) if smallest / unit.ns >= unit.least), UNITS[0])


def duration(value_ns: float | None) -> str:
    """A single time with the unit that suits it: `213 µs`, `1.42 ms`, `5.01 s`."""
    if value_ns is None:
        return NOTHING
    unit = next((unit for unit in reversed(UNITS) if abs(value_ns) >= unit.ns), UNITS[0])
    return f"{unit.number(value_ns)} {unit.name}"


def count(value: float | None) -> str:
    """A whole number with its thousands apart."""
    return NOTHING if value is None else f"{value:,.0f}".replace(",", THIN)


def percent(share: float | None) -> str:
    """A share of one as a percentage, without the sign: `0`, `0.98`, `12.3`."""
    return NOTHING if share is None else digits(100 * share)


def ratio(value: float | None) -> str:
    """A ratio with two decimals below ten, three digits above."""
    if value is None:
        return NOTHING
    return f"{value:.2f}" if abs(value) < 10 else digits(value)


def size(value_bytes: float | None) -> str:
    """Bytes in decimal units: `9.06 kB`."""
    if value_bytes is None:
        return NOTHING
    for name, length in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if abs(value_bytes) >= length:
            return f"{digits(value_bytes / length)} {name}"
    return f"{digits(value_bytes)} B"


def rate(value_bps: float | None) -> str:
    """Bits per second in decimal units: `54 Mbit/s`."""
    if value_bps is None:
        return NOTHING
    for name, length in (("Gbit/s", 1e9), ("Mbit/s", 1e6), ("kbit/s", 1e3)):
        if abs(value_bps) >= length:
            return f"{value_bps / length:g} {name}"
    return f"{value_bps:g} bit/s"
