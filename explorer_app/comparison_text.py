"""What the numbers of a comparison are called and how they are written, on the console and in the browser."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from explorer_app import format as fmt
from explorer_app.breakdown_text import HOST_PART_NAMES, PART_NAMES
from neuron_profile.analysis.comparison import Change, Comparison
from neuron_profile.analysis.comparison.samples import COUNTS, IN_BYTES

_NAMES: Final = {"step_time": "step time", "peak_memory": "peak memory", "compiles": "compiles"}
_LARGEST_RATIO: Final = 1e6
LARGEST_SHARE: Final = 10  # a larger change over the base says more as a multiple of it


def part_names(comparison: Comparison) -> Mapping[str, str]:
    """The names of the parts of a step: those of a host alone where neither side has a device."""
    return HOST_PART_NAMES if comparison.base.on_host and comparison.new.on_host else PART_NAMES


def number_names(comparison: Comparison) -> dict[str, str]:
    """The names of the numbers of a comparison; those of parts are indented."""
    return _NAMES | {name.removesuffix("_ns"): f"  {label}" for name, label in part_names(comparison).items()}


def value(name: str, number: float) -> str:
    """One of the numbers, in its own unit."""
    if name in COUNTS:
        return fmt.count(round(number))
    return fmt.size(number) if name in IN_BYTES else fmt.duration(number)


def moved(difference_ns: float) -> str:
    """A difference of times with its sign: "+1.20 ms"; one of less than half a nanosecond has none."""
    sign = "" if abs(difference_ns) < 0.5 else "+" if difference_ns > 0 else "-"
    return f"{sign}{fmt.duration(abs(difference_ns))}"


def signed(ratio: float) -> str:
    """A ratio with its sign: "+3.1 %"; beyond 1000 % the multiple, "×52"; "new" for what was not there before."""
    if LARGEST_SHARE <= ratio < _LARGEST_RATIO:
        return f"×{1 + ratio:,.0f}"
    return f"{ratio:+.1%}".replace("%", " %") if abs(ratio) < _LARGEST_RATIO else "new"


def interval(of: Change) -> str:
    """The 95 % interval of a change, as shares of the base: "+1.2 % to +3.4 %"."""
    return f"{signed(of.relative(of.low))} to {signed(of.relative(of.high))}"
