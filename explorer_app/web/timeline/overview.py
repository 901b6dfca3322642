"""What the canvas must know before it can draw anything: the tracks, the categories, the steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from explorer_app import format as fmt
from explorer_app.lod import Window, busy_ratio
from explorer_app.web.names import named
from explorer_app.web.numbers import once
from explorer_app.web.timeline.data import TimelineData
from explorer_app.web.timeline.headings import Heading, begins_folded, headings
from neuron_profile import analysis
from trace_format import CATEGORIES, TRACK_KINDS, Trace

# More tracks than anyone scrolls through; the rest is left out and the page says how many.
MOST_TRACKS = 5000
MOST_STEPS = 5000
OVERVIEW_PIXELS = 800
_LARGEST_SUM_NS = 1 << 62

_DEVICE_KINDS = ("stream", "engine", "dma_queue", "collective")


def overview(data: TimelineData) -> dict[str, Any]:
    """The body of `/_trace/meta`, ready for JSON.

    - `start_ns`: first moment of the trace as decimal text (JavaScript's numbers cannot hold it); all other times
      are nanoseconds from there. `span_ns`: its length, at least 1.
    - `categories`: their names by id.
    - `processes`: groups of tracks, each `{id, name, note, within, level, folded, tracks}`: `within` the id of the
      group around it, null for a process, `folded` whether it begins so; a track is `{id, name, note, kind, simulated,
      lane, depths, slices, instants, counter}`: its first lane, how many it has, and for a counter `{unit, low,
      high}`, else null.
      Only the first `MOST_TRACKS` tracks with content are among them.
    - `slice_count`: how many slices there are in all.
    - `steps`: `{name, start, end}` of the first rank; empty where the trace marks none. `steps_label` says whose.
    - `busy`: `{label, ratio}`, the busy share over the whole trace; no ratios where times are so far apart that their
      sums leave 64 bits.
    """
    trace = data.trace
    durable = data.lanes.depths + data.counters.rows.counts
    shown = tracks_with_content(trace)[:MOST_TRACKS]
    return {
        "start_ns": str(data.start_ns),
        "span_ns": max(1, data.lanes.end_ns - data.start_ns),
        "categories": CATEGORIES,
        "processes": [_process(data, heading) for heading in headings(data, shown, durable > 0)],
        "slice_count": len(trace.slices),
        "steps": _steps(data),
        "steps_label": _steps_label(trace),
        "busy": _busy(data),
    }


def tracks_with_content(trace: Trace) -> list[int]:
    """The tracks that hold slices, instants or counters, in the order in which their source wants them shown."""
    tables = (trace.slices, trace.instants, trace.counters)
    held = sum(np.bincount(table.track, minlength=len(trace.tracks)) for table in tables)
    order = np.lexsort((np.arange(len(trace.tracks)), trace.tracks.sort_index))
    return order[np.asarray(held)[order] > 0].tolist()


def _process(data: TimelineData, heading: Heading) -> dict[str, Any]:
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
        "tracks": [_track(data, track) for track in heading.tracks],
    }


def _track(data: TimelineData, track: int) -> dict[str, Any]:
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
        "slices": int(lanes.offset[first + depths] - lanes.offset[first]),
        "instants": int(data.moments.rows.counts[track]),
        "counter": _counter(data, track),
    }


def _counter(data: TimelineData, track: int) -> dict[str, Any] | None:
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
