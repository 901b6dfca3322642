"""Numbers as people read them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer_app import format as fmt


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (fmt.duration(0), "0 ns"), (fmt.duration(7), "7 ns"), (fmt.duration(999), "999 ns"),
        (fmt.duration(1000), "1.00 µs"), (fmt.duration(12_345), "12.3 µs"), (fmt.duration(999_499), "999 µs"),
        (fmt.duration(999_500), "1.00 ms"), (fmt.duration(1_840_000_000), "1.84 s"), (fmt.duration(123.46), "123 ns"),
        (fmt.duration(3.3), "3.30 ns"), (fmt.duration(390 * 10**9), "6.50 min"), (fmt.duration(9000 * 10**9), "2.50 h"),
        (fmt.duration(-5000), "-5.00 µs"), (fmt.duration(np.int64(2000)), "2.00 µs"),
        (fmt.size(512), "512 B"), (fmt.size(1_840_000_000), "1.84 GB"), (fmt.size(999_999), "1.00 MB"),
        (fmt.bandwidth(1.84e12), "1.84 TB/s"), (fmt.flops(1_073_741_824), "1.07 GFLOP"),
        (fmt.flop_rate(78.6e12), "78.6 TFLOP/s"), (fmt.count(1234), "1,234"), (fmt.count(np.int64(5)), "5"),
        (fmt.ratio(0.417), "41.7 %"), (fmt.ratio(1), "100 %"), (fmt.ratio(0), "0 %"), (fmt.ratio(0.00417), "0.417 %"),
        (fmt.ratio(1e-7), "< 0.001 %"), (fmt.ratio(3.03), "303 %"), (fmt.ratio(25.5), "2,550 %"),
        (fmt.ratio(-1), "-100 %"),
        (fmt.counted(1, "slice"), "1 slice"), (fmt.counted(0, "slice"), "0 slices"),
        (fmt.counted(1234, "slice"), "1,234 slices"),
        (fmt.exact(12_345, "ns"), "12,345 ns"), (fmt.exact(12_345.5), "12,345.5"), (fmt.exact(7.0, "ns"), "7 ns"),
    ],
)  # fmt: skip
def test_three_significant_digits_with_the_right_prefix(shown: str, expected: str) -> None:
    assert shown == expected


@pytest.mark.parametrize(
    "function", [fmt.duration, fmt.size, fmt.bandwidth, fmt.flops, fmt.flop_rate, fmt.count, fmt.exact]
)
@pytest.mark.parametrize("value", [None, math.nan, math.inf, -1, -1.0, np.float64("nan"), np.int64(-1)])
def test_unknown_is_a_dash(function: object, value: float | None) -> None:
    assert callable(function)
    assert function(value) == "–"


@pytest.mark.parametrize("value", [None, math.nan, math.inf])
def test_an_unknown_ratio_is_a_dash(value: float | None) -> None:
    assert fmt.ratio(value) == "–"


@settings(deadline=None)
@given(st.floats(min_value=1, max_value=1e17))
def test_what_is_shown_is_the_value_to_half_a_percent_and_never_reads_a_thousand(value: float) -> None:
    number, unit = fmt.size(value).split()
    factor = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "PB": 1e15, "EB": 1e18}[unit]
    assert float(number.replace(",", "")) * factor == pytest.approx(value, rel=0.00501)
    assert float(number.replace(",", "")) < 1000


@given(st.integers(0, 1 << 62))
@settings(deadline=None)
def test_an_axis_has_the_unit_in_which_its_length_is_written(ns: int) -> None:
    factor, unit = fmt.time_unit(ns)
    assert fmt.duration(ns).split()[1] == unit
    assert factor == {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9, "h": 3600e9}[unit]
