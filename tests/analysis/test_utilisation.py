"""HFU, MFU and MBU of steps, with numbers worked out by hand on a known device."""

from __future__ import annotations

import gzip
import json
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from script import Script

from neuron_profile import load
from neuron_profile.analysis import roofline, utilisation
from neuron_profile.analysis.roofline.utilisation import WHOLE
from neuron_profile.hardware import DevicePeaks

# NVIDIA A100 datasheet: 312 TFLOP/s bf16, 19.5 fp32, 2039 GB/s
_A100 = {"id": 0, "name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 84_990_623_744, "numSms": 108}
_BF16 = "c10::BFloat16"
_NODE = "autograd::engine::evaluate_function: MmBackward0"
# [1024, 1024] x [1024, 1024]
_FLOPS, _BYTES = 2 * 1024**3, 3 * 2 * 1024**2


class Training(Script):
    """A host thread and a stream of an A100; each product of two 1024 x 1024 matrices is one kernel."""

    def __init__(self) -> None:
        super().__init__()
        self.thread, self.gpu = self.track(rank=0), self.stream(device=0, rank=0)
        self._correlation = 0

    def step(self, number: int, start: int, end: int) -> None:
        self.add(self.thread, f"ProfilerStep#{number}", "annotation", start, end - start)

    def launches(self, at: int, start: int, dur: int) -> None:
        self._correlation += 1
        self.add(self.thread, "cudaLaunchKernel", "runtime", at, 1, correlation=self._correlation)
        self.add(self.gpu, "kernel", "compute", start, dur, correlation=self._correlation)

    def product(self, at: int, start: int, dur: int, dtype: str = _BF16, **columns: Any) -> None:
        self.op(self.thread, "aten::mm", at, 10, [1024, 1024], [1024, 1024], types=[dtype, dtype], **columns)
        self.launches(at + 1, start, dur)

    def rows(self, peaks: DevicePeaks | None = None) -> list[dict[str, Any]]:
        trace = self.trace(source_metadata={"deviceProperties": [_A100]})
        return [
            {str(name): value for name, value in row.items()}
            for row in utilisation(trace, peaks=peaks).to_dict("records")
        ]


def test_a_step_uses_what_its_flops_would_take_at_the_peak() -> None:
    training = Training()
    training.step(0, 0, 20_000)
    training.product(100, 1000, 8000)
    step, whole = training.rows()
    assert (step["rank"], step["device"], step["step"], step["name"]) == (0, 0, 0, "ProfilerStep#0")
    assert (step["total_ns"], step["device_ns"]) == (20_000, 8000)
    assert step["hardware_flops"] == step["model_flops"] == _FLOPS
    # 2.147 GFLOP at 312 TFLOP/s are 6.88 us of 20
    assert step["hfu_ratio"] == step["mfu_ratio"] == pytest.approx(_FLOPS / 312e12 / 20e-6)
    assert step["mbu_ratio"] == pytest.approx(_BYTES / 2039e9 / 20e-6)
    assert (step["dtypes"], step["flops_source"], step["peak_flops_per_s"]) == ("bf16", "formula", 312e12)
    assert step["flops_coverage_ratio"] == step["bytes_coverage_ratio"] == step["peak_coverage_ratio"] == 1
    assert (step["note"], step["peak_source"]) == ("", "NVIDIA A100 datasheet")
    assert (whole["step"], whole["name"], whole["hardware_flops"]) == (WHOLE, "whole window", _FLOPS)


def test_a_kernel_on_the_border_of_two_steps_counts_in_both_by_time() -> None:
    training = Training()
    training.step(0, 0, 10_000)
    training.step(1, 10_000, 30_000)
    training.product(100, 7000, 4000)  # three quarters before 10 us
    first, second, whole = training.rows()
    assert first["hardware_flops"] == pytest.approx(0.75 * _FLOPS)
    assert second["hardware_flops"] == pytest.approx(0.25 * _FLOPS)
    assert (first["device_ns"], second["device_ns"], whole["device_ns"]) == (3000, 1000, 4000)


def test_flops_of_several_types_are_weighed_by_their_peaks() -> None:
    training = Training()
    training.step(0, 0, 400_000)
    training.product(100, 1000, 10_000)
    training.product(200, 20_000, 200_000, "float")
    step = training.rows()[0]
    at_peak_s = _FLOPS / 312e12 + _FLOPS / 19.5e12
    assert step["hfu_ratio"] == pytest.approx(at_peak_s / 400e-6)
    assert step["peak_flops_per_s"] == pytest.approx(2 * _FLOPS / at_peak_s)
    assert step["dtypes"] in ("bf16, fp32", "fp32, bf16")


def test_elementwise_flops_are_known_and_do_not_count() -> None:
    training = Training()
    training.step(0, 0, 100_000)
    training.product(100, 1000, 10_000)
    training.op(training.thread, "aten::mul", 200, 10, [1000], [1000])
    training.launches(201, 20_000, 1000)
    step = training.rows()[0]
    assert step["hardware_flops"] == _FLOPS
    assert step["flops_coverage_ratio"] == 1


def test_what_nothing_is_known_of_lowers_the_coverage() -> None:
    training = Training()
    training.step(0, 0, 100_000)
    training.product(100, 1000, 10_000)
    training.launches(300, 20_000, 30_000)
    step = training.rows()[0]
    assert (step["flops_coverage_ratio"], step["bytes_coverage_ratio"]) == (0.25, 0.25)


def test_a_forward_pass_inside_the_backward_pass_is_no_model_flops() -> None:
    training = Training()
    training.step(0, 0, 100_000)
    training.product(100, 1000, 8000, sequence_number=5)
    training.add(training.thread, _NODE, "host_op", 1000, 900, sequence_number=5)
    training.product(1100, 10_000, 8000, sequence_number=6)  # again
    training.product(1300, 20_000, 8000)  # two gradients
    training.product(1500, 30_000, 8000)
    step = training.rows()[0]
    assert (step["hardware_flops"], step["model_flops"]) == (4 * _FLOPS, 3 * _FLOPS)
    assert step["mfu_ratio"] == pytest.approx(0.75 * step["hfu_ratio"])


def test_scores_that_attention_computes_again_are_no_model_flops() -> None:
    training = Training()
    training.step(0, 0, 100_000)
    shape = [1, 1, 64, 32]
    training.op(training.thread, "aten::_scaled_dot_product_flash_attention_backward", 100, 10, *[shape] * 6,
                types=[_BF16] * 6)  # fmt: skip
    training.launches(101, 1000, 1000)
    step = training.rows()[0]
    one = 2 * 64 * 64 * 32  # each of five products
    assert (step["hardware_flops"], step["model_flops"]) == (5 * one, 4 * one)


@pytest.mark.parametrize(
    ("node", "number", "why"),
    [
        (_NODE, -1, "sequence numbers"),
        ("autograd::engine::evaluate_function: CompiledFunctionBackward", 3, "compiled"),
    ],
)
def test_where_recomputation_cannot_be_told_mfu_is_unknown_and_hfu_is_not(node: str, number: int, why: str) -> None:
    training = Training()
    training.step(0, 0, 100_000)
    training.product(100, 1000, 8000, sequence_number=number)
    training.add(training.thread, node, "host_op", 1000, 900)
    training.product(1300, 20_000, 8000)
    step = training.rows()[0]
    assert step["hfu_ratio"] == pytest.approx(2 * _FLOPS / 312e12 / 100e-6)
    assert math.isnan(step["mfu_ratio"])
    assert math.isnan(step["model_flops"])
    assert step["note"].startswith("MFU is unknown")
    assert why in step["note"]


def test_more_than_the_peak_says_that_the_peak_is_wrong() -> None:
    training = Training()
    training.step(0, 0, 2000)
    training.product(100, 200, 1000)
    step = training.rows()[0]
    assert step["hfu_ratio"] == pytest.approx(3.44, rel=1e-3)
    assert "3.44 times the peak FLOP/s: the peak is wrong" in step["note"]


def test_a_device_without_known_peaks_has_flops_and_no_ratios() -> None:
    training = Training()
    training.product(100, 1000, 8000)
    row = utilisation(training.trace()).to_dict("records")[0]
    assert row["hardware_flops"] == _FLOPS
    assert all(math.isnan(row[name]) for name in ("hfu_ratio", "mfu_ratio", "mbu_ratio"))
    assert row["peak_coverage_ratio"] == 0


def test_a_host_is_measured_against_given_peaks_only() -> None:
    script = Script()
    script.op(script.track(), "aten::mm", 0, 1000, [100, 100], [100, 100])
    trace = script.trace(source_metadata={"deviceProperties": [_A100]})
    row = utilisation(trace).to_dict("records")[0]
    assert (row["device"], row["device_ns"]) == (-1, 1000)
    assert math.isnan(row["hfu_ratio"])
    mine = DevicePeaks(name="my CPU", source="lscpu", flops_by_dtype={"fp32": 4e12}, memory_bytes_per_s=1e12)
    row = utilisation(trace, peaks=mine).to_dict("records")[0]
    assert row["hfu_ratio"] == pytest.approx(2e6 / 1e-6 / 4e12)
    assert row["mbu_ratio"] == pytest.approx(120_000 / 1e-6 / 1e12)


def test_a_trace_without_work_gives_no_rows() -> None:
    frame = utilisation(Script().trace())
    assert len(frame) == 0
    assert "mfu_ratio" in frame


_WORK = st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 3000), st.booleans()), min_size=1, max_size=10)


