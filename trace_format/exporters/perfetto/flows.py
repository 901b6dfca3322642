"""The ends of flows, to be written with the slices they join."""

from __future__ import annotations

import numpy as np

from trace_format.exporters.perfetto import wire
from trace_format.trace import Trace

Array = np.ndarray

# Fields of TrackEvent.
_FLOW_IDS, _TERMINATING_FLOW_IDS = 47, 48
_THROUGH, _LAST = wire.tag(_FLOW_IDS, wire.FIXED64), wire.tag(_TERMINATING_FLOW_IDS, wire.FIXED64)


class FlowEnds:
    """Both ends of every flow by the slice they are at. Each flow has an id of its own."""

    def __init__(self, trace: Trace) -> None:
        cause, effect, starts = trace.flows.from_slice, trace.flows.to_slice, trace.slices.ts_ns
        flows = np.flatnonzero((cause >= 0) & (effect >= 0))
        cause, effect = cause[flows], effect[flows]
        # where both begin at one moment the file's order decides which is first, so neither may be called the last
        last = starts[cause] != starts[effect]
        rows = np.concatenate([cause, effect])
        order = np.argsort(rows, kind="stable")
        self._rows = rows[order]
        self._is_last = np.concatenate([np.zeros(len(flows), bool), last])[order]
        self._ids = np.concatenate([flows, flows])[order] + 1

    def append_to(self, tails: list[bytes], rows: Array) -> None:
        """Append to the fields of each of these slices the flows that begin or end there."""
        low, high = np.searchsorted(self._rows, rows, "left"), np.searchsorted(self._rows, rows, "right")
        for i in np.flatnonzero(low < high).tolist():
            for end in range(low[i], high[i]):
                tails[i] += (_LAST if self._is_last[end] else _THROUGH) + int(self._ids[end]).to_bytes(8, "little")
