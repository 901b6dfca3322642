"""The estimates of kernels for which the model's predictions were worked out before and checked on real profiles.

The expected numbers are times of the work in microseconds (from the first instruction to the last, without the fixed
time of a NEFF): those predicted in that comparison, and those measured in public trn2 and inf2 profiles.
"""

from __future__ import annotations

from typing import Any

import pytest
from calls import BF16, FP16, FP32, number, tensor, time_of

from neuron_profile.hardware.core import core_model
from neuron_profile.simulation.lowering.movement import transposed
from neuron_profile.simulation.lowering.target import Target
from neuron_profile.simulation.op_time import op_time

WITHIN = 0.10
OF_MEASURED = 0.40  # a measured add takes less: its two inputs are loaded at once
REREAD_US = 0.38  # each time the scores are read back from HBM


def _unfused_us(dtype: str) -> float:
    """Attention as three operators, its scores in fp32 through HBM."""
    queries, keys, values = tensor((1, 512, 128), dtype), tensor((1, 128, 512), dtype, (65536, 1, 128)), (1, 512, 128)
    scores = tensor((1, 512, 512), FP32)
    parts = (
        time_of("bmm", queries, keys),
        time_of("_softmax", scores, number("-1"), number("False")),
        time_of("bmm", scores, tensor(values, dtype)),
    )
    return sum(part.ns for part in parts) / 1000 + 2 * REREAD_US


def _fused_us(length: int) -> float:
    head: dict[str, Any] = tensor((1, 1, length, 128), BF16)
    return time_of("_scaled_dot_product_flash_attention", head, head, head).ns / 1000


def _add_us() -> float:
    numbers = tensor((256_000,))
    return time_of("add", numbers, numbers, number("1")).ns / 1000


@pytest.mark.parametrize(
    ("estimated_us", "predicted_us", "measured_us"),
    [
        pytest.param(lambda: _unfused_us(BF16), 36.58, 39.08, id="attention unfused bf16 S512"),
        pytest.param(lambda: _unfused_us(FP32), 40.16, 43.41, id="attention unfused fp32 S512"),
        pytest.param(lambda: _fused_us(512), 21.01, 20.96, id="attention fused bf16 S512"),
        pytest.param(lambda: _fused_us(1024), 52.32, 51.26, id="attention fused bf16 S1024"),
        pytest.param(_add_us, 13.15, 10.24, id="add 256,000 fp32"),
        pytest.param(
            lambda: op_time(transposed(1024, 1024, 4, 1, Target(core_model("trn2"))), core_model("trn2")).ns / 1000,
            27.46, 28.1,
            id="transpose 1024x1024 fp32",
        ),
        pytest.param(
            lambda: time_of(
                "conv2d", tensor((1, 256, 32, 16)), tensor((256, 256, 3, 3)), number(""), number("[1, 1]"),
                number("[0, 0]"), number("[1, 1]"), number("1"),
            ).ns / 1000,
            50.56, 40.96,
            id="conv 256x256x3x3 on 32x16 fp32",
        ),
    ],
)  # fmt: skip
def test_a_kernel_on_trn2_takes_what_was_predicted(estimated_us: Any, predicted_us: float, measured_us: float) -> None:
    assert estimated_us() == pytest.approx(predicted_us, rel=WITHIN)
    assert estimated_us() == pytest.approx(measured_us, rel=OF_MEASURED)


@pytest.mark.parametrize(("columns", "predicted_us", "measured_us"), [(1000, 5.31, 7.45), (1024, 5.34, 6.33)])
def test_a_product_on_inf2_takes_what_was_predicted(columns: int, predicted_us: float, measured_us: float) -> None:
    weights = tensor((128, 128), FP16, (1, 128))  # as the kernel wants them: their rows along the partitions
    time = time_of("mm", weights, tensor((128, columns), FP16), device="inf2")
    assert time.ns / 1000 == pytest.approx(predicted_us, rel=WITHIN)
    assert time.ns / 1000 == pytest.approx(measured_us, rel=OF_MEASURED)


def test_a_contiguous_copy_of_a_transposed_view_is_the_transpose() -> None:
    copy = time_of("copy_", tensor((1024, 1024)), tensor((1024, 1024), FP32, (1, 1024)), number("False"))
    core = core_model("trn2")
    assert copy == op_time(transposed(1024, 1024, 4, 1, Target(core)), core)
