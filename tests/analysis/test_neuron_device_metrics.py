"""AWS's metrics of a run from its records; `neuron_runs.attention` has the rows that the numbers follow from."""

from __future__ import annotations

import dataclasses
import itertools
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from neuron_runs import US, Profile, attention

from neuron_profile import analysis
from neuron_profile.analysis.intervals import covered, merged, union_length
from neuron_profile.analysis.neuron_device import (
    device_metrics,
    dma_queues,
    engine_utilisation,
    over_time,
    runs_of,
    waiting_instructions,
)
from neuron_profile.analysis.records import plain
from trace_format import Trace, TraceBuilder

PEAK = 128 * 128 * 2 * 2.4e9  # of a core of trn2: rows x columns x 2 x clock
HBM = 716e9


def values(trace: Trace) -> dict[str, Any]:
    found = device_metrics(trace).total
    assert found is not None
    return dict(found.values)


EXPECTED = {
    "total_time": 10e-6,
    "tensor_engine_instruction_count": 4, "tensor_engine_active_time": 4.5e-6, "tensor_engine_instruction_time": 6e-6,
    "tensor_engine_active_time_percent": 0.45, "tensor_engine_waiting_time": 3e-6, "vector_engine_waiting_time": 2e-6,
    "vector_engine_instruction_count": 2, "vector_engine_active_time": 2e-6, "vector_engine_instruction_time": 2e-6,
    "scalar_engine_instruction_count": 0, "scalar_engine_active_time": 0, "scalar_engine_active_time_percent": 0,
    "gpsimd_engine_instruction_count": 2, "gpsimd_engine_active_time": 0.2e-6,
    "sync_engine_instruction_count": 0, "sync_engine_instruction_time": 0,
    "matmul_instruction_count": 3,
    # Tensor [0, 4.5), DMA [4.5, 5.5), Vector [6, 7), DMA [8, 8.25)
    "total_active_time": 6.75e-6, "total_active_time_percent": 0.675,
    "dma_active_time": 2.25e-6, "dma_packet_time": 2.35e-6, "dma_active_time_percent": 0.225,
    "hardware_dynamic_dma_active_time": 1e-6, "hardware_dynamic_dma_packet_count": 2,
    "hardware_dynamic_dma_size": 65536, "hardware_dynamic_dma_active_time_percent": 1 / 2.25,
    "hardware_dynamic_dma_packet_percent": 2 / 4, "hardware_dynamic_dma_size_percent": 65536 / 99328,
    "software_dynamic_dma_active_time": 1e-6, "software_dynamic_dma_active_time_percent": 1 / 2.25,
    "static_dma_active_time": 0.25e-6, "static_dma_packet_count": 1, "static_dma_size": 1024,
    "static_dma_active_time_percent": 0.25 / 2.25,
    "dynamic_dma_active_time_percent": 2 / 2.25, "dynamic_dma_packet_percent": 3 / 4,
    "hbm_read_bytes": 65536, "hbm_write_bytes": 32768,
    "hardware_flops": 12e6, "transpose_flops": 4e6,
    "hfu_estimated_percent": 12e6 / (2 * PEAK * 10e-6), "mfu_inst_estimated_percent": 8e6 / (2 * PEAK * 10e-6),
    "mfu_estimated_percent": 8e6 / (2 * PEAK * 10e-6),
    "mbu_estimated_percent": 98304 / 10e-6 / HBM, "mm_arithmetic_intensity": 8e6 / 98304,
    "peak_flops_bandwidth_ratio": PEAK / HBM,
    # a run uses the peaks of both its cores and one memory
    "mfu_max_achievable_estimated_percent": 8e6 / 98304 / (2 * PEAK / HBM),
    "event_count": 7, "trace_count": 8 + 4 + 7, "neuroncore_cycle_count": 12_000, "dma_active_cycles": 2_700,
    # shares of the 8 µs until the last record ends
    "throttle_activity_0_active_time_nc0_percent": 0.75, "throttle_activity_0_avg_util_limit_nc0_percent": 1,
    "throttle_activity_1_active_time_nc0_percent": 0.25, "throttle_activity_1_avg_util_limit_nc0_percent": 0.5,
    "throttle_avg_util_limit_nc0_percent": 0.875, "throttle_active_nc0_time_ns": 2000,
    "num_physical_cores": 2, "peak_flops_per_core": PEAK, "hbm_bytes_per_s": HBM,
}  # fmt: skip
NEED_THE_NEFF = (
    "weight_size_bytes", "inputs_and_weights_size_bytes", "inputs_outputs_weights_size_bytes",
    "mbu_min_read_util_percent", "model_flops", "mfu_hlo_estimated_percent",
)  # fmt: skip