@given(_WORK, st.lists(st.integers(1, 9000), max_size=5, unique=True))
def test_steps_that_cover_all_add_up_to_it_and_coverage_is_a_share(
    work: list[tuple[int, int, bool]], borders: list[int]
) -> None:
    training = Training()
    edges = [0, *sorted(borders), 10_000]
    for number, (start, end) in enumerate(pairwise(edges)):
        training.step(number, start, end)
    for place, (start, dur, known) in enumerate(work):
        if known:
            training.product(20 * place, start, dur)
        else:
            training.launches(20 * place, start, dur)
    *steps, whole = training.rows()
    assert len(steps) == len(edges) - 1
    for name in ("hardware_flops", "bytes"):
        assert sum(0 if math.isnan(s[name]) else s[name] for s in steps) == pytest.approx(
            0 if math.isnan(whole[name]) else whole[name], rel=1e-9
        )
    for row in (*steps, whole):
        for name in ("flops_coverage_ratio", "bytes_coverage_ratio", "peak_coverage_ratio"):
            assert math.isnan(row[name]) or 0 <= row[name] <= 1
        above = any(row[name] > 1 for name in ("hfu_ratio", "mfu_ratio", "mbu_ratio"))
        assert ("the peak is wrong" in row["note"]) == above


def test_checkpointed_convolutions_of_a_real_training_are_told_from_the_others(corpus: Path) -> None:
    path = corpus / "kineto" / "T040_resnet_act_checkpoint.json.gz"
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    ops = [e for e in events if e.get("cat") == "cpu_op"]
    nodes = [e for e in ops if e["name"].startswith("autograd::engine::evaluate_function")]
    again = {
        e["args"]["External id"] for e in ops if e["name"] == "aten::convolution"
        and any(n["tid"] == e["tid"] and n["ts"] <= e["ts"] < n["ts"] + n["dur"] for n in nodes)
    }  # fmt: skip
    assert len(again) == 57  # of 60: all but the first of each step
    trace = load(path)
    rows = utilisation(trace)
    whole = rows[rows["step"] == WHOLE].to_dict("records")[0]
    repeated = whole["hardware_flops"] - whole["model_flops"]
    convolutions = roofline(trace, by="name").set_index("op").loc["aten::convolution", "flops"]
    # forward and again, but for the first one, of 3 channels and 7 x 7: 0.5 times as many operations as are repeated
    assert 0.4 < repeated / convolutions.sum() < 0.5
    assert whole["mfu_ratio"] < whole["hfu_ratio"]
    assert whole["note"] == ""


