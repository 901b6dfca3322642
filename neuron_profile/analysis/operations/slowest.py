"""The slice behind a row of the hotspots: its slowest instance."""

from __future__ import annotations

import numpy as np

from neuron_profile.analysis.arguments import one_of
from neuron_profile.analysis.operations.labels import GROUPINGS, labels
from neuron_profile.analysis.sides import SIDES, side_of_tracks
from trace_format import CATEGORIES, Trace


def slowest(trace: Trace, name: str, *, by: str, side: str, category: str | None = None) -> int:
    """Row of the longest slice that `hotspots(trace, by)` counts under `name` on that side; -1 where none finished.

    `category` narrows it down where hotspots has one row for each category of a name. Raises ValueError for a `by`,
    `side` or `category` that there is not.
    """
    one_of("by", by, GROUPINGS)
    one_of("side", side, SIDES)
    if category is not None:
        one_of("category", category, CATEGORIES)
    slices = trace.slices
    rows = _rows_called(trace, name, by)
    rows = rows[slices.dur_ns[rows] >= 0]
    rows = rows[side_of_tracks(trace.tracks)[slices.track[rows]] == SIDES.index(side)]
    if category is not None:
        rows = rows[slices.category[rows] == CATEGORIES.index(category)]
    return int(rows[np.argmax(slices.dur_ns[rows])]) if len(rows) else -1


def _rows_called(trace: Trace, name: str, by: str) -> np.ndarray:
    if by == "name":
        return np.flatnonzero(trace.slices.name == trace.pool.strings.find(name))
    found = labels(trace, by)
    return np.flatnonzero(np.isin(found.of_slice, [i for i, text in enumerate(found.texts) if text == name]))
