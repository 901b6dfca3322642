"""When devices idle, transfers are small, cores are throttled, and something is compiled."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from neuron_runs import attention
from script import Script, untimed

from neuron_profile import analysis
from neuron_profile.analysis.over_time.bands import bands
from neuron_profile.analysis.over_time.warnings import MOST_BANDS

MS = 1_000_000


def training() -> Script:
    """Two steps of 100 ms; the device works [0, 50) and [51, 110) and [140, 200): idle for 1 ms, and for 30 ms.

    The last kernel was launched at 135 ms, 25 of the 30 ms after the device had become idle.
    """
    script = Script()
    main, stream = script.track(rank=0), script.stream(rank=0, device=2)
    script.add(main, "ProfilerStep#0", "annotation", 0, 100 * MS)
    script.add(main, "ProfilerStep#1", "annotation", 100 * MS, 100 * MS)
    for start, end in ((0, 30), (20, 50), (51, 110), (140, 200)):
        launched = {"correlation": start + 1}
        script.add(stream, f"kernel at {start}", "compute", start * MS, (end - start) * MS, **launched)
        script.add(main, "cudaLaunchKernel", "runtime", max(start - 5, 0) * MS, 1, **launched)
    return script


def test_a_gap_of_two_percent_of_the_median_step_is_told_and_a_shorter_one_is_not() -> None:
    trace = training().trace()
    frame = analysis.warnings_over_time(trace)
    (row,) = frame.to_dict("records")
    assert (row["kind"], row["start_ns"], row["end_ns"], row["count"]) == ("idle gap", 110 * MS, 140 * MS, 1)
    assert row["what"] == "device 2 idle for 30.0 ms, 30.0 % of a step"
    assert trace.pool.strings[int(trace.slices.name[row["slice"]])] == "kernel at 140"
    assert row["cause"] == "idle_host_ns"
    assert (row["bytes"], math.isnan(row["limit_ratio"])) == (-1, True)
    assert frame.attrs["least_idle_ns"] == 2 * MS  # of 100 ms
    assert frame.attrs["counts"] == {"idle gap": 1, "small DMA": 0, "throttling": 0, "compile stall": 0}


def test_a_compile_with_others_in_it_is_one_stall_named_by_the_longest() -> None:
    script = Script()
    main = script.track("torch.compile", kind="compile", rank=0)
    for name, start, dur in (("inner", 12, 5), ("forward 0/0", 10, 20), ("forward 0/1", 50, 4)):
        script.add(main, name, "compile", start * MS, dur * MS)
    rows = analysis.warnings_over_time(script.trace()).to_dict("records")
    assert [(row["what"], row["start_ns"], row["end_ns"], row["count"]) for row in rows] == [
        ("compiling for 20.0 ms: forward 0/0, and 1 more", 10 * MS, 30 * MS, 2),
        ("compiling for 4.00 ms: forward 0/1", 50 * MS, 54 * MS, 1),
    ]


def test_a_neuron_device_tells_of_its_throttled_core_and_of_its_small_packets() -> None:
    trace = attention().trace()
    frame = analysis.warnings_over_time(trace)
    throttled = frame[frame["kind"] == "throttling"]
    small = frame[frame["kind"] == "small DMA"]
    assert len(throttled)
    assert (throttled["limit_ratio"] < 1).all()
    counted = analysis.transfer_sizes(trace).small
    counted = counted[counted["direction"] == "dma_queue"]
    assert small["count"].sum() == counted["count"].sum()  # the analysis of transfers by size counts for itself
    assert small["bytes"].sum() == counted["bytes"].sum()


def test_too_many_gaps_become_the_bands_that_lie_farthest_apart() -> None:
    script = Script()
    stream = script.stream(rank=0, device=0)
    for number in range(2 * MOST_BANDS):
        script.add(stream, "kernel", "compute", number * 100, 1)
    script.add(script.track(rank=0), "ProfilerStep#0", "annotation", 0, 100)
    frame = analysis.warnings_over_time(script.trace())
    assert len(frame) == MOST_BANDS
    assert frame["count"].sum() == 2 * MOST_BANDS - 1


@untimed
@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(1, 9)), max_size=30), st.integers(1, 8), st.booleans()
)  # fmt: skip
def test_bands_hold_every_interval_once_and_lie_apart(items: list[tuple[int, int]], most: int, join: bool) -> None:
    start, dur = np.array(sorted(items), np.int64).reshape(-1, 2).T
    found = bands(start, start + dur, most=most, join=join)
    assert found.count.sum() == len(items)
    assert len(found.first) <= most
    for number, (first, count) in enumerate(zip(found.first.tolist(), found.count.tolist(), strict=True)):
        mine = slice(first, first + count)
        assert found.start_ns[number] == start[mine].min()
        assert found.end_ns[number] == (start + dur)[mine].max()
        assert dur[found.worst[number]] == dur[mine].max()
    if join:
        assert (found.start_ns[1:] > found.end_ns[:-1]).all()
