"""The same pictures as `explorer_app.lod` makes, slice by slice in plain Python."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

from hypothesis import strategies as st

from trace_format import Trace, TraceBuilder


class Block(NamedTuple):
    lane: tuple[int, int]  # track, depth
    start_ns: int
    end_ns: int
    busy_ns: int
    count: int
    row: int


def naive_blocks(trace: Trace, shift: int) -> list[Block]:
    """All blocks of a trace on a grid of 2**shift ns, by lane and start."""
    whole = trace.time_range_ns
    lanes: dict[tuple[int, int], list[tuple[int, int, int]]] = defaultdict(list)
    for row in range(len(trace.slices)):
        start, duration = int(trace.slices.ts_ns[row]), int(trace.slices.dur_ns[row])
        assert whole is not None
        end = whole[1] if duration < 0 else start + duration
        lanes[int(trace.slices.track[row]), int(trace.slices.depth[row])].append((start, end, row))
    out = []
    for lane in sorted(lanes):
        cell_of_last: int | None = None
        for start, end, row in lanes[lane]:
            short = end - start < 1 << shift
            cell = start >> shift
            if short and cell == cell_of_last:
                last = out[-1]
                longer = end - start > _length(trace, last.row)
                out[-1] = Block(
                    lane, last.start_ns, end, last.busy_ns + end - start, last.count + 1, row if longer else last.row
                )
            else:
                out.append(Block(lane, start, end, end - start, 1, row))
            cell_of_last = cell if short else None
    return out


def _length(trace: Trace, row: int) -> int:
    duration = int(trace.slices.dur_ns[row])
    whole = trace.time_range_ns
    assert whole is not None
    return duration if duration >= 0 else whole[1] - int(trace.slices.ts_ns[row])


@st.composite
def traces(draw: Any) -> Trace:
    """Small traces: several tracks, nested, overlapping, empty and unfinished slices."""
    builder = TraceBuilder()
    for number in range(draw(st.integers(1, 3))):
        builder.track(f"track {number}", kind="host_thread")
    base = draw(st.sampled_from([0, -1000, 1_700_000_000_000_000_000]))
    rows = draw(
        st.lists(
            st.tuples(
                st.integers(0, builder["tracks"].rows - 1), st.integers(0, 3000), st.integers(-1, 40) | st.just(900)
            ),
            max_size=60,
        )
    )
    for track, start, duration in rows:
        builder["slices"].append(1, track=track, ts_ns=base + start, dur_ns=duration, name=builder.string("op"))
    return builder.finish()
