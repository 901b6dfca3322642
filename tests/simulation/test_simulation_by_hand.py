"""Operators of trn2 worked out by hand from the published cycles and rates. Times in ns.

Clocks: Tensor 2.4, Vector 0.96, Scalar 1.2, GpSimd 1.2 cycles per ns. A DMA packet of B bytes takes max(5.3 + B / 27.1,
B / 23), at least 15; sixteen of them at once.
"""

from __future__ import annotations

import pytest
from calls import BF16, INT64, number, tensor, time_of, work_of

from neuron_profile.hardware.core import core_model
from neuron_profile.simulation.op_time import tensor_ns

LOAD, STORE, INPUT, SEMAPHORE = 1680, 1300, 582, 35
TENSOR, SCALAR, VECTOR = 163, 110, 85


def _packets(rows: int, nbytes: int) -> float:
    return rows / 16 * max(5.3 + nbytes / 27.1, nbytes / 23, 15)


def test_a_product() -> None:
    """[128, 128] x [128, 512] in bf16: one transpose (59) and one instruction of 512 columns, at half speed."""
    tensor_busy = 2 * (59 + 512 / 2.4)
    # half of 512 columns, and half of the 128 of the transpose, by each engine that empties PSUM
    scalar = ((512 + 59) / 1.2 + (128 + 59) / 1.2) / 2
    vector = ((512 + 56) / 0.96 + (128 + 56) / 0.96) / 2
    compute = (tensor_busy + scalar + vector) / 0.9  # one tile: nothing overlaps; the best code reaches 90 %
    moved = _packets(128, 256) + _packets(128, 1024) + _packets(128, 1024)
    fixed = LOAD + INPUT + STORE + TENSOR + SCALAR + VECTOR + SEMAPHORE
    time = time_of("mm", tensor((128, 128), BF16), tensor((128, 512), BF16))
    assert time.ns == pytest.approx(compute + moved + fixed)


def test_a_function_of_each_element() -> None:
    """relu of 262,144 fp32: 128 partitions of 2048, on Scalar from SBUF."""
    compute = (2048 + 222) / 1.2
    fixed = LOAD + STORE + SCALAR + SEMAPHORE
    assert time_of("relu", tensor((512, 512))).ns == pytest.approx(compute + 2 * _packets(128, 8192) + fixed)


def test_a_sum_of_two_tensors() -> None:
    """Vector takes 2048 elements of each in one instruction."""
    compute = (2048 + 72) / 0.96
    fixed = LOAD + INPUT + STORE + VECTOR + SEMAPHORE
    time = time_of("add", tensor((512, 512)), tensor((512, 512)), number("1"))
    assert time.ns == pytest.approx(compute + 3 * _packets(128, 8192) + fixed)


def test_a_product_with_a_number_is_twice_as_fast_on_vector() -> None:
    """fp32 in SBUF: two elements a cycle, and 124 cycles more."""
    work = work_of("mul", tensor((512, 512)), tensor(()))
    assert dict(work.stages[0].busy_ns) == {"Vector": pytest.approx((1024 + 124) / 0.96)}


def test_a_softmax() -> None:
    """256 rows of 1000 fp32 in two tiles; the maximum, then exponentials beside their sum, then the scaling."""
    reduce, exponential = 2 * (1000 + 67) / 0.96, 2 * (1000 + 222) / 1.2
    scale = 2 * ((8 + 57) / 0.96 + (500 + 124) / 0.96)
    compute = reduce + (reduce + exponential / 2) + scale
    first = 9 * 4000 / 23  # 131 rows fit into one instruction of 512 KiB: nine packets for each engine
    fixed = LOAD + STORE + SCALAR + VECTOR + SEMAPHORE
    time = time_of("_softmax", tensor((256, 1000)), number("-1"), number("False"))
    assert time.ns == pytest.approx(compute + 2 * first + fixed)


def test_a_layer_norm() -> None:
    """128 rows of 768 fp32: statistics in pieces of 512 and 256 and two of them joined, then scaled and multiplied."""
    statistics = (512 + 67) / 0.96 + (256 + 67) / 0.96 + (13 * 2 / 3 + 67) / 0.96
    compute = statistics + (384 + 124) / 0.96 + (768 + 72) / 0.96
    moved = _packets(128, 3072) + 2 * _packets(128, 24) + _packets(128, 3072)  # weight and bias: 24 bytes a partition
    fixed = LOAD + 2 * INPUT + STORE + VECTOR + SEMAPHORE
    time = time_of(
        "native_layer_norm", tensor((128, 768)), number("[768]"), tensor((768,)), tensor((768,)), number("1e-05")
    )
    assert time.ns == pytest.approx(compute + moved + fixed)


