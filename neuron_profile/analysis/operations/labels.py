"""What each slice is counted under, for each way of grouping."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from neuron_profile.analysis.operations.attribution import by_module, by_operator, by_source
from trace_format import CATEGORIES, Trace
from trace_format.tables import Tracks

Array = np.ndarray

GROUPINGS = ("name", "category", "module", "track", "source", "op")
_WHY = {
    "module": "no modules were recorded: profile with with_stack=True and with_modules=True",
    "source": "no source lines were recorded: profile with with_stack=True",
}


@dataclass(frozen=True, slots=True)
class Labels:
    """The label of each slice: index into `texts`, -1 for none. `why` says why there are none at all.

    `unattributed` is the label of device work of which nothing is known, -1 where there is none, None where
    nothing needs to be known.
    """

    of_slice: Array
    texts: Sequence[str]
    why: str = ""
    unattributed: int | None = None


def labels(trace: Trace, by: str) -> Labels:
    """The labels of all slices for one of `GROUPINGS`."""
    slices = trace.slices
    if by == "name":
        return Labels(slices.name.astype(np.int64), trace.pool.strings.values)
    if by == "category":
        return Labels(slices.category.astype(np.int64), CATEGORIES)
    if by == "track":
        return Labels(slices.track.astype(np.int64), track_labels(trace.tracks))
    found = by_operator(trace) if by == "op" else by_module(trace) if by == "module" else by_source(trace)
    if found is None:
        return Labels(np.full(len(slices), -1, np.int64), (), _WHY[by])
    return Labels(found.of_slice, found.texts, unattributed=found.unattributed)


def track_labels(tracks: Tracks) -> list[str]:
    """The name of each track after the names of those it lies under: "python 4711 / thread 4711 (main)"."""
    names, parents = tracks.text("name"), tracks.parent.tolist()
    out = []
    for row, name in enumerate(names):
        path, above, seen = [name], parents[row], {row}
        while above >= 0 and above not in seen:
            seen.add(above)
            path.append(names[above])
            above = parents[above]
        out.append(" / ".join(part for part in reversed(path) if part))
    return out
