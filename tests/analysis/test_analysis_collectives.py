"""What collectives cost, worked out by hand, and on real traces."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from collective_script import Ranks
from hypothesis import given, settings
from hypothesis import strategies as st
from script import Script
from trace_strategies import traces

from neuron_profile import analysis, load
from neuron_profile.analysis.collectives.kernel_names import op_of_kernel
from neuron_profile.analysis.collectives.message import bus_factor
from neuron_profile.analysis.collectives.table import COLUMNS
from trace_format import Trace, TraceBuilder

MS = 1_000_000


def only(trace: Trace) -> dict[str, Any]:
    """The one row of the table."""
    frame = analysis.collectives(trace)
    assert len(frame) == 1
    return dict(frame.iloc[0])


@pytest.mark.parametrize(
    ("op", "in_bytes", "out_bytes", "message", "factor"),
    [
        # nccl-tests, doc/PERFORMANCE.md, for n = 4; S is the whole array
        ("all_reduce", 4000, 4000, 4000, 2 * 3 / 4),
        ("reduce_scatter", 4000, 1000, 4000, 3 / 4),
        ("all_gather", 1000, 4000, 4000, 3 / 4),
        ("all_to_all", 4000, 4000, 4000, 3 / 4),
        ("broadcast", 4000, 4000, 4000, 1),
        ("reduce", 4000, 4000, 4000, 1),
        ("gather", 1000, 4000, 4000, 3 / 4),  # the root
        ("gather", 1000, 0, 4000, 3 / 4),  # another rank
        ("scatter", 4000, 1000, 4000, 3 / 4),
        ("scatter", 0, 1000, 4000, 3 / 4),
        ("send", 4000, 0, 4000, 1),
        ("recv", 0, 4000, 4000, 1),
    ],
)
def test_bandwidths_are_those_of_nccl_tests(
    op: str, in_bytes: int, out_bytes: int, message: int, factor: float
) -> None:
    script = Ranks(1)
    script.collective(0, 0, 1000, op=op, nbytes=0, members=[0, 1, 2, 3])
    script.builder["collectives"].append(  # the same again, with sizes as given
        1, slice=script.add(script.lanes[0], op, "collective", 2000, 1000), op=script.builder.string(op),
        in_bytes=in_bytes, out_bytes=out_bytes, group_ranks=script.builder.string("[0, 1, 2, 3]"),
    )  # fmt: skip
    frame = analysis.collectives(script.trace())
    row = frame[frame["message_bytes"] == message].iloc[0]
    assert row["ranks"] == 4
    assert row["algbw_bytes_per_s"] == message * 1e6  # in 1000 ns
    assert row["busbw_bytes_per_s"] == pytest.approx(message * 1e6 * factor)


def test_an_operation_without_a_factor_has_no_bus_bandwidth() -> None:
    assert math.isnan(bus_factor("all_magic", 4))
    assert math.isnan(bus_factor("all_reduce", -1))


def test_a_barrier_moves_nothing_and_has_no_bandwidth() -> None:
    script = Ranks(2)
    for rank in range(2):
        script.collective(rank, 0, 500, op="barrier", nbytes=0)
    row = only(script.job())
    assert row["message_bytes"] == 0
    assert math.isnan(row["algbw_bytes_per_s"])


def test_the_latency_is_that_of_the_rank_that_came_last() -> None:
    script = Ranks(2)
    # rank 1 comes 300 and 100 later than rank 0
    for seq, (start, late, end) in enumerate([(0, 300, 500), (1000, 1100, 1200)]):
        script.collective(0, start, end, seq=seq)
        script.collective(1, late, end, seq=seq)
    row = only(script.job())
    assert (row["count"], row["spans"], row["total_ns"]) == (2, 4, 500 + 200 + 200 + 100)
    assert row["latency_ns"] == 150  # of 200 and 100
    assert row["wait_ns"] == 300 + 100
    assert row["algbw_bytes_per_s"] == pytest.approx(1000 / 150e-9)


def test_without_the_other_ranks_nobody_knows_who_waits() -> None:
    script = Ranks(2)
    script.collective(0, 0, 500)
    row = only(script.job())
    assert math.isnan(row["wait_ns"])
    assert row["latency_ns"] == 500


def test_what_lies_under_compute_of_the_same_device_is_not_exposed() -> None:
    script = Ranks(2)
    script.collective(0, 100, 200, members=[0])
    script.work(0, 0, 130)
    script.work(0, 190, 300)
    script.work(1, 0, 300)  # another device
    row = only(script.job())
    assert row["exposed_ns"] == 60
    assert row["overlap_ratio"] == pytest.approx(0.4)
    overlap = analysis.collective_overlap(script.job())
    assert overlap.to_numpy().tolist() == [[0, 0, 100, 60, 0.4]]


def test_on_a_host_that_computes_itself_operators_hide_a_collective_and_waiting_for_it_does_not() -> None:
    script = Script()
    main, worker = script.track("python"), script.track("gloo worker")
    span = script.add(worker, "gloo:all_reduce", "annotation", 100, 100)
    script.builder["collectives"].append(1, slice=span, op=script.builder.string("all_reduce"))
    script.add(main, "aten::mm", "host_op", 90, 30)  # 20 of it inside
    script.add(main, "_c10d_functional::wait_tensor", "host_op", 130, 70)
    assert only(script.trace())["exposed_ns"] == 80


def test_a_call_on_the_host_has_the_time_of_the_kernels_launched_in_it() -> None:
    script = Ranks(1)
    call = script.host(0, "c10d::allreduce_", 0, 50)
    for number, (start, end) in enumerate([(100, 150), (160, 200)], 1):
        script.add(script.threads[0], "cudaLaunchKernel", "runtime", number * 10, 5, correlation=number)
        script.add(script.lanes[0], "ncclKernel", "collective", start, end - start, correlation=number)
    string = script.builder.string
    script.builder["collectives"].append(1, slice=call, op=string("all_reduce"), source=string("c10d"), in_bytes=8)
    row = only(script.trace())
    assert (row["total_ns"], row["spans"], row["source"]) == (100, 1, "c10d")
    assert row["exposed_ns"] == 50 + 40  # nothing ran between the two kernels


def test_a_call_whose_work_was_not_recorded_has_no_time() -> None:
    script = Ranks(1)
    call = script.host(0, "c10d::allreduce_", 0, 50)
    string = script.builder.string
    script.builder["collectives"].append(1, slice=call, op=string("all_reduce"), source=string("c10d"), in_bytes=8)
    trace = script.trace()
    row = only(trace)
    assert (row["count"], row["message_bytes"]) == (1, 8)
    assert all(math.isnan(row[name]) for name in ("total_ns", "median_ns", "exposed_ns", "algbw_bytes_per_s"))
    assert analysis.collectives(trace).attrs["timed_spans"] == 0
    assert len(analysis.collective_overlap(trace)) == 0


def test_a_kernel_that_nothing_tells_of_is_a_collective_by_its_name() -> None:
    script = Ranks(1)
    script.add(script.lanes[0], "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "collective", 0, 9)
    row = only(script.trace())
    assert (row["op"], row["message_bytes"], row["source"]) == ("all_gather", -1, "kernel name")


@pytest.mark.parametrize(
    ("name", "op"),
    [
        ("ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)", "all_reduce"),
        ("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "reduce_scatter"),
        ("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)", "send_recv"),
        ("ncclDevKernel_Reduce_Sum_f32_RING_LL", "reduce"),
        ("ncclDevKernel_Generic_4(ncclDevKernelArgs)", "collective"),
        ("void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*", "all_reduce"),
        ("multimem_all_gather_kernel", "all_gather"),
        ("multimem_one_shot_reduce_kernel<float>", "reduce"),
        ("void vllm::cross_device_reduce_2stage<__half, 4>(vllm::RankData*", "all_reduce"),
        ("void deep_ep::intranode::combine<nv_bfloat16, 8>(", "collective"),
    ],
)
def test_names_of_collective_kernels(name: str, op: str) -> None:
    assert op_of_kernel(name) == op


def test_a_group_that_is_not_recorded_is_the_whole_job_unless_the_sizes_say_otherwise() -> None:
    script = Ranks(1)
    string = script.builder.string
    for start, op, sizes in ((0, "all_reduce", (64, 64)), (100, "reduce_scatter", (80, 10))):
        row = script.add(script.lanes[0], op, "collective", start, 10)
        script.builder["collectives"].append(1, slice=row, op=string(op), in_bytes=sizes[0], out_bytes=sizes[1])
    frame = analysis.collectives(script.trace(world_size=16))
    assert dict(zip(frame["op"], frame["ranks"], strict=True)) == {"all_reduce": 16, "reduce_scatter": 8}
    assert frame.attrs["ranks_assumed"] == 1


def test_far_more_than_usual_is_an_outlier_if_it_is_worth_a_look() -> None:
    script = Ranks(1)
    # durations 1.00 to 1.04 ms: median 1.02, MAD 0.01 -> above 1.02 + max(0.074, 0.1) ms
    for number, dur in enumerate([1_000_000, 1_010_000, 1_020_000, 1_030_000, 1_040_000, 1_121_000, 1_000_000]):
        script.collective(0, number * 10 * MS, number * 10 * MS + dur, members=[0])
    row = only(script.trace())
    # sorted: 1.00 1.00 1.01 1.02 1.03 1.04 1.121; distances from 1.02: .02 .02 .01 0 .01 .02 .101 -> MAD 0.02
    assert row["outlier_above_ns"] == pytest.approx(1_020_000 + 5 * 1.4826 * 20_000)
    assert row["outliers"] == 0
    script.collective(0, 100 * MS, 105 * MS, members=[0])
    row = only(script.trace())
    assert row["outliers"] == 1
    assert row["max_ns"] == 5 * MS


def test_few_collectives_show_nothing_unusual() -> None:
    script = Ranks(1)
    for number, dur in enumerate([1, 1, 1, 50 * MS]):
        script.collective(0, number * 100 * MS, number * 100 * MS + dur, members=[0])
    row = only(script.trace())
    assert row["outliers"] == 0
    assert math.isnan(row["outlier_above_ns"])


def test_the_share_of_the_link_is_known_for_neuron_devices() -> None:
    script = Ranks(1)
    script.collective(0, 0, 1000, nbytes=32_000, members=list(range(32)))
    row = only(script.trace(device_model="trn1.32xlarge"))
    # NeuronLink-v2: 384 GB/s a chip, half of it one way; 32 cores of 2 to a chip fill the 16 chips of one instance
    assert row["link_bytes_per_s"] == 192e9
    assert row["link_ratio"] == pytest.approx(32e9 * 2 * 31 / 32 / 192e9)
    other = only(script.trace(device_model="Tesla V100"))
    assert math.isnan(other["link_ratio"])


def test_beyond_an_instance_the_slower_network_is_the_link() -> None:
    script = Ranks(1)
    script.collective(0, 0, 1000, nbytes=32_000, members=list(range(64)))
    assert only(script.trace(device_model="trn1"))["link_bytes_per_s"] == 100e9  # 800 Gb/s of EFA


def test_simulated_collectives_are_not_among_the_measured() -> None:
    script = Ranks(1)
    lane = script.track("Collectives (simulated)", kind="collective", simulated=1)
    script.collective(0, 0, 100, track=lane)
    assert len(analysis.collectives(script.trace())) == 0


def test_a_trace_without_collectives_has_the_same_columns() -> None:
    frame = analysis.collectives(TraceBuilder().finish())
    assert tuple(frame) == COLUMNS
    assert len(frame) == 0


SPAN = st.tuples(
    st.integers(0, 300), st.integers(1, 80), st.integers(0, 1), st.sampled_from(["all_reduce", "broadcast"])
)


@given(st.lists(SPAN, max_size=10), st.lists(st.tuples(st.integers(0, 300), st.integers(1, 80)), max_size=8))
def test_what_is_hidden_is_no_more_than_the_collectives_or_the_compute(
    spans: list[Any], work: list[tuple[int, int]]
) -> None:
    script = Ranks(2)
    for start, length, rank, op in spans:
        script.collective(rank, start, start + length, op=op)
    for start, length in work:
        script.work(0, start, start + length)
        script.work(1, start, start + length)
    trace = script.job()
    frame = analysis.collectives(trace)
    assert (frame["exposed_ns"] >= 0).all()
    assert (frame["exposed_ns"] <= frame["total_ns"]).all()
    assert (frame["wait_ns"].fillna(0) <= frame["total_ns"]).all()
    computed = np.zeros(400, bool)
    for start, length in work:
        computed[start : start + length] = True
    for rank, device, collective, exposed, _ in analysis.collective_overlap(trace).to_numpy().tolist():
        assert rank == device
        busy = np.zeros(400, bool)
        for start, length, on, _ in spans:
            if on == rank:
                busy[start : start + length] = True
        assert collective == busy.sum()
        assert exposed == (busy & ~computed).sum()
        assert collective - exposed <= min(collective, computed.sum())


JOB = "kineto_multirank"


def kernels_of(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Collective and compute kernels of a Kineto file as rows (start, end) in whole microseconds."""
    events = json.loads(path.read_text())["traceEvents"]
    kernels = [e for e in events if e.get("ph") == "X" and e.get("cat") == "kernel"]
    rows = np.array([[e["ts"], e["ts"] + e["dur"], "nccl" in e["name"]] for e in kernels], np.int64)
    return rows[rows[:, 2] == 1, :2], rows[rows[:, 2] == 0, :2]


