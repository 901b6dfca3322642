"""Findings about a device that waits, copies or is used little; sizes worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from training import MS, Training

from neuron_profile import load
from neuron_profile.analysis import Finding, findings
from trace_format import Trace

LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"


def only(trace: Trace) -> Finding:
    (found,) = findings(trace)
    return found


def test_a_device_for_which_nothing_is_launched_waits_for_the_host() -> None:
    script = Training(3, 100)
    for at in script.starts:
        script.work(at, 60, called=at)
        script.work(at + 90, 10, called=at + 90)  # idle 60-90, launched at 90
    found = only(script.trace())
    assert (found.rule, found.recoverable_ns) == ("host-bound", 30 * MS)
    assert found.title == "The device waits for the host: for 30.0 ms (30.0 %) nothing was launched"
    assert found.evidence[1] == "2 launches per step; half of the 6 kernels take less than 35.0 ms"


def test_a_device_whose_queue_is_full_does_not() -> None:
    script = Training(3, 100)
    for at in script.starts:
        script.work(at, 60, called=at)
        script.work(at + 90, 10, called=at + 1)  # launched long before it began
    assert findings(script.trace()) == ()


def test_a_gap_of_a_single_step_is_not_usual() -> None:
    script = Training(3, 100)
    for number, at in enumerate(script.starts):
        script.work(at, 10 if number == 1 else 95, called=at)
        script.work(at + 95, 5, called=at + 95)
    assert findings(script.trace()) == ()


def synchronising(wait: float) -> Trace:
    """A host that waits for the end of the first kernel, at 60 ms of 100, and launches the next at 80."""
    script = Training(3, 100)
    for at in script.starts:
        script.work(at, 60, called=at)
        script.host("cudaStreamSynchronize", at + 60 - wait, wait + 0.5, "runtime")
        script.work(at + 80, 20, called=at + 80)
    return script.trace()


def test_a_wait_costs_the_gap_after_it() -> None:
    found = only(synchronising(50))
    # the wait of 50.5 ms made the host late for 20: without it the gap were gone
    assert (found.rule, found.recoverable_ns) == ("host-sync", 20 * MS)
    assert found.evidence[1] == "1 such calls per step: cudaStreamSynchronize 3 in all"


def test_a_wait_that_was_short_costs_no_more_than_itself() -> None:
    # the gap of 20 ms is the host's own: without a wait of 1.5 ms it is 1.5 ms shorter, 1.5 % of the step
    assert "host-sync" not in {found.rule for found in findings(synchronising(1))}


def test_a_loader_for_which_the_device_waits_is_named() -> None:
    script = Training(4, 100)
    for at in script.starts:
        script.host(LOADER, at, 40, "annotation")
        script.work(at + 40, 60, called=at + 40)
    found = only(script.trace())
    assert (found.rule, found.recoverable_ns) == ("slow-data-loading", 40 * MS)


def test_a_loader_under_a_busy_device_is_not() -> None:
    script = Training(4, 100)
    for at in script.starts:
        script.host(LOADER, at, 40, "annotation")
        script.work(at, 100, called=at)
    assert findings(script.trace()) == ()


def test_first_calls_are_the_start_up_and_not_the_hosts_fault() -> None:
    script = Training(1, 1000)
    script.host("cudaFree", 0, 600, "runtime")
    script.work(600, 390, called=600)
    script.work(995, 5, called=994)
    found = only(script.trace())
    assert (found.rule, found.recoverable_ns) == ("start-up", 600 * MS)


def test_short_allocations_are_nothing() -> None:
    script = Training(1, 1000)
    for number in range(300):
        script.host("cudaMalloc", number, 0.9, "runtime")
    script.work(0, 1000, called=0)
    assert findings(script.trace()) == ()


def copying(category: str = "memcpy", *, hidden: bool = False) -> Trace:
    script = Training(3, 100)
    for at in script.starts:
        script.work(
            at, 10, called=at, name="Memcpy HtoD (Pageable -> Device)", category=category, stream=8, bytes=10**8
        )
        script.work(at if hidden else at + 10, 100 if hidden else 90, called=at)
    return script.trace()


def test_copies_that_nothing_hides_are_named_with_their_rate() -> None:
    found = only(copying())
    assert (found.rule, found.recoverable_ns) == ("exposed-copies", 10 * MS)
    assert found.evidence[2] == "300 MB in 30.0 ms: 10.0 GB/s"


def test_copies_under_compute_are_not() -> None:
    assert findings(copying(hidden=True)) == ()


def collective(*, compute: float, exposed: float) -> Trace:
    script = Training(3, 100)
    for at in script.starts:
        script.work(at, compute, called=at)
        row = script.work(at + compute, exposed, called=at, name="ncclAllReduce", category="collective", stream=9)
        script.collective(row, size=4_000_000)
    return script.trace()


def test_a_collective_that_nothing_hides_could_hide_under_the_compute_there_is() -> None:
    found = only(collective(compute=80, exposed=20))
    assert (found.rule, found.recoverable_ns) == ("exposed-collectives", 20 * MS)
    assert found.evidence[1] == "3 all_reduce in the whole trace, 12.0 MB in their buffers"
    found = only(collective(compute=10, exposed=90))
    assert found.recoverable_ns == 10 * MS
    assert found.title.endswith("90.0 ms (90.0 %), of which 10.0 ms could be hidden")


def test_a_short_collective_is_nothing() -> None:
    assert findings(collective(compute=96, exposed=4)) == ()


def layout(kernel: str, *, operator: str = "aten::mm", around: str = "aten::linear") -> Trace:
    """Steps of 100 ms of which 20 are a kernel that an operator in another launched."""
    script = Training(3, 100)
    for at in script.starts:
        script.host(around, at, 2)
        script.host(operator, at, 2)
        script.work(at, 20, called=at + 0.5, name=kernel)
        script.work(at + 20, 80, called=at + 3)
    return script.trace()


@pytest.mark.parametrize(
    "trace",
    [
        layout("elementwise", operator="aten::copy_", around="aten::contiguous"),
        layout("cudnn::nchwToNhwcKernel<float>"),
    ],
)
def test_kernels_that_change_a_layout_are_named(trace: Trace) -> None:
    found = only(trace)
    assert (found.rule, found.recoverable_ns) == ("layout-copies", 20 * MS)


def test_kernels_that_convert_or_compute_are_not() -> None:
    assert findings(layout("elementwise", operator="aten::copy_", around="aten::_to_copy")) == ()
    assert findings(layout("gemm")) == ()


def test_an_optimizer_of_many_kernels_costs_the_time_in_which_the_device_idles() -> None:
    script = Training(3, 100)
    for at in script.starts:
        script.work(at, 70, called=at)
        script.host("Optimizer.step#SGD.step", at + 70, 30, "annotation")
        for number in range(150):
            script.host("aten::add_", at + 70 + number * 0.2, 0.1)
            script.work(at + 70 + number * 0.2 + 0.1, 0.1, called=at + 70 + number * 0.2)
    found = findings(script.trace())[0]
    # 150 gaps of 0.1 ms
    assert (found.rule, found.recoverable_ns) == ("unfused-optimizer", 15 * MS)


def products(dur: float) -> Trace:
    """Steps of a product of 4096 x 4096 matrices in bfloat16 on an A100: 137.4 GFLOP, 0.44 ms at 312 TFLOP/s."""
    script = Training(3, dur * 10)
    args = {
        "Input Dims": [[4096, 4096], [4096, 4096]], "Input type": ["c10::BFloat16"] * 2, "Concrete Inputs": ["", ""],
    }  # fmt: skip
    args_id = script.builder.pool.arg_sets.id(json.dumps(args).encode())
    for at in script.starts:
        for number in range(10):
            called = at + number * dur / 100
            script.host("aten::mm", called, dur / 200, args=args_id)
            script.work(at + number * dur, dur, called=called + dur / 1000, name="gemm")
    return script.trace(device_model="NVIDIA A100-SXM4-80GB")


def test_products_far_below_the_peak_are_named_with_what_70_percent_would_save() -> None:
    dur = 4.4
    found = only(products(dur))
    assert found.rule == "low-utilisation"
    at_peak = 2 * 4096**3 / 312e12 * 1e3
    # all of the step is such products: what goes is 1 - (share of the peak) / 0.7 of it
    assert found.recoverable_ns == pytest.approx(10 * dur * MS * (1 - at_peak / dur / 0.7), rel=1e-3)
    assert found.evidence[1] == "aten::mm [4096, 4096] [4096, 4096]: 10.0 % of the compute peak, 100 % of the time"


def test_the_slices_of_what_is_far_below_the_peak_are_products() -> None:
    trace = products(4.4)
    found = only(trace)
    assert {trace.pool.strings[int(trace.slices.name[row])] for row in found.slices} == {"gemm"}
    assert "aten::mm most of all" in found.title


def test_work_that_is_in_bfloat16_is_not_told_to_be() -> None:
    advice = only(products(4.4)).advice
    assert "bfloat16" not in advice
    assert "multiples of 64" in advice
    assert "attention" not in advice


@pytest.mark.parametrize(
    ("path", "operator", "words", "others"),
    [
        # _softmax and bmm of [8, 12, 3137, 3137], all of them bf16: attention written out
        ("kineto/T033_facebook_timesformer-base-finetuned-k400__1016002.json.gz", "aten::_softmax",
         "scaled_dot_product_attention instead of bmm and softmax", "bfloat16"),
        # attention is one kernel of 9.4 % of the peak, in bf16
        ("kineto/T037_Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz", "aten::_scaled_dot_product_flash_attention",
         "sdpa_kernel", "instead of bmm"),
    ],
)  # fmt: skip
def test_the_advice_is_for_the_operators_that_are_named(
    corpus: Path, path: str, operator: str, words: str, others: str
) -> None:
    found = next(one for one in findings(load(corpus / path)) if one.rule == "low-utilisation")
    assert operator in found.title
    assert words in found.advice
    assert others not in found.advice
    assert found.slices


def test_products_near_the_peak_are_not() -> None:
    assert findings(products(0.7)) == ()  # 63 %


@pytest.mark.parametrize(
    ("path", "rule", "least_ms", "most_ms"),
    [
        # a loader of one process, 619 ms of the 1211 with the device idle
        ("kineto/T035_google_owlv2-large-patch14-ensemble__1016001.json.gz", "slow-data-loading", 600, 640),
        # 900 launches in 222 ms: the device works for 61 of them
        ("kineto/T018_nccl_data.json.gz", "host-bound", 150, 165),
        # the first CUDA call takes 29.9 s of 43.5, 13 of cudaFree 6.5
        ("kineto/T004_benchmark_result_2869224_1695835535_trace.json.gz", "start-up", 38_000, 40_000),
        # an optimizer of 32,561 operators, 4.36 s of 13.3
        ("accel_other/T017_mtia_rank_0.json.gz", "unfused-optimizer", 3_000, 4_000),
    ],
)
def test_the_verdict_on_recorded_traces(corpus: Path, path: str, rule: str, least_ms: int, most_ms: int) -> None:
    found = findings(load(corpus / path))[0]
    assert found.rule == rule
    assert least_ms <= found.recoverable_ns / 1e6 <= most_ms


@pytest.mark.parametrize(
    "path",
    [
        "kineto/T020_rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz",  # the device computes 96.5 % of the time
        "accel_other/T092_hccl_0_2_1.json", "viztracer/T236_different_sorts.json", "chrome_trace/T208_flow.json",
    ],
)  # fmt: skip
def test_there_is_nothing_to_say(corpus: Path, path: str) -> None:
    assert findings(load(corpus / path)) == ()
