"""Who made an allocation: the operator, the module and the line of the user's code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from neuron_profile.analysis.grouping import group
from neuron_profile.analysis.launches.enclosing import slices_at
from neuron_profile.analysis.operations.attribution import Attributed, by_module, by_source
from trace_format import CATEGORIES, Trace

Array = np.ndarray

NO_OPERATOR = "(no recorded operator)"
_HOST_OP = CATEGORIES.index("host_op")
# These make a tensor for the operator that called them.
_ALLOCATING = frozenset({
    "aten::empty", "aten::empty_like", "aten::empty_strided", "aten::empty_permuted", "aten::new_empty",
    "aten::new_empty_strided", "aten::resize_",
})  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Makers:
    """Which of some distinct makers made each of some allocations.

    - `of_row`: the maker of each, shape `(n,) int64`.
    - `frame`: the makers: columns op, module, source ("" where they were not recorded), then those that were asked for.
    """

    of_row: Array
    frame: pd.DataFrame


def makers(trace: Trace, rows: Array, **also: Array) -> Makers:
    """Who made the allocations in these rows of `trace.memory`; what differs in `also`, codes `(n,)`, is apart."""
    at = slices_at(trace.slices, trace.memory.track[rows], trace.memory.ts_ns[rows])
    op = _at(trace.slices.name, _operators(trace, at))
    inside = at >= 0
    module, source = by_module(trace, at[inside]), by_source(trace, at[inside])
    columns = {"op": op, "module": _codes(module, inside), "source": _codes(source, inside), **also}
    numbers, used = zip(*(pd.factorize(codes) for codes in columns.values()), strict=True)
    groups = group(numbers, [max(len(codes), 1) for codes in used])
    chosen = {
        name: np.asarray(codes)[values] if len(codes) else values
        for name, codes, values in zip(columns, used, groups.values, strict=True)
    }
    frame = pd.DataFrame(
        {
            "op": _texts(trace.pool.strings.values, chosen["op"], NO_OPERATOR),
            "module": _texts(module.texts if module else (), chosen["module"], ""),
            "source": _texts(source.texts if source else (), chosen["source"], ""),
        }
    )
    return Makers(groups.of_row, frame.assign(**{name: chosen[name] for name in also}))


def _operators(trace: Trace, at: Array) -> Array:
    """The innermost operator around each slice that does more than to allocate; -1 for none."""
    slices, strings = trace.slices, trace.pool.strings.values
    allocates = np.array([name in _ALLOCATING for name in strings], bool)
    found = np.full(len(at), -1, np.int64)
    open_rows = np.flatnonzero(at >= 0)
    row = at[open_rows]
    while len(row):
        is_op = slices.category[row] == _HOST_OP
        only_allocates = allocates[slices.name[row]]
        before = found[open_rows]
        takes = is_op & ((before < 0) | allocates[slices.name[np.maximum(before, 0)]])
        found[open_rows[takes]] = row[takes]
        row = np.where(is_op & ~only_allocates, -1, slices.parent[row])
        open_rows, row = open_rows[row >= 0], row[row >= 0]
    return found


def _codes(labels: Attributed | None, inside: Array) -> Array:
    """The labels, which are of those that are inside of a slice, for all; -1 for the others."""
    out = np.full(len(inside), -1, np.int64)
    if labels is not None:
        out[inside] = labels.of_slice
    return out


def _at(values: Array, rows: Array) -> Array:
    """The value of each row, -1 where the row is."""
    out = np.full(len(rows), -1, np.int64)
    known = rows >= 0
    out[known] = values[rows[known]]
    return out


def _texts(texts: Sequence[str], codes: Array, unknown: str) -> pd.Series:
    return pd.Series([texts[code] if code >= 0 else unknown for code in codes.tolist()], dtype=object)
