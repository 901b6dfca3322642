"""The slice of a track that is nearest to a moment."""

from __future__ import annotations

import numpy as np

from explorer_app.web.timeline.data import TimelineData


def nearest_slice(data: TimelineData, track: int, moment_ns: int) -> int | None:
    """The row of the outermost slice on a track whose start is nearest to a moment (ns from the start of the trace),
    the earlier of two; None for a track without slices."""
    lanes = data.lanes
    if not lanes.depths[track]:
        return None
    lane = int(lanes.first_lane[track])
    low, high = int(lanes.offset[lane]), int(lanes.offset[lane + 1])
    starts = lanes.start_ns[low:high]
    wanted = data.start_ns + moment_ns
    after = int(np.searchsorted(starts, wanted))
    near = [at for at in (after - 1, after) if 0 <= at < high - low]
    return int(lanes.row[low + min(near, key=lambda at: abs(int(starts[at]) - wanted))])
