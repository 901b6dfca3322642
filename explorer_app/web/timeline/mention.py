"""What is said of a slice wherever it is mentioned."""

from __future__ import annotations

from typing import Any

from explorer_app.web.timeline.data import TimelineData
from trace_format import CATEGORIES, TRACK_KINDS


def mention(data: TimelineData, row: int) -> dict[str, Any]:
    """A slice by its name, time and track, ready for JSON; enough to draw it and to go to it."""
    trace, slices = data.trace, data.trace.slices
    track, dur = int(slices.track[row]), int(slices.dur_ns[row])
    start = int(slices.ts_ns[row])
    return {
        "id": row,
        "name": data.name(int(slices.name[row])),
        "category": CATEGORIES[slices.category[row]],
        "start": start - data.start_ns,
        "dur": dur if dur >= 0 else None,
        "drawn_dur": dur if dur >= 0 else data.lanes.end_ns - start,
        "lane": data.lanes.lane_of(track, int(slices.depth[row])),
        "track": {
            "id": track,
            "name": data.label(int(trace.tracks.name[track])) or f"track {track}",
            "kind": TRACK_KINDS[trace.tracks.kind[track]],
            "process": _path(data, track),
            "simulated": bool(trace.tracks.simulated[track]),
        },
    }


def _path(data: TimelineData, track: int) -> str:
    """What a track belongs to, outermost first: "fused.neff › Core 4"; its own name where it belongs to nothing."""
    path = data.path(track)
    names = (data.label(int(data.trace.tracks.name[at])) for at in (path[:-1] or path))
    return " › ".join(name for name in names if name)