def test_the_metrics_of_a_run_are_those_worked_out_by_hand() -> None:
    found = values(attention().trace())
    assert {name: found.get(name) for name in EXPECTED} == pytest.approx(EXPECTED, rel=1e-9)


def test_what_needs_the_neff_is_absent_without_it_and_there_with_it() -> None:
    assert not set(NEED_THE_NEFF) & set(values(attention().trace()))
    with_neff = attention(
        weight_size_bytes=1000, inputs_and_weights_size_bytes=7160, inputs_outputs_weights_size_bytes=8000,
        hlo_macs=3_000_000,
    )  # fmt: skip
    found = values(with_neff.trace())
    assert found["weight_size_bytes"] == 1000
    # 7160 bytes at 716 GB/s take 10 ns of the 10 µs
    assert found["mbu_min_read_util_percent"] == pytest.approx(0.001)
    assert found["model_flops"] == 6_000_000
    assert (
        found["mfu_hlo_estimated_percent"] == found["mfu_estimated_percent"] == pytest.approx(6e6 / (2 * PEAK * 1e-5))
    )


def test_static_transfers_leave_the_bytes_of_hbm_unknown() -> None:
    profile = attention()
    profile.packet(4, "qIO", 64, "data", 9 * US, US // 2, 4096)
    found = values(profile.trace())
    assert not {"hbm_read_bytes", "hbm_write_bytes", "mbu_estimated_percent", "mm_arithmetic_intensity"} & set(found)
    assert found["static_dma_active_time"] == pytest.approx(0.75e-6)


def test_transposes_that_nobody_told_apart_are_unknown_and_not_zero() -> None:
    found = values(attention(knows_transposes=False).trace())
    assert found["hardware_flops"] == 12e6
    assert not {"transpose_flops", "mfu_inst_estimated_percent", "mm_arithmetic_intensity"} & set(found)


def test_old_profiles_keep_what_ends_after_the_run() -> None:
    found = values(attention(ntff_version=5).trace())
    assert found["tensor_engine_instruction_count"] == 5
    assert found["tensor_engine_active_time"] == pytest.approx(5.5e-6)


def test_peaks_that_the_profile_states_win_and_say_so() -> None:
    found = values(attention(pe_rows=64, pe_cols=64, pe_clock_ghz=2.0, hbm_bytes_per_s=1e12).trace())
    assert found["peak_flops_per_core"] == 64 * 64 * 2 * 2e9
    assert found["mbu_estimated_percent"] == pytest.approx(98304 / 10e-6 / 1e12)
    assert found["peaks_source"] == "Tensor peak: stated by the profile; HBM bandwidth: stated by the profile"


def test_without_a_known_peak_there_is_no_utilisation() -> None:
    found = values(attention(instance_type="trn9.metal").trace())
    assert found["hardware_flops"] == 12e6
    assert not [name for name in found if name.startswith(("hfu", "mfu", "mbu", "peak"))]


def test_what_the_source_reports_wins_and_the_rest_is_computed() -> None:
    reported = {"hbm_read_bytes": 100_000, "mbu_estimated_percent": 0.5, "psum_read_bytes": 17, "model_flops": 0}
    trace = attention(reported=reported).trace()
    found = device_metrics(trace).executions[0]
    assert {name: found.values[name] for name in reported} == reported
    assert found.reported == frozenset(reported)
    assert found.values["hbm_write_bytes"] == 32768
    assert found.values["metrics_source"].startswith("reported by the source")
    # computed from what was reported
    assert found.values["mm_arithmetic_intensity"] == pytest.approx(8e6 / 132768)


reported_values = st.one_of(st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), st.text(max_size=5),
                            st.lists(st.integers(), max_size=2))  # fmt: skip


