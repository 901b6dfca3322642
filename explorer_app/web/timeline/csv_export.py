"""The slices of a part of the timeline as CSV, row by row."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import numpy as np

from explorer_app.csv_cell import csv_cell
from explorer_app.web.timeline.data import TimelineData
from trace_format import CATEGORIES

Array = np.ndarray

# A spreadsheet has 1,048,576 rows; more is work for a program, which reads the trace itself.
MOST_ROWS: Final = 1_000_000
COLUMNS: Final = (
    "ts_ns", "dur_ns", "process", "track", "depth", "name", "category", "bytes", "flops", "correlation", "slice",
    "args",
)  # fmt: skip
_ROWS_AT_A_TIME = 4096


def rows_in_range(data: TimelineData, tracks: Sequence[int], start_ns: int, end_ns: int) -> Array:
    """The slices on these tracks that share a moment with [start_ns, end_ns), in order of start, `(m,) uint32`."""
    lanes = data.lanes
    parts = [np.zeros(0, np.int64)]
    for track in tracks:
        first_lane = int(lanes.first_lane[track])
        for lane in range(first_lane, first_lane + int(lanes.depths[track])):
            first, stop = lanes.positions(lane, start_ns, end_ns, 0)
            parts.append(np.arange(first, stop))
    position = np.concatenate(parts)
    row, ts_ns = lanes.row[position], lanes.start_ns[position]
    return row[np.lexsort((row, ts_ns))]


def csv_lines(data: TimelineData, rows: Array) -> Iterator[str]:
    """The header, then these slices, about 4,000 to a piece. Unknown is an empty cell; `ts_ns` is on the trace's clock.

    Texts that a spreadsheet would take for a formula get an apostrophe in front.
    """
    yield _text([COLUMNS])
    trace, slices = data.trace, data.trace.slices
    strings, processes = trace.pool.strings, _processes(data)
    tracks = trace.tracks.text("name")
    for begin in range(0, len(rows), _ROWS_AT_A_TIME):
        row = rows[begin : begin + _ROWS_AT_A_TIME]
        track = slices.track[row].tolist()
        yield _text(
            zip(
                slices.ts_ns[row].tolist(),
                _known(slices.dur_ns[row]),
                [csv_cell(processes[at]) for at in track],
                [csv_cell(tracks[at]) for at in track],
                slices.depth[row].tolist(),
                [csv_cell(strings[name]) for name in slices.name[row].tolist()],
                [CATEGORIES[category] for category in slices.category[row].tolist()],
                _known(slices.bytes[row]),
                _known(slices.flops[row]),
                _known(slices.correlation[row]),
                row.tolist(),
                [csv_cell(trace.pool.arg_sets[args].decode("utf-8", "replace")) for args in slices.args[row].tolist()],
                strict=True,
            )
        )
        trace.release()


def _processes(data: TimelineData) -> list[str]:
    """What each track belongs to, outermost first; "" for one that belongs to nothing."""
    names = data.trace.tracks.text("name")
    return [" / ".join(names[at] for at in data.path(track)[:-1]) for track in range(len(names))]


def _known(values: Array) -> list[object]:
    return ["" if value == -1 or value != value else value for value in values.tolist()]


def _text(rows: Iterable[Iterable[object]]) -> str:
    file = io.StringIO()
    csv.writer(file).writerows(rows)
    return file.getvalue()
