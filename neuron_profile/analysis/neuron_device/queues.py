"""What each DMA queue moved."""

from __future__ import annotations

import numpy as np
import pandas as pd

from neuron_profile.analysis.grouping import group
from neuron_profile.analysis.intervals import union_length
from neuron_profile.analysis.neuron_device.runs import Run
from trace_format import Trace

_PS_PER_NS = 1000


def dma_queues(trace: Trace, run: Run) -> pd.DataFrame:
    """The queues of a run by bytes, most first; a queue of a core is one row, whatever DMA engines served it.

    Columns: core, queue, class (the source's: data, instruction, software_dynamic, ...), engines (how many served
    it), packets, bytes (what their sizes add up to), active_ns (union of its packets), active_ratio (of the run),
    bytes_per_s (bytes in active_ns; NaN where that is 0), slice (the row of the longest packet). Empty for a run
    without packets.
    """
    rows, slices, strings = run.packets, trace.slices, trace.pool.strings
    moved = np.maximum(slices.bytes[rows.slice], 0)
    core = run.track_core[rows.track].astype(np.int64)
    groups = group(
        (core + 1, slices.name[rows.slice], slices.source_category[rows.slice]),
        (int(core.max(initial=0)) + 2, len(strings), len(strings)),
    )  # fmt: skip
    found = []
    for number in range(len(groups)):
        mine = rows.where(groups.of_row == number)
        active, size = union_length(mine.start_ps, mine.end_ps), int(moved[groups.of_row == number].sum())
        longest = int(mine.slice[int(np.argmax(mine.dur_ps))])
        found.append((len(np.unique(mine.track)), len(mine), size, active, longest))
    engines, packets, sizes, active_ps, longest_of = np.array(found, np.int64).reshape(-1, 5).T
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = np.where(active_ps > 0, sizes / active_ps * 1e12, np.nan)
        ratio = active_ps / run.total_ps if run.total_ps else np.full(len(active_ps), np.nan)
    frame = pd.DataFrame(
        {
            "core": groups.values[0] - 1,
            "queue": pd.Series([strings[i] for i in groups.values[1].tolist()], dtype=object),
            "class": pd.Series([strings[i] or "unknown" for i in groups.values[2].tolist()], dtype=object),
            "engines": engines, "packets": packets, "bytes": sizes, "active_ns": active_ps // _PS_PER_NS,
            "active_ratio": ratio, "bytes_per_s": rate, "slice": longest_of,
        }
    )  # fmt: skip
    return frame.sort_values(
        ["bytes", "core", "queue"], ascending=[False, True, True], kind="stable", ignore_index=True
    )