@given(
    st.dictionaries(st.sampled_from([*EXPECTED, *NEED_THE_NEFF, "notes", "peaks_source"]), reported_values),
    st.floats(),
    st.floats(),
)
def test_whatever_a_source_reports_the_metrics_are_worked_out_and_numbers_stay_numbers(
    reported: dict[str, Any], clock: float, hbm: float
) -> None:
    profile = Profile()
    stated = {"reported": reported, "pe_clock_ghz": clock, "others_clock_ghz": clock, "hbm_bytes_per_s": hbm}
    # as importers hand it over: what JSON does not have is null
    facts = json.loads(json.dumps(plain(stated)))
    profile.run(total_time_ps=US, **facts)
    profile.run(3 * US, total_time_ps=US, index=1)
    trace = profile.trace()
    for found in (*device_metrics(trace).executions, device_metrics(trace).total):
        assert found is not None
        numbers = [value for name, value in found.values.items() if name.endswith(("_percent", "_time", "_count"))]
        assert all(isinstance(value, (int, float)) for value in numbers)
    json.dumps(analysis.summarize(trace).to_dict(), allow_nan=False)


def test_a_utilisation_above_one_says_that_the_peak_is_wrong() -> None:
    (note,) = (n for n in values(attention(hbm_bytes_per_s=1e9).trace())["notes"] if "peak is wrong" in n)
    # 98304 bytes in 10 µs are 9.83 GB/s
    assert note.startswith("mbu_estimated_percent is 9.83, ")


def two_runs() -> Trace:
    """The run of `attention`, and 20 µs after its start one of 30 µs in which one MATMUL of 4 MFLOP takes 3 µs."""
    profile = attention()
    profile.run(20 * US, total_time_ps=30 * US, neff="attention", index=1, event_count=0, knows_transposes=True)
    profile.instruction(4, "Tensor", "MATMUL", 22 * US, 3 * US, flops=4e6, args={"instruction_type": "REGULAR"})
    return profile.trace()


def test_the_total_of_several_runs_follows_from_sums_and_not_from_averages() -> None:
    found = device_metrics(two_runs())
    first, second = found.executions
    assert (first.index, second.index) == (0, 1)
    assert second.values["tensor_engine_active_time_percent"] == pytest.approx(0.1)
    assert second.values["tensor_engine_instruction_count"] == 1
    total = found.total
    assert total is not None
    assert total.values["execution_count"] == 2
    assert total.values["total_time"] == pytest.approx(40e-6)
    # (4.5 + 3) / 40 and not (0.45 + 0.1) / 2
    assert total.values["tensor_engine_active_time_percent"] == pytest.approx(7.5 / 40)
    assert total.values["hfu_estimated_percent"] == pytest.approx(16e6 / (2 * PEAK * 40e-6))
    assert total.values["trace_count"] == 19 + 1


def test_what_one_run_does_not_tell_the_total_does_not_either() -> None:
    profile = attention(weight_size_bytes=5)
    profile.run(20 * US, total_time_ps=US, index=1)
    total = values(profile.trace())
    assert "weight_size_bytes" not in total
    assert "event_count" not in total


def test_profiles_of_two_ranks_are_kept_apart_and_added_up() -> None:
    profile = attention(Profile(rank=0))
    attention(Profile(profile.builder, rank=1))
    found = device_metrics(profile.trace())
    assert [each.rank for each in found.executions] == [0, 1]
    assert all(each.values["tensor_engine_instruction_count"] == 4 for each in found.executions)
    assert found.total is not None
    assert (found.total.rank, found.total.device) == (-1, 0)
    assert found.total.values["hardware_flops"] == 24e6


@pytest.mark.parametrize("facts", [{}, {"total_time_ps": 0}, {"instance_type": ""}])
def test_a_run_without_rows_or_time_has_no_fractions_that_divide_by_nothing(facts: dict[str, Any]) -> None:
    profile = Profile()
    profile.run(**{"total_time_ps": US, "physical_cores": [], **facts})
    found = values(profile.trace())
    assert found["tensor_engine_instruction_count"] == 0
    assert all(np.isfinite(value) for value in found.values() if isinstance(value, float))


