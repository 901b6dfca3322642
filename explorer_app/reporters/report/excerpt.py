"""The timeline of one step: what each track did, as the level of detail of the explorer's canvas draws it."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Final

import numpy as np

from explorer_app import format as fmt
from explorer_app.lod import Blocks, Lanes, Pyramid, Window, blocks_in_window
from explorer_app.reporters.report.markup import Markup, element, shortened
from explorer_app.reporters.report.parts import nothing, section
from explorer_app.reporters.report.plot import WIDTH, over_time
from explorer_app.web.theme import category_color
from neuron_profile import analysis
from neuron_profile.analysis.steps.median_step import median_step
from trace_format import CATEGORIES, TRACK_KINDS, Trace
from trace_format.without_python import without_python

Array = np.ndarray

_MOST_TRACKS: Final = 36
_DEEPEST: Final = 7
_MOST_BLOCKS: Final = 12_000  # some 200 kB
_FINEST, _COARSEST = 1000, 125
_LABELS: Final = 190
_LANE: Final = 13
_GAP: Final = 6
_HEAD: Final = 22
_ROOM_OF_TICK: Final = 24
_LETTER: Final = 6  # how wide one is
_LABELLED: Final = 44
_LONGEST_LABEL: Final = 30
_HOST_OP: Final = CATEGORIES.index("host_op")
# What explains the work of others, rather than being work, is left out first.
_LAST: Final = np.isin(TRACK_KINDS, ("semaphore", "throttle", "counter"))


@dataclass(frozen=True, slots=True)
class _Row:
    """A track on the picture: its lanes, and where it begins."""

    track: int
    lanes: tuple[int, ...]
    top: int


def excerpt(trace: Trace) -> Markup:
    """The median step, tracks by time; why where there is nothing to draw."""
    title = "Timeline of the median step"
    span = median_step(trace)
    if span is None or span[0] >= span[1]:
        return section("Timeline", nothing("Nothing in this trace has a duration."))
    if analysis.steps(trace).attrs["found_by"] == "window":
        title = "Timeline"
    part = analysis.cut(trace, *span).trace
    if (part.slices.category == _HOST_OP).any():
        part = without_python(part)  # frames around operators hide them
    tracks, left = _tracks(part)
    if not tracks:
        return section(title, nothing("No slice lies in this step."))
    lanes = Lanes(part)
    rows, height = _rows(part, lanes, tracks)
    window, blocks = _blocks(lanes, span, [lane for row in rows for lane in row.lanes])
    whole = trace.time_range_ns or span
    note = f"{fmt.duration(span[1] - span[0])} from {fmt.duration(span[0] - whole[0])} after the start of the trace"
    if left:
        note += f"; {fmt.counted(left, 'track')} with less work left out"
    drawn = [*_frame(span, whole[0], height), *_labels(part, rows), *_drawn(part, rows, window, blocks)]
    svg = element("svg", *drawn, viewBox=f"0 0 {WIDTH} {height}", role="img", aria_label=title)
    return section(title, svg, note=note)


def _tracks(part: Trace) -> tuple[list[int], int]:
    """The tracks to draw, in the order of the explorer, and how many have slices and are not drawn."""
    tracks, slices = part.tracks, part.slices
    busy = np.bincount(slices.track, np.maximum(slices.self_ns, 0), len(tracks))
    there = np.flatnonzero(np.bincount(slices.track, minlength=len(tracks)))
    most = sorted(there.tolist(), key=lambda at: (bool(_LAST[tracks.kind[at]]), -busy[at]))[:_MOST_TRACKS]

    def place(track: int) -> list[tuple[int, int]]:
        path = [track]
        while (parent := int(tracks.parent[path[-1]])) >= 0 and parent not in path:
            path.append(parent)
        return [(int(tracks.sort_index[at]), at) for at in reversed(path)]

    return sorted(most, key=place), len(there) - len(most)


def _rows(part: Trace, lanes: Lanes, tracks: list[int]) -> tuple[list[_Row], int]:
    """The tracks with their lanes one below the other, and how high that is."""
    rows, top = [], _HEAD
    for track in tracks:
        depth = min(int(lanes.depths[track]), _DEEPEST)
        rows.append(_Row(track, tuple(lanes.lane_of(track, level) for level in range(depth)), top))
        top += depth * _LANE + _GAP
    return rows, top + _GAP


def _blocks(lanes: Lanes, span: tuple[int, int], wanted: list[int]) -> tuple[Window, Blocks]:
    """What is drawn, as finely as `_MOST_BLOCKS` allow."""
    pyramid, width = Pyramid(lanes), _FINEST
    while True:
        window = Window(*span, width)
        blocks = blocks_in_window(pyramid, window, wanted)
        if len(blocks) <= _MOST_BLOCKS or width <= _COARSEST:
            return window, blocks
        width //= 2


def _frame(span: tuple[int, int], zero_ns: int, height: int) -> list[Markup]:
    axis = over_time(*span, zero_ns)
    out = []
    for (_, text), place in zip(axis.ticks, _across(np.array([at for at, _ in axis.ticks]), axis.high), strict=True):
        out.append(element("path", d=f"M{place:.1f} {_HEAD - 6}V{height}", _class="grid"))
        anchor = "end" if place > WIDTH - _ROOM_OF_TICK else "middle"
        out.append(element("text", text, x=f"{place:.1f}", y=11, text_anchor=anchor))
    return out


def _across(since_start: Array, span: float) -> Array:
    return _LABELS + since_start / span * (WIDTH - _LABELS - 2)


def _labels(part: Trace, rows: list[_Row]) -> list[Markup]:
    tracks, strings = part.tracks, part.pool.strings
    chosen = [row.track for row in rows]
    several = len(set(tracks.rank[chosen].tolist())) > 1
    alike = Counter(zip(tracks.rank[chosen].tolist(), tracks.name[chosen].tolist(), strict=True))
    out = []
    for row in rows:
        name, parent = strings[int(tracks.name[row.track])], int(tracks.parent[row.track])
        if alike[int(tracks.rank[row.track]), int(tracks.name[row.track])] > 1 and parent >= 0:
            name = f"{strings[int(tracks.name[parent])]}: {name}"
        lead = f"{tracks.rank[row.track]}: " if several and tracks.rank[row.track] >= 0 else ""
        shown = f"{lead}{name}".removesuffix(" (simulated)")
        tail = " sim." if tracks.simulated[row.track] else ""
        text = f"{shortened(shown, _LONGEST_LABEL - len(tail))}{tail}"
        out.append(
            element("text", text, element("title", f"{shortened(lead + name)}"), x=0, y=row.top + 10, _class="lane")
        )
        out.append(element("path", d=f"M0 {row.top - _GAP / 2:.0f}H{WIDTH}", _class="grid"))
    return out


def _drawn(part: Trace, rows: list[_Row], window: Window, blocks: Blocks) -> list[Markup]:
    """A path for each lane and category, and labels on the blocks that have room for one."""
    slices, strings = part.slices, part.pool.strings
    tops = np.array([row.top + level * _LANE for row in rows for level in range(len(row.lanes))])
    begin = np.clip(blocks.start_ns - window.start_ns, 0, window.span_ns)
    end = np.clip(blocks.end_ns - window.start_ns, 0, window.span_ns)
    left = _across(begin, window.span_ns)
    width = np.maximum(_across(end, window.span_ns) - left, 0.6)
    category = slices.category[blocks.row]
    shapes: dict[tuple[int, int], list[str]] = defaultdict(list)
    numbers = zip(blocks.lane.tolist(), category.tolist(), left.tolist(), width.tolist(), strict=True)
    for lane, kind, x, w in numbers:
        shapes[lane, kind].append(f"M{x:.1f} {tops[lane]}h{w:.1f}v{_LANE - 1}h-{w:.1f}z")
    out = [
        element("path", d="".join(shape), style=f"fill:{category_color(CATEGORIES[kind])}")
        for (_, kind), shape in shapes.items()
    ]
    for at in np.flatnonzero(width >= _LABELLED).tolist():
        row = int(blocks.row[at])
        name = strings[int(slices.name[row])]
        number = int(blocks.count[at])
        said = f"{shortened(name)}: {fmt.duration(int(slices.dur_ns[row]))}"
        said = f"{fmt.count(number)} slices, the longest {said}" if number > 1 else said
        text = shortened(name, max(int(width[at] / _LETTER), 3))
        out.append(
            element(
                "text", text, element("title", said), x=f"{left[at] + 3:.1f}", y=tops[blocks.lane[at]] + 9, _class="on"
            )
        )
    return out
