"""Conditions on a comparison, as a CI job states them: `step_time > +3%`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np

from neuron_profile.analysis.comparison.change import Change, change
from neuron_profile.analysis.comparison.diff import Comparison
from neuron_profile.analysis.comparison.samples import COUNTS, IN_BYTES, NAMES
from trace_format import NeuronProfileError

_EXPRESSION = re.compile(
    r"\s*(?P<name>hotspot:.+\.self_time|\w+)\s*(?P<over>>=?|<=?)\s*(?P<sign>[+-]?)\s*(?P<number>\d+(?:\.\d+)?)\s*"
    r"(?P<unit>%|[A-Za-zµ]*)\s*"
)
_HOTSPOT = re.compile(r"hotspot:(?P<operation>.+)\.self_time")
_TIMES = {"ns": 1.0, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9}
_SIZES = {
    "B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30,
}  # fmt: skip
_KNOWN = f"{', '.join(NAMES)}, or hotspot:OPERATION.self_time"


class GateError(NeuronProfileError):
    """A condition that says nothing, or about a number that the traces do not have."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a condition holds, which makes the gate fail, and why in one line.

    `change`: of the number it is about.
    """

    gate: Gate
    change: Change
    fails: bool


@dataclass(frozen=True, slots=True)
class Gate:
    """A condition under which a comparison fails.

    `NAME > +3%` and `NAME > +2ms` are about the change from base to new; they hold where the whole 95 % interval of
    the change does, so that noise alone does not fail a build. `NAME > 2ms` is about the new median. NAME is one of
    `samples.NAMES`, or `hotspot:OPERATION.self_time`: of an operation that most steps do not have, the mean for each
    step of a run, which has no interval unless there are five runs. `limit` is a ratio for "%", else in ns, bytes or
    calls.
    """

    text: str
    name: str
    over: str
    is_change: bool
    is_ratio: bool
    limit: float

    @classmethod
    def parse(cls, text: str) -> Self:
        """The condition that `text` states. Raises GateError, which says how to write one."""
        found = _EXPRESSION.fullmatch(text)
        if found is None:
            raise GateError(
                f"{text!r} is no condition; write a number, one of > >= < <= and a limit, like 'step_time > +3%' or "
                f"'peak_memory > 10GB'; numbers are {_KNOWN}"
            )
        name, unit = found["name"], found["unit"]
        if name not in NAMES and not _HOTSPOT.fullmatch(name):
            raise GateError(f"{name!r} in {text!r} is no number of a summary: take one of {_KNOWN}")
        units = _SIZES if name in IN_BYTES else {"": 1.0} if name in COUNTS else _TIMES
        if unit == "%" and not found["sign"]:
            raise GateError(f"{text!r}: a percentage is of a change; write +{found['number']}% or -{found['number']}%")
        if unit != "%" and unit not in units:
            known = ", ".join(unit for unit in units if unit) or "no unit"
            raise GateError(f"{text!r}: {unit or 'no unit'!r} is no unit of {name}; write %, or {known}")
        limit = float(found["number"]) * (0.01 if unit == "%" else units[unit]) * (-1 if found["sign"] == "-" else 1)
        return cls(text.strip(), name, found["over"], bool(found["sign"]), unit == "%", limit)

    def judge(self, comparison: Comparison) -> Verdict:
        """Whether the condition holds. Raises GateError where the traces do not tell the number."""
        of = self._change(comparison)
        if not self.is_change:
            return Verdict(self, of, self._beyond(of.new))
        # the end of the interval nearer to the limit decides
        nearest = of.low if self.over.startswith(">") else of.high
        return Verdict(self, of, self._beyond(of.relative(nearest) if self.is_ratio else nearest))

    def _change(self, comparison: Comparison) -> Change:
        hotspot = _HOTSPOT.fullmatch(self.name)
        if hotspot:
            operation, sides = hotspot["operation"], (comparison.base, comparison.new)
            base, new = (side.self_time_of(operation) for side in sides)
            if not np.median(base) and not np.median(new):
                base, new = (side.mean_self_time_of(operation) for side in sides)
            if not base.any() and not new.any():
                raise GateError(f"{self.text!r}: neither trace has an operation {operation!r}")
        else:
            base, new = (side.of(self.name) for side in (comparison.base, comparison.new))
        if not len(base) or not len(new):
            raise GateError(f"{self.text!r}: the traces do not tell {self.name}")
        return change(base, new)

    def _beyond(self, value: float) -> bool:
        compare: dict[str, Callable[[float, float], bool]] = {
            ">": lambda a, b: a > b, ">=": lambda a, b: a >= b, "<": lambda a, b: a < b, "<=": lambda a, b: a <= b,
        }  # fmt: skip
        return compare[self.over](value, self.limit)