def test_a_trace_without_a_device_has_none() -> None:
    builder = TraceBuilder()
    builder.track("Executions", kind="device_annotation", parent=builder.track("somebody else's"))
    for trace in (TraceBuilder().finish(), builder.finish()):
        assert device_metrics(trace).total is None
        assert runs_of(trace) == ()
        summary = analysis.summarize(trace).to_dict()
        assert "device" not in summary


def test_the_summary_has_the_total_flat_and_each_execution_beside_it() -> None:
    summary = json.loads(json.dumps(analysis.summarize(two_runs()).to_dict(), allow_nan=False))
    assert summary["device"]["total_time"] == pytest.approx(40e-6)
    assert [of["tensor_engine_active_time"] for of in summary["device_by_execution"]] == pytest.approx([4.5e-6, 3e-6])
    assert summary["device_by_execution"][1]["execution"] == 1


def test_engines_divide_the_run_into_work_waiting_and_idling() -> None:
    trace = attention().trace()
    frame = engine_utilisation(trace, runs_of(trace)[0]).set_index(["core", "engine"])
    assert len(frame) == 10
    tensor = frame.loc[(4, "Tensor")]
    # works [0, 3), waits [5, 8)
    assert (tensor["active_ns"], tensor["waiting_ns"], tensor["idle_ns"]) == (3000, 3000, 4000)
    assert (tensor["instructions"], tensor["instruction_ns"]) == (3, 4000)
    vector = frame.loc[(4, "Vector")]
    # works [3, 4) and [6, 7); of the 5 µs it says it waited [4, 6) were free
    assert (vector["active_ns"], vector["waiting_ns"], vector["idle_ns"]) == (2000, 2000, 6000)
    assert (vector["active_ratio"], vector["waiting_ratio"], vector["idle_ratio"]) == (0.2, 0.2, 0.6)
    assert frame.loc[(5, "Tensor"), "active_ns"] == 2000


def test_the_instructions_that_wait_are_named_with_their_place_in_the_program() -> None:
    trace = attention().trace()
    frame = waiting_instructions(trace, runs_of(trace)[0])
    told = frame[["core", "engine", "pc", "opcode", "count", "waited_ns", "operands"]].to_numpy().tolist()
    assert told == [
        [4, "Tensor", 9, "EVENT_SEMAPHORE", 1, 3000, "S[7]>=3"], [4, "Vector", 12, "TENSOR_REDUCE", 1, 2000, ""],
    ]  # fmt: skip
    assert trace.slices.text("name")[frame["slice"][1]] == "TENSOR_REDUCE"


def test_queues_have_their_packets_bytes_and_rate_over_all_their_engines() -> None:
    trace = attention().trace()
    frame = dma_queues(trace, runs_of(trace)[0]).drop(columns="slice")
    assert frame.to_dict("records") == [
        {"core": 4, "queue": "qSyncDynamicHW", "class": "hardware_dynamic", "engines": 2, "packets": 2, "bytes": 65536,
         "active_ns": 1000, "active_ratio": 0.1, "bytes_per_s": pytest.approx(65.536e9)},
        {"core": 4, "queue": "qGpSimdDynamic", "class": "software_dynamic", "engines": 1, "packets": 1, "bytes": 32768,
         "active_ns": 1000, "active_ratio": 0.1, "bytes_per_s": pytest.approx(32.768e9)},
        {"core": 4, "queue": "Q14", "class": "instruction", "engines": 1, "packets": 1, "bytes": 1024,
         "active_ns": 250, "active_ratio": 0.025, "bytes_per_s": pytest.approx(4.096e9)},
    ]  # fmt: skip


