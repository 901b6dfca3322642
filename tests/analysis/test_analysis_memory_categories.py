"""What allocated memory is for, and who holds it at the peak."""

from __future__ import annotations

import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st
from script import Script

from neuron_profile.analysis import MEMORY_CATEGORIES, memory_by_category, peak_holders
from neuron_profile.analysis.memory.allocations import allocations
from trace_format import Trace, TraceBuilder

BACKWARD = "autograd::engine::evaluate_function: "


def step(script: Script, track: int, start: int, **backward: int) -> None:
    """A training step of 100 ns: input 0-10, forward 10-40, backward 40-70 in two parts, optimizer 75-90, zero 90-95.

    `backward`: the thread of the backward pass, where it has one of its own.
    """
    thread = backward.get("thread", track)
    script.add(track, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "annotation", start, 10)
    script.op(track, "aten::linear", start + 10, 30, [2, 3])
    script.add(track, "aten::empty", "host_op", start + 11, 2)
    script.add(thread, f"{BACKWARD}MmBackward0", "host_op", start + 40, 14)
    script.add(thread, "aten::mm", "host_op", start + 41, 10)
    script.add(thread, f"{BACKWARD}torch::autograd::AccumulateGrad", "host_op", start + 56, 14)
    script.add(track, "Optimizer.step#SGD.step", "annotation", start + 75, 15)
    script.add(track, "aten::zeros_like", "host_op", start + 76, 4)
    script.add(track, "Optimizer.zero_grad#SGD.zero_grad", "annotation", start + 90, 5)


def allocate(script: Script, track: int, *events: tuple[int, int, int], device: str = "cpu") -> None:
    """Allocations and frees as (time, delta, address), without recorded totals."""
    ts, delta, address = zip(*events, strict=True)
    script.builder["memory"].append(
        ts_ns=ts, delta_bytes=delta, address=address, device=script.builder.string(device), track=track
    )


def categories(trace: Trace) -> dict[int, tuple[str, bool]]:
    """Category of each allocation, and whether it is deduced, by its bytes."""
    found = allocations(trace)
    sizes = trace.memory.delta_bytes[found.row].tolist()
    told = [MEMORY_CATEGORIES[number] for number in found.category.tolist()]
    return dict(zip(sizes, zip(told, found.is_deduced.tolist(), strict=True), strict=True))


LIVES = (
    (5, 1, 1), (105, -1, 1),  # from the data loader to the next step
    (6, 2, 2), (7, -2, 2),  # within the data loader
    (12, 4, 3), (43, -4, 3),  # forward to backward
    (13, 8, 4), (112, -8, 4),  # forward, over the backward pass, to the next step
    (14, 16, 5), (15, -16, 5),  # within forward
    (42, 32, 6), (58, -32, 6),  # within backward, from one operator to another
    (43, 64, 7), (92, -64, 7),  # backward to zero_grad
    (44, 128, 8),  # backward, and stays
    (77, 256, 9),  # optimizer, and stays
    (78, 512, 10), (79, -512, 10),  # within the optimizer
    (30, 1024, 11),  # forward, and stays
    (72, 2048, 12), (80, -2048, 12),  # between backward and optimizer, freed in that
)  # fmt: skip


def lives(script: Script, track: int) -> None:
    allocate(script, track, *sorted(LIVES))


EXPECTED = {
    1: "input", 2: "temporary", 4: "activation", 8: "activation", 16: "temporary", 32: "temporary", 64: "gradient",
    128: "gradient", 256: "optimizer_state", 512: "temporary", 1024: "unknown", 2048: "unknown",
}  # fmt: skip


def test_categories_follow_from_lifetimes_and_phases() -> None:
    script = Script()
    main = script.track()
    step(script, main, 0)
    step(script, main, 100)
    lives(script, main)
    assert categories(script.trace()) == {size: (name, name != "unknown") for size, name in EXPECTED.items()}


