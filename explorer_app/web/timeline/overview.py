"""What the canvas must know before it can draw anything: the tracks, the categories, the steps."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from explorer_app import format as fmt
from explorer_app.lod import Window, busy_ratio
from explorer_app.web.names import named
from explorer_app.web.numbers import once
from explorer_app.web.timeline.data import TimelineData
from explorer_app.web.timeline.headings import (
    MOST_TRACKS,
    Heading,
    begins_folded,
    headings,
    track_begins_folded,
    tracks_with_content,
)
from explorer_app.web.timeline.rank_groups import by_rank
from explorer_app.web.timeline.sketch import Sketch
from neuron_profile import analysis
from trace_format import CATEGORIES, TRACK_KINDS, Trace

MOST_STEPS = 5000
OVERVIEW_PIXELS = 800
_LARGEST_SUM_NS = 1 << 62

_NOTHING_YET: Final[dict[str, Any]] = {
    "steps": [],
    "step_starts": [],
    "steps_label": "",
    "busy": {"label": "", "ratio": []},
}
_DEVICE_KINDS = ("stream", "engine", "dma_queue", "collective")


def overview(data: TimelineData | Sketch) -> dict[str, Any]:
    """The body of `/_trace/meta`, ready for JSON.

    - `start_ns`: first moment of the trace as decimal text (JavaScript's numbers cannot hold it); all other times
      are nanoseconds from there. `span_ns`: its length, at least 1, and 1 more where a slice begins at its
      very end, to be seen.
    - `categories`: their names by id.
    - `processes`: groups of tracks, each `{id, name, note, within, level, folded, rank, tracks}`: `within` the id of
      the group around it, null for the outermost (a rank, where there are several; else a process), `folded` whether
      it begins so, `rank` -1 for none; a track is `{id, name, note, kind, simulated, lane, depths, folded, slices,
      outlined, instants, counter}`: its first lane, how many it has, whether it begins with the first only, whether its
      only lane is an outline (see `explorer_app.lod.Outline`), and for a counter `{unit, low, high}`, else null.
      Only the first `MOST_TRACKS` tracks with content are among them.
    - `is_whole`: whether that is all of it; else it is a sketch (see `sketch.Sketch`), without `steps` and `busy`.
    - `slice_count`: how many slices there are in all.
    - `steps`: `{name, start, end}` of the first rank; empty where the trace marks none. `steps_label` says whose.
    - `step_starts`: `{rank, starts}` of each rank that marks steps, the first `MOST_STEPS` of all of them together.
    - `busy`: `{label, ratio}`, the busy share over the whole trace; no ratios where times are so far apart that their
      sums leave 64 bits.
    """
    trace = data.trace
    durable = data.lanes.depths + data.counters.rows.counts
    shown = tracks_with_content(trace)[:MOST_TRACKS]
    return {
        "start_ns": str(data.start_ns),
        "span_ns": max(1, data.lanes.end_ns - data.start_ns + once(_begins_at_the_end, trace)),
        "categories": CATEGORIES,
        "processes": by_rank(
            [_process(data, heading) for heading in headings(data, shown, durable > 0)], trace.tracks.rank.tolist()
        ),
        "is_whole": data.is_whole,
        "slice_count": len(trace.slices),
        **(_over_time(data) if isinstance(data, TimelineData) else _NOTHING_YET),
    }


def _begins_at_the_end(trace: Trace) -> bool:
    """Whether a slice without any length, or without an end, is at the last moment of the trace."""
    whole = trace.time_range_ns
    return whole is not None and len(trace.slices) > 0 and int(trace.slices.ts_ns.max()) == whole[1]


def _over_time(data: TimelineData) -> dict[str, Any]:
    return {
        "steps": _steps(data), "step_starts": _step_starts(data), "steps_label": _steps_label(data.trace),
        "busy": _busy(data),
    }  # fmt: skip


def _process(data: TimelineData | Sketch, heading: Heading) -> dict[str, Any]:
    table, process = data.trace.tracks, heading.track
    pid, rank = int(table.pid[process]), int(table.rank[process])
    by_number = f"process {pid}" if pid >= 0 else "tracks"
    around = heading.path.index(heading.within.track) + 1 if heading.within else 0
    named = [data.label(int(table.name[at])) for at in heading.path[around:]]
    if heading.within:
        notes = [fmt.counted(len(heading.tracks), "track")]
    else:
        notes = [f"rank {rank}"] if rank >= 0 else []
        if pid >= 0 and not heading.is_loose:
            notes.append(f"pid {pid}")
        if table.host[process]:
            notes.append(data.label(int(table.host[process])))
    return {
        "id": process,
        "name": by_number if heading.is_loose else " › ".join(filter(None, named)) or by_number,
        "note": " · ".join(notes),
        "within": heading.within.track if heading.within else None,
        "level": heading.level,
        "folded": begins_folded(data, heading),
        "rank": rank,
        "tracks": [_track(data, track) for track in heading.tracks],
    }


def _track(data: TimelineData | Sketch, track: int) -> dict[str, Any]:
    table, lanes = data.trace.tracks, data.lanes
    kind = TRACK_KINDS[table.kind[track]]
    notes = [] if kind == "other" else [kind.replace("_", " ")]
    if table.tid[track] >= 0 and kind in ("host_thread", "runtime", "other"):
        notes.append(f"tid {table.tid[track]}")
    first, depths = int(lanes.first_lane[track]), int(lanes.depths[track])
    return {
        "id": track,
        "name": data.label(int(table.name[track])) or f"track {track}",
        "note": " · ".join(notes),
        "kind": kind,
        "simulated": bool(table.simulated[track]),
        "lane": first,
        "depths": depths,
        "folded": track_begins_folded(data, track, depths),
        "slices": int(lanes.offset[first + depths] - lanes.offset[first]),
        "outlined": isinstance(data, Sketch) and bool(data.lanes.is_outlined[track]),
        "instants": int(data.moments.rows.counts[track]),
        "counter": _counter(data, track),
    }


def _counter(data: TimelineData | Sketch, track: int) -> dict[str, Any] | None:
    if not data.counters.rows.counts[track]:
        return None
    low, high = data.counters.extremes(track) or (None, None)
    return {"unit": data.label(int(data.trace.tracks.unit[track])), "low": low, "high": high}


def _steps(data: TimelineData) -> list[dict[str, Any]]:
    steps = once(analysis.steps, data.trace)
    if steps.attrs["found_by"] == "window":
        return []
    first_rank = steps[steps["rank"] == steps["rank"].min()].head(MOST_STEPS)
    columns = (first_rank[name].tolist() for name in ("name", "start_ns", "end_ns"))
    return [
        {"name": named(name), "start": start - data.start_ns, "end": end - data.start_ns}
        for name, start, end in zip(*columns, strict=True)
    ]


def _step_starts(data: TimelineData) -> list[dict[str, Any]]:
    steps = once(analysis.steps, data.trace)
    if steps.attrs["found_by"] == "window":
        return []
    first = steps.nsmallest(MOST_STEPS, "start_ns")
    starts, rank = first["start_ns"] - data.start_ns, first["rank"]
    return [{"rank": one, "starts": starts[rank == one].tolist()} for one in sorted(set(rank.tolist()))]


def _steps_label(trace: Trace) -> str:
    ranks = once(analysis.steps, trace)["rank"]
    return f"Steps (rank {ranks.min()})" if ranks.nunique() > 1 else "Steps"


def _busy(data: TimelineData) -> dict[str, Any]:
    """How busy the busiest device track is over the whole trace; a host track where no device was measured."""
    table, lanes = data.trace.tracks, data.lanes
    device_kinds = [TRACK_KINDS.index(kind) for kind in _DEVICE_KINDS]
    occupied = np.flatnonzero((lanes.depths > 0) & ~table.simulated)
    device = occupied[np.isin(table.kind[occupied], device_kinds)]
    shown = device if len(device) else occupied
    label = f"busiest {'device' if len(device) else 'host'} track"
    busy_ns = np.maximum(data.trace.slices.dur_ns, 0).sum(dtype=np.float64)
    if max(busy_ns, lanes.end_ns - data.start_ns) > _LARGEST_SUM_NS:
        return {"label": label, "ratio": []}
    window = Window(data.start_ns, max(lanes.end_ns, data.start_ns + 1), OVERVIEW_PIXELS)
    ratio = busy_ratio(lanes, window, lanes.first_lane[shown].tolist())
    return {"label": label, "ratio": np.round(ratio, 4).tolist()}