def test_a_run_on_a_neuron_device_has_the_ratios_of_its_profile(corpus: Path, corpus_facts: dict[str, Any]) -> None:
    name = "neuron_json/T172_baseline_exec_2_profile_full.json"
    frame = utilisation(load(corpus / name))
    row = frame.to_dict("records")[0]
    assert (len(frame), row["kind"]) == (1, "execution")
    assert row["mfu_ratio"] == pytest.approx(float(corpus_facts[name]["mfu_estimated_percent"]), rel=1e-6)
    assert row["mbu_ratio"] == pytest.approx(float(corpus_facts[name]["mbu_estimated_percent"]), rel=1e-6)
    assert row["hardware_flops"] == float(corpus_facts[name]["hardware_flops"])
    assert math.isnan(row["model_flops"])  # AWS's 0: no HLO statistics
    twice = DevicePeaks(
        name="twice", source="a test", flops_by_dtype={"bf16": 2 * row["peak_flops_per_s"]},
        memory_bytes_per_s=2 * row["peak_bytes_per_s"],
    )  # fmt: skip
    halved = utilisation(load(corpus / name), peaks=twice).to_dict("records")[0]
    assert (halved["hfu_ratio"], halved["mbu_ratio"]) == (row["hfu_ratio"] / 2, row["mbu_ratio"] / 2)
