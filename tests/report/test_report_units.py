import math

import pytest

from comseclab.report import units


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.0123456, "0.0123"), (9.996, "10.0"), (99.96, "100"), (1.5, "1.50"), (1234.5, "1\u202f234"),
     (999_999, "999\u202f999"), (-2.345, "−2.35"), (math.inf, "∞"), (math.nan, "–")],
)  # fmt: skip
def test_three_significant_digits(value: float, text: str) -> None:
    assert units.digits(value) == text


@pytest.mark.parametrize(
    ("ns", "text"),
    [(None, "–"), (0, "0 ns"), (12.3, "12.3 ns"), (213_000, "213 µs"), (1_420_000, "1.42 ms"), (5.01e9, "5.01 s")],
)
def test_a_time_gets_the_unit_that_suits_it(ns: float | None, text: str) -> None:
    assert units.duration(ns) == text


def test_a_column_has_one_unit() -> None:
    assert units.unit_for([80_000, None, 5e9]).name == "ms"
    assert units.unit_for([5_000, 80_000]).name == "µs"
    assert units.unit_for([2e9, 5e9]).name == "s"
    assert units.unit_for([]).name == "ms"


def test_sizes_rates_and_ratios() -> None:
    assert [units.size(value) for value in (190, 9_420, 921_600)] == ["190 B", "9.42 kB", "922 kB"]
    assert [units.rate(value) for value in (54e6, 1e9, None)] == ["54 Mbit/s", "1 Gbit/s", "–"]
    assert [units.ratio(value) for value in (1.416, 31.34, None)] == ["1.42", "31.3", "–"]