def test_a_backward_pass_on_a_thread_of_its_own_is_as_good() -> None:
    script = Script()
    main, other = script.track(tid=1), script.track("autograd", tid=2)
    step(script, main, 0, thread=other)
    step(script, main, 100, thread=other)
    in_backward = [(t, d, a) for t, d, a in sorted(LIVES) if 40 <= t < 70]
    allocate(script, main, *[event for event in sorted(LIVES) if event not in in_backward])
    allocate(script, other, *in_backward)
    assert {size: name for size, (name, _) in categories(script.trace()).items()} == EXPECTED


def test_an_optimizer_whose_closure_runs_the_backward_pass_begins_after_it() -> None:
    script = Script()
    main = script.track()
    script.add(main, "Optimizer.step#LBFGS.step", "annotation", 0, 100)
    script.op(main, "aten::linear", 10, 20, [2, 3])
    script.add(main, f"{BACKWARD}MmBackward0", "host_op", 40, 20)
    allocate(script, main, (12, 1, 1), (45, 2, 2), (50, -1, 1), (80, 4, 3))
    script.op(main, "aten::linear", 200, 5, [2, 3])
    told = {size: name for size, (name, _) in categories(script.trace()).items()}
    assert told == {1: "activation", 2: "gradient", 4: "optimizer_state"}


def test_two_backward_passes_with_a_forward_between_are_two() -> None:
    script = Script()
    main = script.track()
    for start in (0, 100):
        script.op(main, "aten::linear", start, 20, [2, 3])
        script.add(main, f"{BACKWARD}MmBackward0", "host_op", start + 30, 20)
    # made in the first pass, freed in the second: alive in between
    allocate(script, main, (35, 7, 1), (135, -7, 1))
    assert categories(script.trace()) == {7: ("gradient", True)}


def test_what_other_threads_and_processes_without_training_allocate_is_unknown() -> None:
    script = Script()
    main, pinning, server = script.track(tid=1), script.track("pin", tid=2), script.track(pid=9)
    step(script, main, 0)
    script.op(server, "aten::linear", 0, 50, [2, 3])
    allocate(script, pinning, (45, 1, 1))
    allocate(script, server, (5, 2, 2), (6, -2, 2))
    assert categories(script.trace()) == {1: ("unknown", False), 2: ("unknown", False)}


def test_a_recorded_category_is_taken_and_is_not_deduced() -> None:
    script = Script()
    main = script.track()
    step(script, main, 0)
    script.builder["memory"].append(
        ts_ns=[12], delta_bytes=[3], address=[1], track=main, category=script.builder.string("parameter")
    )
    assert categories(script.trace()) == {3: ("parameter", False)}


def columns(frame: pd.DataFrame) -> dict[str, list[int]]:
    """The columns of bytes that are not 0 throughout."""
    found = {name.removesuffix("_bytes"): frame[name].tolist() for name in frame if name.endswith("_bytes")}
    return {name: values for name, values in found.items() if any(values)}


def test_categories_add_up_to_the_recorded_total_at_every_moment() -> None:
    script = Script()
    main = script.track()
    step(script, main, 0)
    step(script, main, 100)
    device = script.builder.string("cuda:0")
    # 100 were there before: 60 parameters, 10 of them freed unseen at 50
    script.builder["memory"].append(
        ts_ns=[12, 43, 44, 50, 92], delta_bytes=[8, 4, -8, -10, -4], address=[1, 2, 1, 99, 2], track=main,
        device=device, total_bytes=[108, 112, 104, 94, 90],
    )  # fmt: skip
    frame = memory_by_category(script.trace(memory_held={"cuda:0": {"parameter": 60}}))
    assert columns(frame) == {
        "total": [108, 112, 104, 94, 90],
        "activation": [8, 8, 0, 0, 0],
        "gradient": [0, 4, 4, 4, 0],
        "parameter": [60, 60, 60, 60, 60],
        "unknown": [40, 40, 40, 30, 30],
    }
    assert frame.attrs == {"relative": [], "deduced": ["gradient", "activation"], "held_before": {}, "contradicted": []}