def test_an_embedding_is_bound_by_giving_dma_instructions() -> None:
    """64 rows: one instruction for the index, one that GpSimd writes for the rows, one for the result."""
    issue = 565 / 2 + 582 + 565 / 2
    time = time_of("embedding", tensor((1000, 128)), tensor((64,), INT64), number("-1"))
    assert time.bound == "dma_issue"
    assert time.ns == pytest.approx(issue + LOAD + INPUT + STORE + SEMAPHORE)


def test_the_tensor_engine_is_at_half_speed_for_its_first_window() -> None:
    core = core_model("trn2")
    assert tensor_ns(1000, 0, core) == 2000
    assert tensor_ns(10_000, 0, core) == 10_000 + 3413 / 2
    assert tensor_ns(10_000, 30_000, core) == 20_000  # used less than half of the time it never gets fast
    assert tensor_ns(10_000, 0, core_model("inf2")) == 10_000


def test_an_fp32_product_takes_four_times_the_cycles() -> None:
    square = (1024, 1024)
    fp32, bf16 = (work_of("mm", tensor(square, dtype), tensor(square, dtype)) for dtype in ("float", BF16))
    # 128 instructions of 512 columns; 64 transposes of the left factor
    assert bf16.stages[0].busy_ns["Tensor"] == pytest.approx(128 * 512 / 2.4 + 64 * 59)
    assert fp32.stages[0].busy_ns["Tensor"] == pytest.approx(128 * 4 * 512 / 2.4 + 64 * 2 * 128 / 2.4)


def test_of_a_short_product_the_short_side_moves() -> None:
    """One row: 8 x 8 weight tiles of 64 cycles each, not 8 x 1024 columns; and the row turned, 8 blocks."""
    work = work_of("mm", tensor((1, 1024), BF16), tensor((1024, 1024), BF16))
    assert work.stages[0].busy_ns["Tensor"] == pytest.approx(64 * 64 / 2.4 + 8 * 59)


def test_a_compiler_lays_weights_out_beforehand() -> None:
    weight = tensor((1024, 1024), BF16, (1, 1024))  # linear's weight, transposed
    eager, compiled = (
        work_of("mm", tensor((128, 1024), BF16), weight, compiled=compiled) for compiled in (False, True)
    )
    turns = eager.stages[0].busy_ns["Tensor"] - compiled.stages[0].busy_ns["Tensor"]
    assert turns == pytest.approx(64 * 59)


def test_attention_backward_takes_two_and_a_half_times_the_products() -> None:
    head = tensor((1, 8, 1024, 64), BF16)
    statistics = tensor((1, 8, 1024))
    forward = time_of("_scaled_dot_product_flash_attention_for_cpu", head, head, head, number("0."), number("False"))
    backward = time_of(
        "_scaled_dot_product_flash_attention_for_cpu_backward", head, head, head, head, head, statistics,
        number("0."), number("False"),
    )  # fmt: skip
    assert 2 <= backward.ns / forward.ns <= 4


def test_what_a_causal_mask_hides_is_not_computed() -> None:
    head = tensor((1, 8, 2048, 64), BF16)
    whole, half = (
        work_of("_scaled_dot_product_flash_attention_for_cpu", head, head, head, number("0."), number(causal))
        for causal in ("False", "True")
    )
    for one, other in zip(whole.stages, half.stages, strict=True):
        assert {engine: ns / 2 for engine, ns in one.busy_ns.items()} == pytest.approx(dict(other.busy_ns))


def test_two_cores_share_an_operator_of_many_rows() -> None:
    many, few = tensor((8192, 1024)), tensor((100, 1024))
    one, two = (time_of("_softmax", many, number("-1"), number("False"), lnc=lnc) for lnc in (1, 2))
    assert two.core_ns == pytest.approx(one.core_ns / 2, rel=0.05)
    small, shared = (time_of("_softmax", few, number("-1"), number("False"), lnc=lnc) for lnc in (1, 2))
    assert shared.ns == small.ns
