"""The distinct calls behind many slices: (name, argument set) pairs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from neuron_profile.analysis.grouping import group
from trace_format import Trace

Array = np.ndarray


@dataclass(frozen=True, slots=True)
class DistinctCalls:
    """What the slices `rows` have as (name, argument set); a step over `pairs` is one over distinct calls only.

    `of_row` is the pair of each row, shape `(n,) int64`.
    """

    trace: Trace
    rows: Array
    of_row: Array
    names: Array
    args: Array

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[tuple[str, bytes]]:
        """The pairs as (name, argument set in JSON)."""
        pool = self.trace.pool
        for name, args in zip(self.names.tolist(), self.args.tolist(), strict=True):
            yield pool.strings[name], pool.arg_sets[args]


def distinct_calls(trace: Trace, rows: Array) -> DistinctCalls:
    """The distinct calls of the slices `rows` (row numbers)."""
    slices, pool = trace.slices, trace.pool
    groups = group((slices.name[rows], slices.args[rows]), (len(pool.strings), len(pool.arg_sets)))
    return DistinctCalls(trace, rows, groups.of_row, *groups.values)