def test_what_a_cpu_held_before_the_window_is_told_beside_its_totals() -> None:
    script = Script()
    main = script.track()
    step(script, main, 0)
    builder = script.builder
    builder["memory"].append(
        ts_ns=[77], delta_bytes=[5], address=[1], track=main, device=builder.string("cpu"), total_bytes=[5],
        category=builder.string("optimizer_state"),
    )  # fmt: skip
    frame = memory_by_category(script.trace(memory_held={"cpu": {"parameter": 60, "optimizer_state": 12}}))
    assert columns(frame) == {"total": [5], "optimizer_state": [5]}
    assert frame.attrs["held_before"] == {"cpu": {"parameter": 60, "optimizer_state": 7}}


def test_memory_mapped_beside_the_allocator_is_in_the_cpus_total() -> None:
    script = Script()
    main = script.track()
    step(script, main, 0)
    # a batch of 50 from before the window is unmapped at 44; one of 70 is mapped at 13 and unmapped at 92
    script.builder["memory"].append(
        ts_ns=[12, 13, 43, 44, 45, 92], delta_bytes=[8, 70, 4, -50, -8, -70], address=[1, 900, 2, 800, 1, 900],
        track=main, device=script.builder.string("cpu"), total_bytes=[8, 0, 12, 0, 4, 0],
        reserved_bytes=[0, 70, 0, 0, 0, 0],
    )  # fmt: skip
    frame = memory_by_category(script.trace())
    assert frame["total_bytes"].tolist() == [58, 128, 132, 82, 74, 4]
    # the 8 are an activation, the 4 a gradient
    assert frame["unknown_bytes"].tolist()[:3] == [50, 50, 50]
    assert frame.attrs["contradicted"] == []
    assert frame.attrs["relative"] == ["cpu"]


def test_totals_below_what_is_allocated_leave_the_device_unknown() -> None:
    script = Script()
    main = script.track()
    step(script, main, 0)
    allocate(script, main, (12, 10, 1), (43, -10, 1))
    script.builder["memory"].append(
        ts_ns=[13, 44], delta_bytes=[4, -4], address=[7, 7], track=main, device=script.builder.string("cuda:0"),
        total_bytes=[3, 3],
    )  # fmt: skip
    frame = memory_by_category(script.trace())
    assert columns(frame[frame["device"] == "cuda:0"]) == {"total": [3, 3], "unknown": [3, 3]}
    assert columns(frame[frame["device"] == "cpu"]) == {"total": [10, 0], "activation": [10, 0]}
    assert frame.attrs["contradicted"] == ["cuda:0"]
    held = peak_holders(script.trace())
    assert held[held["device"] == "cuda:0"][["op", "bytes"]].values.tolist() == [["(before the window)", 3]]


def test_an_allocation_lasts_until_the_next_event_of_its_own_place_and_allocator() -> None:
    # places at both ends of what 64 bits hold, apart by one unit of 512 bytes and by more than 48 bits
    script = Script()
    track = script.track()
    low, next_to_it, high = 512, 1024, 2**64 - 512
    allocate(script, track, (0, 1, low), (1, 2, next_to_it), (2, 4, high), (3, -2, next_to_it), device="cuda:0")
    allocate(script, track, (4, 8, low), (5, -8, low), device="cuda:1")
    allocate(script, track, (6, -4, high), (7, -1, low), device="cuda:0")
    found = allocations(script.trace())
    assert found.row.tolist() == [0, 1, 2, 4]
    assert found.end_row.tolist() == [7, 3, 6, 5]


def test_allocations_without_a_place_are_unknown() -> None:
    script = Script()
    step(script, script.track(), 0)
    script.memory("cpu", (12, 5, 5), (43, -5, 0))
    assert columns(memory_by_category(script.trace())) == {"total": [5, 0], "unknown": [5, 0]}


