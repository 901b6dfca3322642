"""Which operators of a trace are simulated, when they begin, and that nothing measured changes."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from calls import BF16, number, tensor, time_of
from hypothesis import given
from hypothesis import strategies as st
from recorded import Host, simulated_slices

from neuron_profile import analysis
from neuron_profile.simulation import Settings, SimulationError, simulate
from trace_format import TRACK_KINDS, Trace
from trace_format.limits import LATEST_NS

RELU = tensor((512, 512))
RELU_NS = round(time_of("relu", RELU).ns)
FIXED, GAP, AFTER_SYNC = 10_000, 20_000, 130_000  # the defaults of the settings


def test_each_operator_outside_of_graphs_is_a_run_of_its_own_behind_the_host() -> None:
    host = Host()
    host.op("aten::relu", 0, 5, RELU)
    host.op("aten::relu", 6, 5, RELU)
    host.op("aten::relu", 500, 5, RELU)
    runs = simulated_slices(simulate(host.trace()), "Executions")
    lasts = FIXED + RELU_NS
    # the second waits for the first, the third for the host
    assert runs == [
        ("aten::relu", GAP, lasts), ("aten::relu", GAP + max(lasts, GAP), lasts), ("aten::relu", 500_000 + GAP, lasts)
    ]  # fmt: skip


def test_after_the_host_waited_the_gap_is_longer() -> None:
    host = Host()
    host.op("aten::relu", 0, 5, RELU)
    host.op("aten::item", 100, 20, tensor(()))
    host.op("aten::_local_scalar_dense", 101, 18, tensor(()))
    host.op("aten::relu", 1000, 5, RELU)
    host.op("aten::relu", 2000, 5, RELU)
    runs = simulated_slices(simulate(host.trace()), "Executions")
    assert [(name, start) for name, start, _ in runs] == [
        ("aten::relu", GAP), ("aten::_local_scalar_dense", 101_000 + GAP),
        ("aten::relu", 1_000_000 + AFTER_SYNC), ("aten::relu", 2_000_000 + GAP),
    ]  # fmt: skip


def test_the_outermost_operator_with_a_rule_counts_and_not_what_it_calls() -> None:
    host = Host()
    host.op("aten::cross_entropy_loss", 0, 100, tensor((64, 1000)))  # has none: what it calls counts
    host.op("aten::linear", 10, 50, tensor((64, 128)), tensor((128, 128)))
    host.op("aten::addmm", 20, 30, tensor((128,)), tensor((64, 128)), tensor((128, 128)))
    host.op("aten::view", 200, 5, tensor((64, 128)))
    runs = simulated_slices(simulate(host.trace()), "Executions")
    assert [name for name, _, _ in runs] == ["aten::linear"]


def test_an_operator_without_a_rule_takes_the_generic_one_and_is_counted() -> None:
    host = Host()
    host.op("aten::relu", 0, 5, RELU)
    host.op("aten::bincount_of_mine", 10, 100, RELU)
    host.op("my::kernel", 20, 50, RELU)  # called by the one before, which counts for both
    told = simulate(host.trace()).metadata["simulated"]
    # Vector goes over it as over two tensors, of which one is read
    generic = time_of("add", RELU, tensor((512, 512)), number("1")).ns - 582 - 128 / 16 * 8192 / 23
    assert told["generic_operators"] == ["aten::bincount_of_mine"]
    assert told["generic_share_ratio"] == pytest.approx(generic / (generic + time_of("relu", RELU).ns))


def test_numbers_that_an_optimizer_keeps_on_the_host_stay_there() -> None:
    host = Host()
    host.mark("Optimizer.step#AdamW.step", 0, 100)
    host.op("aten::add_", 10, 5, tensor(()), number("1"))
    host.op("aten::_local_scalar_dense", 20, 5, tensor(()))
    host.op("aten::mul_", 30, 5, RELU, number("0.9"))
    runs = simulated_slices(simulate(host.trace()), "Executions")
    assert [(name, start) for name, start, _ in runs] == [("aten::mul_", 30_000 + GAP)]


def test_a_graph_is_one_run_whose_elementwise_operators_melt() -> None:
    host = Host()
    factor = tensor((512, 512), BF16)
    host.op("Torch-Compiled Region: 0/0", 0, 100)
    host.op("CompiledFunction", 10, 80)
    host.op("aten::mm", 20, 10, factor, factor)
    host.op("aten::relu", 40, 10, factor)
    host.op("aten::_softmax", 60, 10, factor, number("-1"), number("False"))
    host.op("aten::relu", 200, 10, factor)
    trace = simulate(host.trace())
    outer = [run for run in simulated_slices(trace, "Executions") if run[0] in ("CompiledFunction", "aten::relu")]
    inner = [name for name, _, _ in simulated_slices(trace, "Executions") if "mm" in name]
    assert [name for name, _, _ in outer] == ["CompiledFunction", "aten::relu"]
    assert inner == ["aten::mm + aten::relu + aten::_softmax"]
    told = trace.metadata["simulated"]
    assert (told["mode"], told["neff_runs"], told["neffs"], told["graph_runs"]) == ("eager and compiled", 2, 2, 1)
    # what is handed on stays on the chip: of the graph only both factors in and one result out, of relu one each
    size = 512 * 512 * 2
    moved = trace.slices.bytes[trace.slices.bytes > 0]
    assert sorted(moved.tolist()) == [size, size, size, 2 * size]


def test_a_graph_break_keeps_what_is_between_two_graphs_eager() -> None:
    host = Host()
    host.op("Torch-Compiled Region: 0/0", 0, 100)
    host.op("CompiledFunction", 10, 20)
    host.op("aten::relu", 15, 5, RELU)
    host.op("aten::relu", 50, 5, RELU)
    host.op("Torch-Compiled Region: 1/0", 70, 20)
    host.op("CompiledFunction", 75, 10)
    host.op("aten::relu", 80, 4, RELU)
    told = simulate(host.trace()).metadata["simulated"]
    assert (told["neff_runs"], told["graph_runs"]) == (3, 2)


def test_a_region_of_a_backend_of_ones_own_is_a_graph() -> None:
    host = Host()
    host.op("Torch-Compiled Region: 0/0", 0, 100)
    host.op("aten::relu", 15, 5, RELU)
    host.op("aten::relu", 50, 5, RELU)
    told = simulate(host.trace()).metadata["simulated"]
    assert (told["mode"], told["neff_runs"]) == ("compiled", 1)


def test_the_same_call_has_the_same_key_whichever_thread_it_came_from() -> None:
    host = Host()
    host.op("aten::relu", 0, 5, RELU)
    other = {**json.loads(host.builder.pool.arg_sets[1]), "Fwd thread id": 1}
    host.builder["slices"].append(
        1, ts_ns=50_000, dur_ns=5000, track=host.track, name=host.builder.string("aten::relu"), category=1,
        args=host.builder.pool.arg_sets.id(json.dumps(other).encode()),
    )  # fmt: skip
    host.op("aten::relu", 100, 5, tensor((512, 256)))
    trace = simulate(host.trace())
    keys = [json.loads(text)["neff"] for text in trace.slices.to_pandas()["args"].astype(str) if "neff" in text]
    assert keys[0] == keys[1] != keys[2]


def test_only_its_own_rank_makes_an_operator_wait_longer() -> None:
    first = Host(rank=0)
    second = Host(first.builder, rank=1)
    second.op("aten::item", 0, 5, tensor(()))
    first.op("aten::relu", 10, 5, RELU)
    trace = simulate(first.trace())
    assert simulated_slices(trace, "Executions", rank=0)[0][1] == 10_000 + GAP


def test_a_graph_called_in_one_thread_is_whole_though_another_thread_works_meanwhile() -> None:
    host = Host()
    other = Host(host.builder)
    host.op("CompiledFunction", 10, 80)
    host.op("aten::relu", 20, 5, RELU)
    other.op("aten::exp", 30, 5, RELU)
    host.op("aten::relu", 40, 5, RELU)
    runs = simulated_slices(simulate(host.trace()), "Executions")
    assert [name for name, _, _ in runs] == ["CompiledFunction", "aten::relu + aten::relu", "aten::exp"]
    assert runs[0][1] == 10_000 + GAP


def test_shapes_that_no_machine_holds_are_left_out_and_counted() -> None:
    host = Host()
    host.op("aten::relu", 0, 5, RELU)
    host.op("aten::relu", 10, 5, tensor((2**40, 2**40)))
    host.op("aten::mm", 20, 5, tensor((2**25, 2**25)), tensor((2**25, 2**25)))
    told = simulate(host.trace()).metadata["simulated"]
    assert (told["operators"], told["operators_without_shapes"]) == (1, 2)


def test_operators_that_would_end_after_all_time_are_an_error_of_one_line() -> None:
    host = Host()
    square = tensor((2**15, 2**15))
    host.op("aten::mm", LATEST_NS / 1000 - 10**6, 1, square, square)  # a second before: it takes more
    with pytest.raises(SimulationError, match="longer than a trace can hold"):
        simulate(host.trace())


def test_each_rank_has_a_core_of_its_own() -> None:
    first = Host(rank=0)
    second = Host(first.builder, rank=1)
    first.op("aten::relu", 0, 5, RELU)
    second.op("aten::relu", 7, 5, RELU)
    trace = simulate(first.trace())
    starts = [simulated_slices(trace, "Executions", rank=rank)[0][1] for rank in (0, 1)]
    assert starts == [GAP, 7000 + GAP]


def test_collectives_go_on_a_lane_of_their_own_one_after_the_other() -> None:
    host = Host(rank=0)
    host.op("aten::relu", 0, 5, RELU)
    builder = host.builder
    rows = [host.op("c10d::allreduce_", start, 5) for start in (10, 12)]
    builder["collectives"].append(
        2, slice=rows, op=builder.string("all_reduce"), in_bytes=4_000_000, out_bytes=4_000_000,
        group_ranks=builder.string("[0, 1]"),
    )  # fmt: skip
    lane = simulated_slices(simulate(host.trace()), "Collectives", rank=0)
    # 20 us + 1 step of 1.5 us + 4 MB at 0.15 of a chip's 1024 GB/s
    lasts = int(20_000 + 1500 + 4_000_000 / (1024 * 0.15))
    computed = GAP + FIXED + RELU_NS  # what the host had asked for before
    assert lane == [("all_reduce", computed, lasts), ("all_reduce", computed + lasts, lasts)]


def test_every_simulated_track_says_so_in_its_name_and_the_metadata_says_what_was_assumed() -> None:
    host = Host()
    host.op("aten::relu", 0, 5, RELU)
    trace = simulate(host.trace(host="here"), Settings(generation="trn3", eager_gap_ns=1000))
    tracks = trace.tracks
    for name, simulated in zip(tracks.text("name"), tracks.simulated.tolist(), strict=True):
        assert simulated == name.endswith("(simulated)")
    told = trace.metadata["simulated"]
    assert trace.metadata["host"] == "here"
    assert {key: told[key] for key in ("generation", "lnc", "mode", "eager_gap_ns", "uncertainty")} == {
        "generation": "trn3", "lnc": 1, "mode": "eager", "eager_gap_ns": 1000, "uncertainty": "±2x",
    }  # fmt: skip


def test_flows_lead_from_operators_to_their_runs() -> None:
    host = Host()
    host.op("aten::relu", 0, 5, RELU)
    host.op("aten::abs", 10, 5, RELU)
    trace = simulate(host.trace())
    names, flows = trace.slices.text("name"), trace.flows
    assert flows.text("kind") == ["simulated", "simulated"]
    for cause, effect in zip(flows.from_slice.tolist(), flows.to_slice.tolist(), strict=True):
        assert names[cause] == names[effect]
        assert not trace.tracks.simulated[trace.slices.track[cause]]
        assert trace.tracks.simulated[trace.slices.track[effect]]


def test_the_run_of_a_graph_was_caused_by_its_call() -> None:
    host = Host()
    host.op("CompiledFunction", 0, 50)
    for start, name in ((10, "aten::relu"), (20, "aten::exp"), (30, "aten::topk")):
        host.op(name, start, 5, RELU)
    trace = simulate(host.trace())
    names, flows = trace.slices.text("name"), trace.flows
    assert [names[row] for row in (*flows.from_slice.tolist(), *flows.to_slice.tolist())] == ["CompiledFunction"] * 2


def test_what_was_measured_is_what_it_was() -> None:
    host = Host()
    host.mark("ProfilerStep#1", 0, 300)
    for start in (0, 50, 100):
        host.op("aten::mm", start, 40, tensor((64, 64)), tensor((64, 64)))
    trace = host.trace()
    simulated = simulate(trace)
    for function in (analysis.hotspots, analysis.time_by_category, analysis.bandwidth, analysis.bytes_moved):
        pd.testing.assert_frame_equal(function(trace), function(simulated))
        assert function(trace).attrs == function(simulated).attrs
    assert analysis.summarize(simulated).device.total is None


def test_a_trace_without_shapes_says_how_to_record_them() -> None:
    host = Host()
    host.op("aten::relu", 0, 5)
    with pytest.raises(SimulationError, match=r"^no operators with shapes \(1 without\).*record_shapes=True$"):
        simulate(host.trace())


def test_a_trace_is_not_simulated_twice() -> None:
    host = Host()
    host.op("aten::relu", 0, 5, RELU)
    with pytest.raises(SimulationError, match="already"):
        simulate(simulate(host.trace()))


OPERATORS = st.sampled_from(["relu", "exp", "neg", "_softmax", "sum", "mm", "add"])


def _call(name: str, rows: int, columns: int) -> list[dict[str, object]]:
    one = tensor((rows, columns))
    match name:
        case "mm":
            return [one, tensor((columns, rows))]
        case "add":
            return [one, one, number("1")]
        case "_softmax":
            return [one, number("-1"), number("False")]
        case _:
            return [one]


@given(OPERATORS, st.integers(1, 3000), st.integers(1, 3000))
def test_more_work_never_takes_less_time(name: str, rows: int, columns: int) -> None:
    less, more = (time_of(name, *_call(name, rows * times, columns)).ns for times in (1, 4))
    assert more >= less * 0.99  # a shape may fit the partitions a little better


@given(
    st.lists(
        st.tuples(OPERATORS, st.integers(1, 600), st.integers(1, 600), st.integers(0, 50)), min_size=1, max_size=12
    )
)
def test_nothing_overlaps_itself_on_an_engine_and_all_lies_in_its_run(ops: list[tuple[str, int, int, int]]) -> None:
    host, at = Host(), 0.0
    for name, rows, columns, gap in ops:
        host.op(f"aten::{name}", at, 10, *_call(name, rows, columns))
        at += 10 + gap
    trace = simulate(host.trace())
    _check_lines(trace)
    runs = simulated_slices(trace, "Executions")
    assert [name for name, _, _ in runs] == [f"aten::{name}" for name, *_ in ops]


def _check_lines(trace: Trace) -> None:
    tracks, slices = trace.tracks, trace.slices
    first, last = None, None
    for track in np.flatnonzero(tracks.simulated & np.isin(tracks.kind, [TRACK_KINDS.index("engine")])).tolist():
        mine = slices.track == track
        start, end = slices.ts_ns[mine], slices.ts_ns[mine] + slices.dur_ns[mine]
        assert (start[1:] >= end[:-1]).all()
        assert (slices.dur_ns[mine] > 0).all()
        first = min(first or int(start.min()), int(start.min())) if len(start) else first
        last = max(last or 0, int(end.max())) if len(end) else last
    runs = simulated_slices(trace, "Executions")
    assert first is None or first >= runs[0][1]
    assert last is None or last <= max(start + dur for _, start, dur in runs)
