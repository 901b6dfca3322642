"""A slice among those of its operation, and the same slice on other ranks."""

from __future__ import annotations

import math

from script import Script

from neuron_profile import analysis


def test_a_slice_stands_among_all_that_have_its_name() -> None:
    script = Script()
    stream = script.stream(device=0)
    for number, dur in enumerate((10, 30, 20, 20, 60)):
        script.add(stream, "gemm", "compute", number * 100, dur)
    script.add(stream, "gemm", "compute", 900, -1)
    script.add(stream, "copy", "memcpy", 600, 7)
    script.add(script.track(), "gemm", "compute", 0, 500)  # of the host: another thing
    trace = script.trace()
    row = next(i for i in range(len(trace.slices)) if trace.slices.dur_ns[i] == 30)
    found = analysis.duration_distribution(trace, row)
    assert (found.count, found.unfinished, found.shorter, found.equal) == (5, 1, 3, 1)
    assert found.longer_than_ratio == 3 / 4  # of the four others
    assert (found.least_ns, found.median_ns, found.most_ns) == (10, 20, 60)
    # round(2 x sqrt(5)) = 4 bins of 12.5 ns from 10: 10, 20 and 20; 30; none; 60
    assert (found.counts.tolist(), found.bin, found.is_log) == ([3, 1, 0, 1], 1, False)
    assert trace.slices.dur_ns[[found.shortest, found.longest]].tolist() == [10, 60]


def test_one_call_alone_is_longer_than_no_share_of_others() -> None:
    script = Script()
    script.add(script.stream(), "gemm", "compute", 0, 5)
    found = analysis.duration_distribution(script.trace(), 0)
    assert (found.count, found.bin, found.counts.tolist()) == (1, 0, [1])
    assert math.isnan(found.longer_than_ratio)


def test_durations_that_differ_by_magnitudes_are_binned_by_ratio() -> None:
    script = Script()
    stream = script.stream()
    for number, dur in enumerate((1, 10, 100, 1000)):
        script.add(stream, "gemm", "compute", number * 10_000, dur)
    found = analysis.duration_distribution(script.trace(), 2)
    assert found.is_log
    # round(2 x sqrt(4)) = 4 bins of a factor of 1000^(1/4) = 5.6: to 5.6, 31.6, 178, 1000
    assert (found.counts.tolist(), found.bin) == ([1, 1, 1, 1], 2)


def ranks() -> Script:
    """Two ranks of two steps; in each step all_reduce twice, on rank 1 by 3 ns later and 10 ns longer."""
    script = Script()
    for rank in (0, 1):
        main, stream = script.track(rank=rank), script.stream(rank=rank, device=rank)
        for step in (0, 1):
            at = 1000 * step
            script.add(main, f"ProfilerStep#{step}", "annotation", at, 1000)
            script.add(stream, "all_reduce", "collective", at + 100 + 3 * rank, 50 + 10 * rank)
            script.add(stream, "all_reduce", "collective", at + 300 + 3 * rank, 60 + 10 * rank)
    return script


def test_the_same_slice_of_each_rank_is_the_same_number_of_the_same_step() -> None:
    trace = ranks().trace()
    row = next(i for i in range(len(trace.slices)) if trace.slices.ts_ns[i] == 1300)
    frame = analysis.same_on_ranks(trace, row)
    assert frame["rank"].tolist() == [0, 1]
    assert frame["ts_ns"].tolist() == [1300, 1303]
    assert frame["dur_ns"].tolist() == [60, 70]
    assert frame["skew_ns"].tolist() == [0, 3]
    assert frame["in_step"].tolist() == [2, 2]
    assert frame.attrs == {"step": 1, "number": 1, "ranks": 2}


def test_a_trace_of_one_rank_has_no_others() -> None:
    script = Script()
    script.add(script.stream(rank=0), "gemm", "compute", 0, 5)
    assert len(analysis.same_on_ranks(script.trace(), 0)) == 0


def test_a_slice_outside_of_all_steps_has_no_others() -> None:
    script = ranks()
    script.add(script.track("late", rank=0), "aten::mm", "host_op", 5000, 10)
    trace = script.trace()
    row = next(i for i in range(len(trace.slices)) if trace.slices.ts_ns[i] == 5000)
    assert len(analysis.same_on_ranks(trace, row)) == 0