def test_the_holders_of_the_peak_are_the_operators_that_made_what_is_alive() -> None:
    script = Script()
    main = script.track()
    step(script, main, 0)
    builder = script.builder
    # the peak is at 43: 6 of aten::linear (through aten::empty), 3 + 4 of aten::mm; 10 were there before
    builder["memory"].append(
        ts_ns=[12, 42, 43, 44, 50], delta_bytes=[6, 3, 4, -6, 9], address=[1, 2, 3, 1, 4], track=main,
        device=builder.string("cuda:0"), total_bytes=[16, 19, 23, 17, 20],
    )  # fmt: skip
    held = peak_holders(script.trace())
    assert list(held.columns) == [
        "device", "rank", "at_ns", "op", "module", "source", "category", "is_deduced", "count", "bytes", "share_ratio",
    ]  # fmt: skip
    assert held[["at_ns", "op", "category", "is_deduced", "count", "bytes"]].values.tolist() == [
        [43, "(before the window)", "unknown", False, 0, 10],
        [43, "aten::mm", "gradient", True, 2, 7],
        [43, "aten::linear", "activation", True, 1, 6],
    ]
    assert held["share_ratio"].tolist() == [10 / 23, 7 / 23, 6 / 23]
    assert len(peak_holders(script.trace(), top=1)) == 1


def test_holders_name_the_module_and_the_line_they_were_made_from() -> None:
    script = Script()
    main = script.track()
    script.add(main, "train.py(7): step", "python", 0, 100)
    script.add(main, "nn.Module: Linear_0", "python", 10, 50)
    script.op(main, "aten::linear", 20, 20, [2, 3])
    allocate(script, main, (25, 6, 1), (70, 1, 2))
    held = peak_holders(script.trace())
    assert held[["op", "module", "source", "bytes"]].values.tolist() == [
        ["aten::linear", "Linear_0", "train.py(7): step", 6],
        ["(no recorded operator)", "(outside any module)", "train.py(7): step", 1],
    ]


def test_ranks_have_peaks_of_their_own() -> None:
    script = Script()
    for rank in (0, 1):
        track = script.track(f"rank {rank}", rank=rank)
        allocate(script, track, (rank, 10 + rank, 5), device="cuda:0")
    held = peak_holders(script.trace())
    assert held[["rank", "device", "bytes"]].values.tolist() == [[0, "cuda:0", 10], [1, "cuda:0", 11]]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 250), st.integers(-50, 50), st.integers(0, 4), st.booleans(), st.integers(-1, 300)),
        max_size=40,
    )
)
def test_whatever_the_events_are_the_categories_add_up(events: list[tuple[int, int, int, bool, int]]) -> None:
    script = Script()
    main = script.track()
    step(script, main, 0)
    step(script, main, 100)
    for ts, delta, address, on_cpu, total in events:
        script.builder["memory"].append(
            ts_ns=[ts], delta_bytes=[delta], address=[address], track=main, total_bytes=[total],
            device=script.builder.string("cpu" if on_cpu else "cuda:0"),
        )  # fmt: skip
    trace = script.trace(memory_held={"cpu": {"parameter": 9}, "cuda:0": {"gradient": 3, "unknown": "x"}})
    frame = memory_by_category(trace)
    parts = frame[[f"{category}_bytes" for category in MEMORY_CATEGORIES]]
    assert (parts.sum(axis=1) == frame["total_bytes"]).all()
    assert (parts.drop(columns="unknown_bytes") >= 0).all(axis=None)
    held = peak_holders(trace)
    for (_, device), of_device in frame.groupby(["rank", "device"]):
        assert held.loc[held["device"] == device, "bytes"].sum() == max(of_device["total_bytes"].max(), 0)


def test_a_trace_without_memory_events_gives_empty_frames() -> None:
    trace = TraceBuilder().finish()
    assert len(memory_by_category(trace)) == 0
    assert list(memory_by_category(trace))[:4] == ["ts_ns", "device", "rank", "total_bytes"]
    assert len(peak_holders(trace)) == 0
