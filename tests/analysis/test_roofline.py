"""Rooflines of operators, with numbers worked out by hand on a known device."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from script import Script

from neuron_profile import load
from neuron_profile.analysis import roofline, slice_work
from neuron_profile.hardware import DevicePeaks

# NVIDIA A100 datasheet: 312 TFLOP/s bf16, 156 tf32, 19.5 fp32, 2039 GB/s
_A100 = {"id": 0, "name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 84_990_623_744, "numSms": 108}
_BF16, _HALF = "c10::BFloat16", "c10::Half"
_UNKNOWN = {"id": 0, "name": "Some Accelerator", "clockRate": 1_410_000, "numSms": 108}


class Gpu(Script):
    """A host thread and a stream of device 0."""

    def __init__(self) -> None:
        super().__init__()
        self.thread, self.gpu = self.track(), self.stream(device=0)
        self._correlation = 0

    def launches(self, at: int, start: int, dur: int, name: str = "kernel", category: str = "compute",
                 **columns: Any) -> None:  # fmt: skip
        """A call at `at` that launches work [start, start + dur) on the stream."""
        self._correlation += 1
        self.add(self.thread, "cudaLaunchKernel", "runtime", at, 1, correlation=self._correlation)
        self.add(self.gpu, name, category, start, dur, correlation=self._correlation, **columns)

    def done(self, device: dict[str, Any] | None = None) -> Any:
        return self.trace(source_metadata={"deviceProperties": [device or _A100]})


def _only(frame: pd.DataFrame) -> dict[str, Any]:
    assert len(frame) == 1
    return dict(frame.to_dict("records")[0])


def test_a_large_matmul_is_bound_by_compute() -> None:
    gpu = Gpu()
    gpu.op(gpu.thread, "aten::mm", 0, 100, [1024, 2048], [2048, 4096], types=[_BF16, _BF16])
    gpu.launches(10, 1000, 60_000)
    gpu.launches(20, 61_000, 40_000)
    trace = gpu.done()
    row = _only(roofline(trace))
    assert int(trace.slices.dur_ns[row["slice"]]) == 60_000  # the longer of its kernels
    assert (row["op"], row["kind"], row["device"]) == (
        "aten::mm [1024, 2048] [2048, 4096]", "operator", "NVIDIA A100-SXM4-80GB",
    )  # fmt: skip
    assert (row["dtype"], row["count"], row["time_ns"]) == ("bf16", 1, 100_000)
    flops, nbytes = 2 * 1024 * 2048 * 4096, 2 * (1024 * 2048 + 2048 * 4096 + 1024 * 4096)
    assert (row["flops"], row["flops_source"]) == (pytest.approx(flops), "formula")
    assert (row["bytes"], row["bytes_source"]) == (pytest.approx(nbytes), "formula")
    assert row["arithmetic_intensity"] == pytest.approx(flops / nbytes)  # 585, right of the ridge at 153
    assert row["flops_per_s"] == pytest.approx(171.8e12, rel=1e-3)
    assert (row["peak_flops_per_s"], row["peak_bytes_per_s"]) == (312e12, 2039e9)
    assert row["peak_source"] == "NVIDIA A100 datasheet"
    assert (row["bound"], row["attainable_flops_per_s"]) == ("compute", 312e12)
    assert row["flops_ratio"] == pytest.approx(0.5506, rel=1e-3)
    assert row["efficiency_ratio"] == pytest.approx(row["flops_ratio"])
    assert row["note"] == ""


def test_one_kernel_has_its_part_by_time_of_the_work_of_its_operator() -> None:
    gpu = Gpu()
    gpu.op(gpu.thread, "aten::mm", 0, 100, [1024, 2048], [2048, 4096], types=[_BF16, _BF16])
    gpu.launches(10, 1000, 60_000)
    gpu.launches(20, 61_000, 40_000)
    trace = gpu.done()
    shorter = int(np.flatnonzero(trace.slices.dur_ns == 40_000)[0])
    found = slice_work(trace, shorter)
    assert found is not None
    flops, nbytes = 2 * 1024 * 2048 * 4096, 2 * (1024 * 2048 + 2048 * 4096 + 1024 * 4096)
    assert (found.flops, found.bytes) == (pytest.approx(0.4 * flops), pytest.approx(0.4 * nbytes))
    assert (found.flops_source, found.bytes_source, found.dtype) == ("formula", "formula", "bf16")
    assert trace.pool.strings[int(trace.slices.name[found.operator])] == "aten::mm"
    assert (found.peak_flops_per_s, found.peak_bytes_per_s, found.peak_source) == (
        312e12, 2039e9, "NVIDIA A100 datasheet",
    )  # fmt: skip
    launch = int(np.flatnonzero(trace.slices.dur_ns == 1)[0])
    assert slice_work(trace, launch) is None  # a call on the host of a rank with a device is no work


def test_an_elementwise_operator_is_bound_by_memory() -> None:
    gpu = Gpu()
    gpu.op(gpu.thread, "aten::add", 0, 100, [1000, 1000], [1000, 1000], [], types=["float", "float", "Scalar"])
    gpu.launches(10, 1000, 10_000)
    row = _only(roofline(gpu.done()))
    assert (row["flops"], row["bytes"]) == (1e6, 12e6)  # two of 4 MB read, one written
    assert row["arithmetic_intensity"] == pytest.approx(1 / 12)
    assert (row["bound"], row["dtype"]) == ("memory", "fp32")
    assert row["attainable_flops_per_s"] == pytest.approx(2039e9 / 12)
    # 12 MB in 10 us are 1200 GB/s of 2039
    assert (row["bytes_ratio"], row["efficiency_ratio"]) == (pytest.approx(1200 / 2039), pytest.approx(1200 / 2039))


def test_what_only_copies_is_bound_by_memory_though_its_type_has_no_peak() -> None:
    gpu = Gpu()
    gpu.op(gpu.thread, "aten::copy_", 0, 100, [500_000], [500_000], types=["long int", "long int"])
    gpu.launches(10, 1000, 10_000)
    row = _only(roofline(gpu.done()))
    assert (row["flops"], row["dtype"], row["bound"]) == (0, "", "memory")
    assert math.isnan(row["peak_flops_per_s"])
    assert row["efficiency_ratio"] == pytest.approx(800 / 2039)  # 4 MB read, 4 MB written


def test_a_convolution_counts_two_operations_for_each_weight_that_meets_an_output() -> None:
    gpu = Gpu()
    values = ["", "", "", "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1"]
    shapes, types = [[8, 16, 32, 32], [32, 16, 3, 3], [], [], [], [], [], [], []], [_HALF, _HALF, *[""] * 7]
    gpu.op(gpu.thread, "aten::convolution", 0, 100, *shapes, types=types, values=values)
    gpu.launches(10, 1000, 1000)
    row = _only(roofline(gpu.done()))
    assert row["flops"] == 2 * (8 * 32 * 32 * 32) * (16 * 3 * 3)
    assert row["bytes"] == 2 * (8 * 16 * 32 * 32 + 32 * 16 * 3 * 3 + 8 * 32 * 32 * 32)
    assert (row["dtype"], row["peak_flops_per_s"]) == ("fp16", 312e12)


def test_attention_counts_both_products() -> None:
    gpu = Gpu()
    shape = [2, 4, 128, 64]
    gpu.op(gpu.thread, "aten::_scaled_dot_product_flash_attention", 0, 100, shape, shape, shape, types=[_BF16] * 3)
    gpu.launches(10, 1000, 1000)
    row = _only(roofline(gpu.done()))
    assert row["flops"] == 2 * (2 * 4) * (128 * 128 * 64) * 2
    # queries, keys, values and output, and a float32 for each query of each head
    assert row["bytes"] == 4 * 2 * (2 * 4 * 128 * 64) + 4 * (2 * 4 * 128)


def test_flops_that_were_recorded_count_and_the_operators_inside_do_not() -> None:
    gpu = Gpu()
    values = ["", "", "", "[1, 1]", "[1, 1]", "[1, 1]", "1"]
    gpu.op(gpu.thread, "aten::conv2d", 0, 100, [8, 16, 32, 32], [32, 16, 3, 3], [], [], [], [], [],
           types=["float", "float", *[""] * 5], values=values, flops=123.0)  # fmt: skip
    gpu.op(gpu.thread, "aten::convolution", 10, 80, [8, 16, 32, 32], [32, 16, 3, 3])
    gpu.launches(20, 1000, 1000)
    row = _only(roofline(gpu.done()))
    assert row["op"].startswith("aten::conv2d")
    assert (row["flops"], row["flops_source"], row["bytes_source"]) == (123, "recorded", "formula")


def test_fp32_is_tf32_where_the_kernel_says_so_and_only_there() -> None:
    gpu = Gpu()
    for place, name in enumerate(("ampere_sgemm_128x64_nn", "cutlass_80_tensorop_s1688gemm_128x128_16x5_nn_align4")):
        gpu.op(gpu.thread, "aten::mm", 1000 * place, 100, [64, 64], [64, 64])
        gpu.launches(1000 * place + 10, 1000 * place + 200, 500, name=name)
    found = roofline(gpu.done()).set_index("dtype")
    assert found["peak_flops_per_s"].to_dict() == {"fp32": 19.5e12, "tf32": 156e12}


def test_more_than_the_peak_says_that_the_peak_is_wrong() -> None:
    gpu = Gpu()
    gpu.op(gpu.thread, "aten::mm", 0, 100, [1024, 1024], [1024, 1024], types=[_BF16, _BF16])
    gpu.launches(10, 1000, 2000)  # 2.147e9 operations in 2 us: 1074 TFLOP/s
    row = _only(roofline(gpu.done()))
    assert row["efficiency_ratio"] == pytest.approx(2 * 1024**3 / 2e-6 / 312e12)
    assert row["note"].startswith("3.44 times the peak FLOP/s: the peak is wrong")
    assert "NVIDIA A100 datasheet" in row["note"]


def test_of_a_device_without_a_known_name_no_peak_is_guessed() -> None:
    gpu = Gpu()
    gpu.op(gpu.thread, "aten::mm", 0, 100, [64, 64], [64, 64])
    gpu.launches(10, 1000, 2000)
    row = _only(roofline(gpu.done(_UNKNOWN)))
    assert row["device"] == "Some Accelerator"
    assert row["flops_per_s"] == pytest.approx(2 * 64**3 / 2e-6)
    assert all(math.isnan(row[name]) for name in ("peak_flops_per_s", "peak_bytes_per_s", "efficiency_ratio"))
    assert (row["bound"], row["peak_source"], row["note"]) == ("", "", "")


@pytest.mark.parametrize(
    "devices",
    [7, "A100", [3], [{"id": [], "name": {}}], [{"id": 0, "name": 5, "numSms": "many", "totalGlobalMem": -1}]],
)
def test_odd_descriptions_of_devices_are_no_device(devices: Any) -> None:
    gpu = Gpu()
    gpu.add(gpu.gpu, "kernel", "compute", 0, 100)
    row = _only(roofline(gpu.trace(source_metadata={"deviceProperties": devices})))
    assert (row["device"], row["peak_source"]) == ("unknown device", "")


def test_given_peaks_take_the_place_of_published_ones() -> None:
    gpu = Gpu()
    gpu.op(gpu.thread, "aten::mm", 0, 100, [64, 64], [64, 64])
    gpu.launches(10, 1000, 2000)
    mine = DevicePeaks(
        name="mine", source="my benchmark", flops_by_dtype={"fp32": 1e12}, memory_bytes_per_s=1e12
    )  # fmt: skip
    row = _only(roofline(gpu.done(), peaks=mine))
    assert (row["peak_flops_per_s"], row["peak_source"]) == (1e12, "my benchmark")
    assert row["flops_ratio"] == pytest.approx(2 * 64**3 / 2e-6 / 1e12)


def test_without_device_work_the_operators_of_the_host_are_the_work_and_have_no_peak() -> None:
    script = Script()
    thread = script.track()
    script.op(thread, "aten::linear", 0, 1000, [64, 64], [32, 64])  # made of others, which were recorded
    script.op(thread, "aten::mm", 100, 500, [64, 64], [64, 32])
    script.op(thread, "aten::fill_", 200, 50, [64, 32])  # inside the product
    frame = roofline(script.trace()).set_index("op")
    assert frame["time_ns"].to_dict() == {"aten::linear [64, 64] [32, 64]": 500, "aten::mm [64, 64] [64, 32]": 500}
    assert frame.loc["aten::mm [64, 64] [64, 32]", "flops"] == 2 * 64 * 64 * 32
    assert math.isnan(frame.loc["aten::linear [64, 64] [32, 64]", "flops"])
    assert set(frame["device"]) == {"host"}
    assert frame["peak_flops_per_s"].isna().all()


def test_by_name_the_shapes_of_an_operator_are_one_row() -> None:
    gpu = Gpu()
    for place, size in enumerate((32, 64)):
        gpu.op(gpu.thread, "aten::mm", 1000 * place, 100, [size, size], [size, size])
        gpu.launches(1000 * place + 10, 1000 * place + 200, 500)
    assert len(roofline(gpu.done())) == 2
    row = _only(roofline(gpu.done(), by="name"))
    assert (row["op"], row["count"], row["flops"]) == ("aten::mm", 2, 2 * (32**3 + 64**3))


def test_collectives_and_copies_from_the_host_are_left_out_and_kernels_without_operators_are_not() -> None:
    gpu = Gpu()
    gpu.add(gpu.gpu, "ncclDevKernel_AllReduce", "collective", 0, 100)
    gpu.add(gpu.gpu, "Memcpy HtoD (Pageable -> Device)", "memcpy", 100, 100, bytes=1000)
    gpu.add(gpu.gpu, "Memcpy DtoD (Device -> Device)", "memcpy", 200, 100, bytes=1000)
    gpu.add(gpu.gpu, "graph_kernel", "compute", 300, 300)
    frame = roofline(gpu.done())
    assert frame["op"].tolist() == ["graph_kernel", "Memcpy DtoD (Device -> Device)"]
    assert frame["share_ratio"].tolist() == [0.75, 0.25]
    assert set(frame["kind"]) == {"kernel"}
    assert frame["bytes"].tolist()[1] == 2000  # read and written
    assert frame.attrs["flops_coverage_ratio"] == 0
    assert frame.attrs["bytes_coverage_ratio"] == 0.25


def test_an_unknown_operator_that_cannot_have_read_its_inputs_whole_has_unknown_bytes() -> None:
    gpu = Gpu()
    gpu.op(gpu.thread, "mine::look_up", 0, 100, [1_000_000, 1000], [10])
    gpu.launches(10, 1000, 1000)
    frame = roofline(gpu.done())
    assert math.isnan(_only(frame)["bytes"])
    assert frame.attrs["implausible_bytes"] > 1e9


def test_work_that_was_not_recorded_on_the_device_is_not_counted_as_time() -> None:
    gpu = Gpu()
    gpu.op(gpu.thread, "aten::mm", 0, 100, [32, 32], [32, 32])
    gpu.launches(200, 1000, 1000)
    frame = roofline(gpu.done())
    assert frame["op"].tolist() == ["kernel"]
    assert frame.attrs["unplaced_flops"] == 2 * 32**3


def test_a_trace_without_work_gives_no_rows() -> None:
    frame = roofline(Script().trace())
    assert len(frame) == 0
    assert "efficiency_ratio" in frame


def test_an_unknown_grouping_is_refused() -> None:
    with pytest.raises(ValueError, match="op, name"):
        roofline(Script().trace(), by="module")


_OPS = st.lists(
    st.tuples(st.integers(1, 2000), st.integers(0, 5000), st.sampled_from([_BF16, "float", "long int"]), st.booleans()),
    max_size=12,
)


@given(_OPS)
def test_a_ratio_above_one_never_goes_without_a_note(ops: list[tuple[int, int, str, bool]]) -> None:
    gpu = Gpu()
    for place, (size, dur, dtype, recorded) in enumerate(ops):
        flops = {"flops": float(size) * 1e9} if recorded else {}
        gpu.op(gpu.thread, "aten::mm", 100 * place, 50, [size, 64], [64, size], types=[dtype, dtype], **flops)
        gpu.launches(100 * place + 10, 10_000 * place, dur)
    frame = roofline(gpu.done())
    above = (frame[["flops_ratio", "bytes_ratio", "efficiency_ratio"]] > 1).any(axis=1)
    assert (frame.loc[above, "note"].str.contains("the peak is wrong")).all()
    assert (frame.loc[~above, "note"] == "").all()
    for name in ("flops_coverage_ratio", "bytes_coverage_ratio"):
        assert not frame.attrs["time_ns"] or 0 <= frame.attrs[name] <= 1
    assert frame["count"].sum() == len(ops)


# What deviceProperties of the file say, and what the vendor's datasheet says of that: GB/s, TFLOP/s of a type.
_CORPUS = {
    "T019_rank0.json.gz": ("NVIDIA A100-SXM4-80GB", 2039, "fp32", 19.5),
    "T030_eager_trace.json.gz": ("NVIDIA B200", 7700, "bf16", 2250),
    "T032_Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz": ("NVIDIA H100 80GB HBM3", 3350, "bf16", 989.5),
    "T040_resnet_act_checkpoint.json.gz": ("AMD Instinct MI300X", 5300, "bf16", 1307.4),
    "T048_profile_trace_rank_0.json.gz": ("AMD Instinct MI300X", 5300, "bf16", 1307.4),
}


@pytest.mark.parametrize("file", _CORPUS)
def test_the_device_of_a_real_trace_is_found_by_its_name(file: str, corpus: Path) -> None:
    device, memory, dtype, tflops = _CORPUS[file]
    frame = roofline(load(corpus / "kineto" / file))
    mine = frame[(frame["dtype"] == dtype) & (frame["kind"] == "operator")]
    assert set(mine["device"]) == {device}
    assert set(mine["peak_bytes_per_s"]) == {memory * 1e9}
    assert set(mine["peak_flops_per_s"]) == {tflops * 1e12}
    above = (frame[["flops_ratio", "bytes_ratio"]] > 1).any(axis=1)
    assert (above == (frame["note"] != "")).all()
    assert (frame["flops_ratio"].dropna() <= 1).all()


def test_a_device_without_a_name_of_its_own_has_no_peak(corpus: Path) -> None:
    frame = roofline(load(corpus / "kineto" / "T001_mi250_minitoy_train_ROCm6_2_kineto.json.gz"))
    assert len(frame)
    assert frame["peak_bytes_per_s"].isna().all()


def test_flops_of_real_products_are_those_of_the_shapes_in_the_file(corpus: Path) -> None:
    path = corpus / "kineto" / "T048_profile_trace_rank_0.json.gz"
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    shapes = [e["args"]["Input Dims"] for e in events if e.get("cat") == "cpu_op" and e["name"] == "aten::mm"]
    expected = sum(2 * left[0] * left[1] * right[1] for left, right, *_ in shapes)
    frame = roofline(load(path), by="name")
    assert frame.loc[frame["op"] == "aten::mm", "flops"].sum() == pytest.approx(expected)
    assert frame.loc[frame["op"] == "aten::mm", "count"].sum() == len(shapes)


def test_a_run_on_a_neuron_device_lies_between_the_peaks_that_its_profile_states(
    corpus: Path, corpus_facts: dict[str, Any]
) -> None:
    name = "neuron_json/T172_baseline_exec_2_profile_full.json"
    row = _only(roofline(load(corpus / name)))
    assert row["kind"] == "execution"
    assert row["arithmetic_intensity"] == pytest.approx(float(corpus_facts[name]["mm_arithmetic_intensity"]), rel=1e-4)
    assert np.isfinite(row["efficiency_ratio"])
