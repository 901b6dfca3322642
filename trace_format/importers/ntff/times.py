"""The time of a device: from the clocks of its engines to picoseconds since the first run, and to columns."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from trace_format.importers.ntff.container import Clock

Array = np.ndarray

# Nothing further from the first run than this belongs to the profile: its record is damaged.
FURTHEST_PS = 86_400 * 10**12  # a day
_LARGEST_FACTOR = 1 << 32


def picoseconds(ts: Array, clock: Clock) -> Array:
    """`(n,) uint64` of the same clock in picoseconds, modulo 2**64."""
    since = ts - np.uint64(clock.init)
    expected, actual = _ratio(clock)
    if expected == actual:  # exact beyond the 53 bits of a float
        return since
    whole, rest = np.divmod(since, np.uint64(actual))
    return whole * np.uint64(expected) + rest * np.uint64(expected) // np.uint64(actual)


def _ratio(clock: Clock) -> tuple[int, int]:
    common = math.gcd(clock.expected, clock.actual)
    expected, actual = clock.expected // common, clock.actual // common
    while max(expected, actual) >= _LARGEST_FACTOR:  # a damaged one: the products have to fit
        expected, actual = max(expected >> 1, 1), max(actual >> 1, 1)
    return expected, actual


@dataclass(frozen=True, slots=True)
class DeviceTime:
    """Times as they are shown: `zero_ps` is when the first run began, on the device's clock."""

    zero_ps: int

    @property
    def zero_ns(self) -> int:
        """What of the trace's nanoseconds the first run began at."""
        return self.zero_ps // 1000

    def since_zero(self, ts: Array, clock: Clock) -> Array:
        """`(n,) int64` picoseconds since the first run began, of times as a record has them."""
        return (picoseconds(ts, clock) - np.uint64(self.zero_ps)).view(np.int64)

    def start(self, since_zero_ps: Array | int) -> dict[str, Array | int]:
        """The columns of a start: `ts_ns` minus `zero_ns` is the time since zero, floored, as AWS's tool shows it."""
        return {"ts_ns": self.zero_ns + since_zero_ps // 1000, "ts_ps": since_zero_ps % 1000}


def duration(ps: Array | int) -> dict[str, Array | int]:
    """The columns of a duration in picoseconds."""
    return {"dur_ns": ps // 1000, "dur_ps": ps % 1000}
