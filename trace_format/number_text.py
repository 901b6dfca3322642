"""Numbers as people read them: three significant digits with the right prefix, "–" for unknown."""

from __future__ import annotations

import math

UNKNOWN = "–"

_NS_PER_MINUTE = 60 * 10**9
_NS_PER_HOUR = 60 * _NS_PER_MINUTE
# Below a few minutes people read seconds.
_LONGEST_IN_SECONDS_NS = 5 * _NS_PER_MINUTE
_SMALLEST_RATIO_SHOWN = 1e-5

_TIME_UNITS = ((1, "ns"), (10**3, "µs"), (10**6, "ms"), (10**9, "s"))
_LONG_TIME_UNITS = ((_NS_PER_MINUTE, "min"), (_NS_PER_HOUR, "h"))
_DECIMAL_PREFIXES = ("", "k", "M", "G", "T", "P", "E")


def duration(ns: float | None) -> str:
    """A duration: "999 ns", "12.3 µs", "1.84 s", "6.50 min". -1 is unknown."""
    known = _known(ns)
    if known is None:
        return UNKNOWN
    return _scaled(known, _LONG_TIME_UNITS if abs(known) >= _LONGEST_IN_SECONDS_NS else _TIME_UNITS)


def size(size_bytes: float | None) -> str:
    """A number of bytes with a decimal prefix: "512 B", "1.84 GB". -1 is unknown."""
    return _with_prefix(size_bytes, "B")


def bandwidth(bytes_per_s: float | None) -> str:
    """A rate: "716 GB/s". -1 is unknown."""
    return _with_prefix(bytes_per_s, "B/s")


def flops(count: float | None) -> str:
    """A number of floating-point operations: "1.07 GFLOP". -1 is unknown."""
    return _with_prefix(count, "FLOP")


def flop_rate(flops_per_s: float | None) -> str:
    """Floating-point operations in a second: "78.6 TFLOP/s". -1 is unknown."""
    return _with_prefix(flops_per_s, "FLOP/s")


def count(n: float | None) -> str:
    """A whole number with separators: "1,234"; "< 1" for a mean that would be rounded to none. -1 is unknown."""
    known = _known(n)
    if known is not None and 0 < known < 0.5:
        return "< 1"
    return UNKNOWN if known is None else f"{round(known):,}"


def counted(n: int, noun: str) -> str:
    """A number of things: "1 slice", "1,234 slices"."""
    return f"{count(n)} {noun}" if n == 1 else f"{count(n)} {noun}s"


def time_unit(ns: float) -> tuple[int, str]:
    """The unit in which `duration` writes so long a time, as (nanoseconds, name); for an axis that long."""
    factor, name = _TIME_UNITS[0]
    for larger, larger_name in _LONG_TIME_UNITS if abs(ns) >= _LONGEST_IN_SECONDS_NS else _TIME_UNITS[1:]:
        if abs(ns) < larger * 0.9995:
            break
        factor, name = larger, larger_name
    return factor, name


def ratio(value: float | None) -> str:
    """A ratio as a percentage: "41.7 %", "0.52 %"; "< 0.001 %" for less than can be shown."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    if 0 < abs(value) < _SMALLEST_RATIO_SHOWN:
        return "< 0.001 %" if value > 0 else "> -0.001 %"
    percent = value * 100
    return f"{_three_digits(percent) if abs(percent) < 999.5 else f'{percent:,.0f}'} %"


def exact(value: float | None, unit: str = "") -> str:
    """The value with all its digits, for tooltips and copies: "12,345 ns"; -1 is unknown."""
    known = _known(value)
    if known is None:
        return UNKNOWN
    return f"{int(known) if float(known).is_integer() else known:,} {unit}".rstrip()


def _known(value: float | None) -> float | None:
    return None if value is None or value == -1 or not math.isfinite(value) else value


def _with_prefix(value: float | None, unit: str) -> str:
    known = _known(value)
    if known is None:
        return UNKNOWN
    return _scaled(known, tuple((1000**power, prefix + unit) for power, prefix in enumerate(_DECIMAL_PREFIXES)))


def _scaled(value: float, units: tuple[tuple[int, str], ...]) -> str:
    """The value in the largest unit in which it does not read as less than 1."""
    factor, unit = units[0]
    for larger, name in units[1:]:
        # 999.6 would read "1000", so it goes to the next unit
        if abs(value) < larger * 0.9995:
            break
        factor, unit = larger, name
    scaled = value / factor
    if factor == 1 and float(value).is_integer():
        return f"{int(value):,} {unit}"
    if abs(scaled) >= 999.5:
        return f"{scaled:,.0f} {unit}"
    return f"{_three_digits(scaled)} {unit}"


def _three_digits(value: float) -> str:
    """Three significant digits, trailing zeros kept, without an exponent."""
    if value == 0:
        return "0"
    magnitude = math.floor(math.log10(abs(float(f"{value:.2e}"))))
    return f"{value:.{max(0, 2 - magnitude)}f}"


def shortened(text: str, longest: int) -> str:
    """The text, with an ellipsis in place of what is beyond `longest` characters."""
    return text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…"
