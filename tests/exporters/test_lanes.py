"""Slices of one track go to the first line on which they nest."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from trace_format import TraceBuilder
from trace_format.exporters.lanes import lay_out


def naive(slices: list[tuple[int, int]], levels: int) -> list[int]:
    """The first lane for each slice in whose open slices, fewer than `levels`, it lies whole."""
    lanes: list[list[float]] = []
    out = []
    for start, duration in slices:
        end = float("inf") if duration < 0 else start + duration
        lanes = [[e for e in ends if e > start] for ends in lanes] + [[]]
        out.append(next(i for i, ends in enumerate(lanes) if not ends or (min(ends) >= end and len(ends) < levels)))
        lanes[out[-1]].append(end)
        lanes = lanes if lanes[-1] else lanes[:-1]
    return out


rows = st.lists(st.tuples(st.integers(0, 30), st.integers(-1, 20)), min_size=1, max_size=40)


@given(rows=rows, levels=st.integers(1, 4))
def test_each_slice_goes_to_the_first_lane_it_fits(rows: list[tuple[int, int]], levels: int) -> None:
    builder = TraceBuilder()
    builder["slices"].append(ts_ns=[ts for ts, _ in rows], dur_ns=[dur for _, dur in rows], track=builder.track("t"))
    slices = builder.finish().slices
    trace = builder.finish()
    lanes = lay_out(trace, levels=levels)
    numbers = [lanes.number[lane] for lane in lanes.slice_lane.tolist()]
    assert numbers == naive(list(zip(slices.ts_ns.tolist(), slices.dur_ns.tolist(), strict=True)), levels)
