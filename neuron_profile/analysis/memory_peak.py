"""Who holds the memory at its peak."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from neuron_profile.analysis.allocations import MEMORY_CATEGORIES, allocations
from neuron_profile.analysis.attribution import by_module, by_source
from neuron_profile.analysis.enclosing import slices_at
from neuron_profile.analysis.memory_categories import memory_by_category
from trace_format import CATEGORIES, Trace

Array = np.ndarray

BEFORE_THE_WINDOW = "(before the window)"
NO_OPERATOR = "(no recorded operator)"
_HOST_OP = CATEGORIES.index("host_op")
# These make a tensor for the operator that called them.
_ALLOCATING = frozenset({
    "aten::empty", "aten::empty_like", "aten::empty_strided", "aten::empty_permuted", "aten::new_empty",
    "aten::new_empty_strided", "aten::resize_",
})  # fmt: skip
_COLUMNS = (
    "device", "rank", "at_ns", "op", "module", "source", "category", "is_deduced", "count", "bytes", "share_ratio",
)  # fmt: skip


def peak_holders(trace: Trace, top: int | None = None) -> pd.DataFrame:
    """What is allocated at the peak of each device, by what made it; of each device the largest first.

    The peak is the first moment of the largest total. A row is an operator, the module and the line of the user's code
    it was called from ("" where they were not recorded) and a category. What was there before the window, or has no
    place in memory, is under `BEFORE_THE_WINDOW`. `top` keeps so many rows of each device.

    Columns: device, rank, at_ns, op, module, source, category, is_deduced, count (of allocations; 0 for what was there
    before), bytes, share_ratio (of the peak). The bytes of a device add up to its peak.
    `attrs`: as those of `memory_by_category`. A trace without memory events gives an empty frame.
    """
    timeline = memory_by_category(trace)
    found = allocations(trace)
    parts = []
    labels = _Labels(trace)
    places: dict[Any, Any] = dict(timeline.groupby(["rank", "device"], sort=True).indices)
    for (rank, device), rows in places.items():
        peak_row = rows[int(np.argmax(timeline["total_bytes"].to_numpy()[rows]))]
        peak = timeline.iloc[peak_row]
        alive = (found.row <= peak_row) & (found.end_row > peak_row) & np.isin(found.row, rows)
        if device in _devices(timeline.attrs["contradicted"], rank):
            alive[:] = False
        held = labels.of(found.row[alive])
        held["category"] = [MEMORY_CATEGORIES[number] for number in found.category[alive].tolist()]
        held["is_deduced"] = found.is_deduced[alive]
        held["bytes"] = trace.memory.delta_bytes[found.row[alive]]
        keys = ["op", "module", "source", "category", "is_deduced"]
        sums = held.groupby(keys, sort=False)["bytes"].agg(["size", "sum"]).reset_index()
        sums = sums.rename(columns={"size": "count", "sum": "bytes"})
        sums = pd.concat([sums, _before(peak, sums)], ignore_index=True)
        sums = sums.sort_values("bytes", ascending=False, kind="stable").head(len(sums) if top is None else top)
        sums["device"], sums["rank"], sums["at_ns"] = device, rank, peak["ts_ns"]
        sums["share_ratio"] = sums["bytes"] / peak["total_bytes"] if peak["total_bytes"] else np.nan
        parts.append(sums[list(_COLUMNS)])
    frame = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(_COLUMNS))
    frame.attrs = timeline.attrs
    return frame


def _devices(names: list[str], rank: int) -> list[str]:
    """The devices of one rank among names as "device" or "rank N device"."""
    return names if rank < 0 else [name.removeprefix(f"rank {rank} ") for name in names if f"rank {rank} " in name]


def _before(peak: pd.Series, sums: pd.DataFrame) -> pd.DataFrame:
    """Rows for the bytes of each category at the peak that no allocation made."""
    made = sums.groupby("category")["bytes"].sum()
    rest = {name: int(peak[f"{name}_bytes"]) - int(made.get(name, 0)) for name in MEMORY_CATEGORIES}
    rows = [(BEFORE_THE_WINDOW, "", "", name, False, 0, size) for name, size in rest.items() if size > 0]
    return pd.DataFrame(rows, columns=["op", "module", "source", "category", "is_deduced", "count", "bytes"])


class _Labels:
    """Operator, module and line of allocations."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._module, self._source = by_module(trace), by_source(trace)

    def of(self, rows: Array) -> pd.DataFrame:
        """The labels of the allocations in these rows of `trace.memory`: columns op, module, source."""
        trace = self._trace
        at = slices_at(trace.slices, trace.memory.track[rows], trace.memory.ts_ns[rows])
        made_by = self._operators(at)
        strings = trace.pool.strings.values
        names = trace.slices.name
        ops = [strings[names[row]] if row >= 0 else NO_OPERATOR for row in made_by.tolist()]
        return pd.DataFrame({"op": ops, "module": _texts(self._module, at), "source": _texts(self._source, at)})

    def _operators(self, at: Array) -> Array:
        """The innermost operator around each slice that does more than to allocate; -1 for none."""
        slices, strings = self._trace.slices, self._trace.pool.strings.values
        allocates = np.array([name in _ALLOCATING for name in strings], bool)
        found = np.full(len(at), -1, np.int64)
        row = at.copy()
        while (row >= 0).any():
            is_op = (row >= 0) & (slices.category[row] == _HOST_OP)
            found = np.where(is_op & ((found < 0) | allocates[slices.name[found]]), row, found)
            settled = is_op & ~allocates[slices.name[row]]
            row = np.where((row >= 0) & ~settled, slices.parent[row], -1)
        return found


def _texts(labels: tuple[Array, list[str]] | None, rows: Array) -> list[str]:
    if labels is None:
        return [""] * len(rows)
    of_slice, texts = labels
    return [texts[of_slice[row]] if row >= 0 else "" for row in rows.tolist()]