def test_the_overlap_of_a_real_job_is_htas(corpus: Path) -> None:
    """HTA's definition, worked out here in microseconds: overlap of merged compute and collectives / collectives."""
    overlap = analysis.collective_overlap(load(corpus / JOB)).set_index("rank")
    paths = sorted((corpus / JOB).iterdir())
    assert len(paths) == len(overlap) == 8
    for rank, path in enumerate(paths):
        collectives, compute = kernels_of(path)
        first = int(min(collectives.min(), compute.min()))
        on = np.zeros((2, int(max(collectives.max(), compute.max())) - first), bool)
        for line, rows in enumerate((collectives, compute)):
            for start, end in (rows - first).tolist():
                on[line, start:end] = True
        assert overlap.loc[rank, "collective_ns"] == on[0].sum() * 1000
        assert overlap.loc[rank, "overlap_ratio"] == pytest.approx((on[0] & on[1]).sum() / on[0].sum())


def test_the_collectives_of_a_real_job_are_its_nccl_kernels(corpus: Path) -> None:
    frame = analysis.collectives(load(corpus / JOB))
    starts, durations = [], []
    for path in sorted((corpus / JOB).iterdir()):
        collectives, _ = kernels_of(path)
        collectives = collectives[np.argsort(collectives[:, 0])]
        starts.append(collectives[:, 0])
        durations.append(collectives[:, 1] - collectives[:, 0])
    assert frame["spans"].sum() == 64
    assert frame["count"].sum() == 8
    assert frame["total_ns"].sum() == int(np.concatenate(durations).sum()) * 1000
    # 8 collectives in one order on every rank; the clocks are within 2 us, as their ends show
    late = np.max(starts, axis=0) - np.stack(starts)
    assert frame["wait_ns"].sum() == pytest.approx(late.sum() * 1000, abs=64 * 2000)
    by_op = frame.groupby("op")["count"].sum().to_dict()
    assert by_op == {"all_to_all": 5, "all_reduce": 3}


@settings(max_examples=30)  # a trace of everything takes its time
@given(traces(max_rows=6))
def test_whatever_a_trace_holds_its_collectives_are_looked_at(trace: Trace) -> None:
    analysis.collectives(trace)
    overlap = analysis.collective_overlap(trace)
    assert (overlap["exposed_ns"] <= overlap["collective_ns"]).all()
    analysis.collective_skew(trace).to_dict()
    analysis.simulated_breakdown(trace)
