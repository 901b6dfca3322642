"""Bytes moved: which slices count, what they sum to, and how they spread over time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from script import Script, untimed

from neuron_profile.analysis import bandwidth, bytes_moved, movers, records
from trace_format import Trace, TraceBuilder


def moved(script: Script) -> list[tuple[str, int, bool]]:
    frame = bytes_moved(script.trace())
    return list(zip(frame["name"], frame["bytes"].tolist(), frame["estimated"].tolist(), strict=True))


# mm of 2x3 and 3x5 floats: 6 + 15 read, 10 written
MM = ([2, 3], [3, 5])
MM_BYTES = (6 + 15 + 10) * 4


def test_an_operator_counts_by_its_shapes_and_is_marked_estimated() -> None:
    script = Script()
    host = script.track()
    script.op(host, "aten::mm", 0, 10, *MM)
    script.op(host, "aten::view", 20, 10, [2, 3])
    script.add(host, "aten::mm", "host_op", 40, 10)
    assert moved(script) == [("aten::mm", MM_BYTES, True)]


def test_an_operator_with_a_formula_counts_whole_and_what_it_calls_does_not() -> None:
    script = Script()
    host = script.track()
    script.op(host, "aten::linear", 0, 100, [2, 3], [5, 3], [5])
    script.op(host, "aten::t", 1, 2, [5, 3])
    script.op(host, "aten::addmm", 10, 80, [5], *MM)
    script.op(host, "aten::copy_", 20, 10, [2, 5], [2, 5])
    assert moved(script) == [("aten::addmm", MM_BYTES + 5 * 4, True)]


def test_an_operator_made_of_others_counts_where_none_of_them_was_recorded() -> None:
    script = Script()
    script.op(script.track(), "aten::linear", 0, 100, [2, 3], [5, 3])
    assert moved(script) == [("aten::linear", MM_BYTES, True)]


def test_operators_of_different_tracks_are_not_inside_each_other() -> None:
    script = Script()
    script.op(script.track("one"), "aten::mm", 0, 100, *MM)
    script.op(script.track("two"), "aten::mm", 10, 10, *MM)
    assert len(moved(script)) == 2


def test_a_record_is_taken_as_it_is() -> None:
    script = Script()
    script.add(script.stream(), "Memcpy HtoD", "memcpy", 0, 10, bytes=1234)
    assert moved(script) == [("Memcpy HtoD", 1234, False)]


def launching(script: Script, host: int, *, correlation: int) -> None:
    script.op(host, "aten::mm", 0, 50, *MM, external_id=77)
    script.add(host, "cudaLaunchKernel", "runtime", 10, 5, correlation=correlation)


def test_bytes_of_an_operator_move_while_its_kernels_run_by_their_durations() -> None:
    script = Script()
    host, device = script.track(), script.stream()
    script.op(host, "aten::mm", 0, 50, *MM)
    for number, (start, dur) in enumerate([(100, 10), (120, 20)], start=1):
        script.add(host, "cudaLaunchKernel", "runtime", 10 * number, 5, correlation=number)
        script.add(device, f"kernel{number}", "compute", start, dur, correlation=number)
    # 124 bytes by 10 to 20: 41 and 82, and the one that rounding left goes to the first
    assert moved(script) == [("aten::mm", 42, True), ("aten::mm", 82, True)]
    trace = script.trace()
    assert [trace.slices.text("name")[row] for row in bytes_moved(trace)["slice"]] == ["kernel1", "kernel2"]


def test_a_kernel_without_a_correlated_call_belongs_to_the_operator_of_its_external_id() -> None:
    script = Script()
    host, device = script.track(), script.stream()
    script.op(host, "aten::mm", 0, 50, *MM, external_id=77)
    script.add(device, "kernel", "compute", 100, 10, external_id=77)
    trace = script.trace()
    assert bytes_moved(trace)["slice"].tolist() == [trace.slices.text("name").index("kernel")]


def test_ids_are_compared_within_a_rank() -> None:
    script = Script()
    for rank in (0, 1):
        launching(script, script.track(f"rank {rank}", rank=rank), correlation=5)
    script.add(script.stream(rank=1), "kernel", "compute", 100, 10, correlation=5)
    frame = bytes_moved(script.trace())
    # rank 0's operator asked a device that was not recorded
    assert len(frame) == 1
    assert frame.attrs["unplaced_bytes"] == MM_BYTES


def test_a_record_of_what_an_operator_launched_replaces_its_estimate() -> None:
    script = Script()
    host, device = script.track(), script.stream()
    script.op(host, "aten::copy_", 0, 50, [10], [10])
    script.add(host, "cudaMemcpyAsync", "runtime", 10, 5, correlation=1)
    script.add(device, "Memcpy DtoD", "memcpy", 60, 5, correlation=1, bytes=40)
    assert moved(script) == [("Memcpy DtoD", 40, False)]


def test_bytes_whose_work_on_the_device_was_not_recorded_are_not_placed_on_the_host() -> None:
    script = Script()
    launching(script, script.track(), correlation=9)
    frame = bytes_moved(script.trace())
    assert len(frame) == 0
    assert frame.attrs == {"estimated_bytes": 0, "generic_bytes": 0, "unplaced_bytes": MM_BYTES, "implausible_bytes": 0}


def test_the_share_of_the_generic_rule_is_told() -> None:
    script = Script()
    host = script.track()
    script.op(host, "aten::mm", 0, 10, *MM)
    script.op(host, "custom::op", 20, 10, [5])
    attrs = bytes_moved(script.trace()).attrs
    assert attrs == {
        "estimated_bytes": MM_BYTES + 40, "generic_bytes": 40, "unplaced_bytes": 0, "implausible_bytes": 0,
    }  # fmt: skip


def test_what_no_memory_could_move_is_left_out_where_only_the_generic_rule_says_so() -> None:
    script = Script()
    host = script.track()
    # 8 GB in 10 ns, by the generic rule and by one of its own
    script.op(host, "cache::write_row", 0, 10, [10**9])
    script.op(host, "aten::relu", 20, 10, [10**9])
    frame = bytes_moved(script.trace())
    assert frame["name"].tolist() == ["aten::relu"]
    assert frame.attrs["implausible_bytes"] == 8 * 10**9


def test_the_known_peak_of_the_memory_is_the_limit_of_the_generic_rule() -> None:
    script = Script()
    host, device = script.track(), script.stream(device=0)
    for number, dur in ((1, 10_000), (2, 20_000)):
        script.op(host, "fbgemm::lookup", 100 * number, 50, [4_000_000], external_id=number)
        script.add(device, f"kernel{number}", "compute", 100_000 * number, dur, external_id=number)
    # 32 MB in 10 us are 3.2 TB/s, more than the 2.039 of an A100's memory; in 20 us they are 1.6
    frame = bytes_moved(script.trace(device_model="NVIDIA A100-SXM4-80GB"))
    assert (len(frame), frame.attrs["implausible_bytes"]) == (1, 32_000_000)


def test_a_trace_that_tells_of_no_bytes_gives_empty_frames() -> None:
    script = Script()
    script.add(script.track(), "aten::mm", "host_op", 0, 10)
    for trace in (TraceBuilder().finish(), script.trace()):
        assert list(bytes_moved(trace).columns) == ["slice", "name", "bytes", "estimated", "side"]
        assert list(movers(trace).columns) == [
            "name", "count", "bytes", "dur_ns", "bytes_per_s", "estimated_ratio", "side", "share_ratio",
        ]  # fmt: skip
        assert list(bandwidth(trace).columns) == ["start_ns", "end_ns", "side", "bytes_per_s", "estimated_ratio"]
        assert len(bytes_moved(trace)) == len(movers(trace)) == len(bandwidth(trace)) == 0


def copies() -> Script:
    """Three copies of 100, 300 and 600 bytes, taking 10, 10 and 20 ns, and an operator of 40 bytes on the host."""
    script = Script()
    host, device = script.track(), script.stream()
    for name, start, dur, nbytes in (("in", 0, 10, 100), ("in", 10, 10, 300), ("out", 20, 20, 600)):
        script.add(device, name, "memcpy", start, dur, bytes=nbytes)
    script.op(host, "aten::relu", 0, 8, [5])
    return script


def test_movers_are_ordered_by_bytes() -> None:
    assert [tuple(row.values()) for row in records(movers(copies().trace()))] == [
        ("out", 1, 600, 20, 30e9, 0.0, "device", 0.6),
        ("in", 2, 400, 20, 20e9, 0.0, "device", 0.4),
        ("aten::relu", 1, 40, 8, 5e9, 1.0, "host", 1.0),
    ]
    assert movers(copies().trace(), top=1)["name"].tolist() == ["out"]


def test_movers_are_a_share_of_all_that_their_side_moved() -> None:
    assert movers(copies().trace(), top=1)["share_ratio"].tolist() == [0.6]


def test_bytes_spread_evenly_over_the_duration() -> None:
    frame = bandwidth(copies().trace(), bins=4)
    # bins of 10 ns; the device: 100, 300, half of 600 and the other; the host: 40 in the first
    assert frame["start_ns"].tolist() == [0, 10, 20, 30] * 2
    assert frame["end_ns"].tolist() == [10, 20, 30, 40] * 2
    assert frame["side"].tolist() == ["device"] * 4 + ["host"] * 4
    assert frame["bytes_per_s"].tolist() == [10e9, 30e9, 30e9, 30e9, 4e9, 0, 0, 0]
    assert frame["estimated_ratio"].fillna(-1).tolist() == [0, 0, 0, 0, 1, -1, -1, -1]


def test_there_are_no_more_bins_than_nanoseconds() -> None:
    assert len(bandwidth(copies().trace(), bins=500)) == 2 * 40


def test_less_than_one_bin_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one bin, not 0"):
        bandwidth(copies().trace(), bins=0)


def test_bytes_of_a_slice_without_an_end_have_no_place_in_time() -> None:
    script = copies()
    script.add(script.stream("stream 8"), "stuck", "memcpy", 5, -1, bytes=7)
    assert bandwidth(script.trace()).attrs["unplaced_bytes"] == 7


@st.composite
def transfers(draw: st.DrawFn) -> Trace:
    script = Script()
    tracks = [script.track(), script.stream("a"), script.stream("b")]
    event = st.tuples(
        st.sampled_from(tracks), st.integers(0, 10**6), st.integers(0, 10**5), st.integers(0, 2**40)
    )  # fmt: skip
    for track, start, dur, nbytes in draw(st.lists(event, min_size=1, max_size=30)):
        script.add(track, "copy", "memcpy", start + 1_700_000_000_000_000_000, dur, bytes=nbytes)
    return script.trace()


@untimed
@given(transfers(), st.integers(1, 60))
def test_bandwidth_integrates_to_the_bytes(trace: Trace, bins: int) -> None:
    frame = bandwidth(trace, bins=bins)
    for side, tracks in (("device", [1, 2]), ("host", [0])):
        part = frame[frame["side"] == side]
        whole = int(trace.slices.bytes[np.isin(trace.slices.track, tracks)].sum())
        seconds = (part["end_ns"] - part["start_ns"]) / 1e9
        assert (part["bytes_per_s"] * seconds).sum() == pytest.approx(whole, rel=1e-9, abs=1e-3)
        assert (part["start_ns"].iloc[1:].to_numpy() == part["end_ns"].iloc[:-1].to_numpy()).all()


@untimed
@given(transfers(), st.integers(1, 12))
def test_each_bin_has_what_falls_into_it(trace: Trace, bins: int) -> None:
    frame = bandwidth(trace, bins=bins)
    slices = trace.slices
    for row in frame.to_dict("records"):
        expected = 0.0
        for track, start, dur, nbytes in zip(
            slices.track.tolist(), slices.ts_ns.tolist(), slices.dur_ns.tolist(), slices.bytes.tolist(), strict=True
        ):
            if (row["side"] == "host") == (track == 0):
                if dur == 0:
                    expected += nbytes * (row["start_ns"] <= start < row["end_ns"])
                else:
                    inside = max(0, min(start + dur, row["end_ns"]) - max(start, row["start_ns"]))
                    expected += nbytes * inside / dur
        got = row["bytes_per_s"] * (row["end_ns"] - row["start_ns"]) / 1e9
        assert got == pytest.approx(expected, rel=1e-6, abs=2**40 * 30 * 1e-9)


@untimed
@given(st.lists(st.tuples(st.integers(0, 2**50), st.lists(st.integers(-1, 1000), min_size=1, max_size=5)), max_size=5))
def test_sharing_out_loses_no_byte(owners: list[tuple[int, list[int]]]) -> None:
    from neuron_profile.analysis.bandwidth.movement import _share_out

    whole = np.array([nbytes for nbytes, _ in owners], np.int64)
    owner = np.array([i for i, (_, parts) in enumerate(owners) for _ in parts], np.int64)
    dur = np.array([d for _, parts in owners for d in parts], np.int64)
    shared: Any = pd.Series(_share_out(whole, owner, dur)).groupby(owner).sum()
    assert shared.tolist() == whole.tolist()