def test_over_time_bins_hold_what_happened_in_them() -> None:
    trace = attention().trace()
    found = over_time(trace, runs_of(trace)[0], bins=10)
    assert found.edges_ps.tolist() == [number * US for number in range(11)]
    assert found.active_ratio[4, "Tensor"].tolist() == [1, 1, 1, 0, 0, 0, 0, 0, 0, 0]
    assert found.active_ratio[5, "Tensor"].tolist() == [0, 0, 0.5, 1, 0.5, 0, 0, 0, 0, 0]
    # 32 KiB from 4.5 to 5.5: half of them in each bin of a microsecond
    assert found.dma_bytes_per_s["software_dynamic"][[3, 4, 5]] == pytest.approx([0, 16384e6, 16384e6])
    assert sum(found.dma_bytes_per_s["hardware_dynamic"]) / 1e6 == pytest.approx(65536)
    # Tensor waits in [5, 8) on core 4, Vector in the 2 us before 6; nothing else waits
    assert set(found.waiting_ratio) == {(4, "Tensor"), (4, "Vector")}
    assert found.waiting_ratio[4, "Tensor"].tolist() == [0, 0, 0, 0, 0, 1, 1, 1, 0, 0]
    assert found.waiting_ratio[4, "Vector"].tolist() == [0, 0, 0, 0, 1, 1, 0, 0, 0, 0]
    # the queue with most bytes first: its packets [0.5, 1) and [0.9, 1.5)
    assert list(found.queue_ratio) == [(4, "qSyncDynamicHW"), (4, "qGpSimdDynamic"), (4, "Q14")]
    assert found.queue_ratio[4, "qSyncDynamicHW"].tolist() == [0.5, 0.5, 0, 0, 0, 0, 0, 0, 0, 0]
    assert found.queue_ratio[4, "Q14"].tolist() == [0, 0, 0, 0, 0, 0, 0, 0, 0.25, 0]


intervals = st.lists(st.tuples(st.integers(-50, 50), st.integers(0, 30)), max_size=20)


@given(intervals, st.integers(1, 12))
def test_a_union_is_what_a_naive_count_finds(given_intervals: list[tuple[int, int]], bins: int) -> None:
    start = np.array([at for at, _ in given_intervals], np.int64)
    end = start + np.array([dur for _, dur in given_intervals], np.int64)
    inside = {at for first, dur in given_intervals for at in range(first, first + dur)}
    assert union_length(start, end) == len(inside)
    begin, stop = merged(start, end)
    assert (begin[1:] > stop[:-1]).all()
    edges = np.array([-60 + 150 * number // bins for number in range(bins + 1)], np.int64)
    naive = [sum(first <= at < last for at in inside) for first, last in itertools.pairwise(edges.tolist())]
    assert covered(edges, start, end).tolist() == naive


rows_of_engine = st.tuples(
    st.sampled_from(["MATMUL", "EVENT_SEMAPHORE", "DRAIN"]), st.sampled_from([4, 5]), st.integers(-2 * US, 12 * US),
    st.integers(0, 5 * US), st.integers(-1, 9000),
)  # fmt: skip


@given(st.lists(rows_of_engine, max_size=25))
def test_no_union_is_longer_than_the_sum_or_the_run(rows: list[tuple[str, int, int, int, int]]) -> None:
    profile = Profile()
    profile.run(total_time_ps=10 * US)
    for opcode, core, start, dur, wait_ns in rows:
        profile.instruction(core, "Tensor", opcode, start, dur, wait_ns=wait_ns)
        profile.packet(core, "q", 64, "data", start, dur, 64)
    trace = profile.trace()
    found = values(trace)
    for union, whole in (
        ("tensor_engine_active_time", "tensor_engine_instruction_time"), ("dma_active_time", "dma_packet_time"),
    ):  # fmt: skip
        assert found[union] <= min(found[whole], found["total_time"]) + 1e-18
    assert found["total_active_time"] <= found["total_time"]
    frame = engine_utilisation(trace, runs_of(trace)[0])
    parts = frame["active_ratio"] + frame["waiting_ratio"] + frame["idle_ratio"]
    assert parts.to_numpy() == pytest.approx(np.ones(len(frame)))


def test_metrics_are_frozen() -> None:
    found = device_metrics(attention().trace()).executions[0]
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.rank = 3  # type: ignore[misc]
