"""Slices by name: which names hold a text, and the next slice that has one of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from explorer_app.web.timeline.data import TimelineData

Array = np.ndarray

MOST_NAMES_FOUND = 20_000


def find_names(data: TimelineData, text: str) -> dict[str, Any]:
    """The names of slices that hold `text`, whatever the case.

    `{names, name_count, slice_count}`: ids of the names, at most `MOST_NAMES_FOUND` of the most frequent; how many
    names and slices there are in all.
    """
    found = _names_with(data, text)
    often = np.argsort(-data.slices_by_name[found], kind="stable")[:MOST_NAMES_FOUND]
    return {
        "names": found[often].tolist(),
        "name_count": len(found),
        "slice_count": int(data.slices_by_name[found].sum()),
    }


def find_slice(data: TimelineData, text: str, after: int, direction: int) -> int | None:
    """The slice nearest in time whose name holds `text`: after the slice `after` (-1: from the start of the trace),
    or before it where `direction` is -1. Goes on at the other end of the trace; None where no name fits."""
    slices = data.trace.slices
    has_name = np.zeros(len(data.trace.pool.strings), bool)
    has_name[_names_with(data, text)] = True
    rows = np.flatnonzero(has_name[slices.name])
    if not len(rows):
        return None
    ts_ns = slices.ts_ns[rows]
    if after >= 0:
        from_ns = slices.ts_ns[after]
        later = (ts_ns > from_ns) | ((ts_ns == from_ns) & (rows > after))
        earlier = (ts_ns < from_ns) | ((ts_ns == from_ns) & (rows < after))
        beyond = np.flatnonzero(later if direction > 0 else earlier)
        if len(beyond):
            rows, ts_ns = rows[beyond], ts_ns[beyond]
    # rows ascend, so among slices of one moment the first is the smallest row and the last the largest
    nearest = int(np.argmin(ts_ns)) if direction > 0 else len(rows) - 1 - int(np.argmax(ts_ns[::-1]))
    return int(rows[nearest])


def _names_with(data: TimelineData, text: str) -> Array:
    strings, wanted = data.trace.pool.strings, text.casefold()
    used = np.flatnonzero(data.slices_by_name)
    return np.array([name for name in used.tolist() if wanted in strings[name].casefold()], np.int64)
