"""The collective of one slice, with numbers worked out by hand."""

from __future__ import annotations

import pytest

from neuron_profile.analysis import slice_collective
from trace_format import CATEGORIES, TraceBuilder


def test_a_part_of_a_collective_has_the_bus_bandwidth_of_the_part_that_waited_least() -> None:
    builder = TraceBuilder()
    for rank, (start, dur) in enumerate(((0, 200_000), (100_000, 100_000))):
        track = builder.track("stream 7", kind="stream", pid=rank, device=rank, rank=rank)
        row = builder["slices"].append(
            1, track=track, ts_ns=start, dur_ns=dur, name=builder.string("ncclDevKernel_AllReduce"),
            category=CATEGORIES.index("collective"),
        )  # fmt: skip
        builder["collectives"].append(
            1, slice=row, op=builder.string("all_reduce"), in_bytes=1_000_000, out_bytes=1_000_000, seq=1,
            group=builder.string("world"), group_ranks=builder.string("[0, 1]"), rank=rank,
        )  # fmt: skip
    trace = builder.finish()
    (early,) = (row for row in range(2) if trace.slices.dur_ns[row] == 200_000)
    found = slice_collective(trace, early)
    assert found is not None
    assert (found.op, found.message_bytes, found.ranks) == ("all_reduce", 1_000_000, 2)
    assert (found.wait_ns, found.late_ns) == (100_000, 0)
    # 1 MB in 0.1 ms, times 2 x (2 - 1) / 2
    assert found.busbw_bytes_per_s == pytest.approx(10e9)


def test_a_slice_that_is_no_collective_has_none() -> None:
    builder = TraceBuilder()
    builder["slices"].append(1, track=builder.track("t", kind="host_thread"), ts_ns=0, dur_ns=1)
    assert slice_collective(builder.finish(), 0) is None
