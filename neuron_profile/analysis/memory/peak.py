"""Who holds the memory at its peak."""

from __future__ import annotations

import numpy as np
import pandas as pd

from neuron_profile.analysis.arguments import top_rows
from neuron_profile.analysis.memory.allocations import MEMORY_CATEGORIES, allocations
from neuron_profile.analysis.memory.categories import categories_held
from neuron_profile.analysis.memory.makers import makers
from neuron_profile.analysis.memory.timeline import allocators
from neuron_profile.analysis.texts import same_text
from trace_format import Trace

BEFORE_THE_WINDOW = "(before the window)"
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
    Raises ValueError for a `top` below 0.
    """
    top = top_rows(top)
    places, held, found = allocators(trace), categories_held(trace), allocations(trace)
    parts = []
    for number, device in enumerate(places.devices):
        rows = places.rows(number)
        peak_row = int(rows[int(np.argmax(places.total_bytes[rows]))])
        peak = int(places.total_bytes[peak_row])
        alive = np.flatnonzero((found.row <= peak_row) & (found.end_row > peak_row))
        alive = alive[places.of_row[found.row[alive]] == number]
        if places.name(number) in held.attrs["contradicted"]:
            alive = alive[:0]
        of = makers(
            trace, found.row[alive], category=found.category[alive], is_deduced=found.is_deduced[alive].astype(np.int64)
        )  # fmt: skip
        sums = of.frame.assign(
            category=[MEMORY_CATEGORIES[code] for code in of.frame["category"].tolist()],
            is_deduced=of.frame["is_deduced"].astype(bool),
            count=np.bincount(of.of_row, minlength=len(of.frame)),
        )
        nbytes = np.zeros(len(sums), np.int64)
        np.add.at(nbytes, of.of_row, trace.memory.delta_bytes[found.row[alive]])
        sums["bytes"] = nbytes
        at_peak: dict[str, int] = {
            name: int(held.bytes_of[code][peak_row]) for code, name in enumerate(MEMORY_CATEGORIES)
        }
        sums = pd.concat([sums, _before(at_peak, sums)], ignore_index=True)
        sums = sums.sort_values("bytes", ascending=False, kind="stable").head(len(sums) if top is None else top)
        sums["device"] = same_text(device, sums)
        sums["rank"], sums["at_ns"] = places.ranks[number], trace.memory.ts_ns[peak_row]
        sums["share_ratio"] = sums["bytes"] / peak if peak else np.nan
        parts.append(sums[list(_COLUMNS)])
    frame = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(_COLUMNS))
    frame.attrs = {"relative": [places.name(number) for number in places.relative], **held.attrs}
    return frame


def _before(at_peak: dict[str, int], sums: pd.DataFrame) -> pd.DataFrame:
    """Rows for the bytes of each category at the peak that no allocation made."""
    made = sums.groupby("category")["bytes"].sum()
    rest = {name: size - int(made.get(name, 0)) for name, size in at_peak.items()}
    rows = [(BEFORE_THE_WINDOW, "", "", name, False, 0, size) for name, size in rest.items() if size > 0]
    return pd.DataFrame(rows, columns=["op", "module", "source", "category", "is_deduced", "count", "bytes"])
