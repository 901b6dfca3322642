"""Bytes and operations of single calls, worked out by hand; float32 unless said otherwise."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from neuron_profile.hardware import OpCost, op_cost
from neuron_profile.hardware.op_cost import RULES
from neuron_profile.hardware.ops.movement import MOVES_NOTHING


def cost(name: str, *shapes: Any, types: Any = None, values: Any = ()) -> OpCost | None:
    args = {"Input Dims": list(shapes), "Input type": types or ["float"] * len(shapes)}
    return op_cost(name, json.dumps(args | ({"Concrete Inputs": list(values)} if values else {})).encode())


def sizes(found: OpCost | None) -> tuple[int, int, float]:
    assert found is not None
    return found.read_bytes, found.written_bytes, found.flops


BF16, HALF, LONG = "c10::BFloat16", "c10::Half", "long int"


@pytest.mark.parametrize(
    ("found", "read", "written", "flops"),
    [
        # 3x4 + 3x4 floats in, 3x4 out
        (cost("aten::add", [3, 4], [3, 4], []), 2 * 12 * 4, 12 * 4, 12),
        # broadcast: [3, 1] with [4] is [3, 4]
        (cost("aten::mul", [3, 1], [4]), (3 + 4) * 4, 12 * 4, 12),
        # in place: both read, the first written
        (cost("aten::add_", [3, 4], [4], []), (12 + 4) * 4, 12 * 4, 12),
        # a number that torch wrapped as a double tensor does not widen the result
        (cost("aten::mul", [10], [], types=[BF16, "double"]), 10 * 2 + 8, 10 * 2, 10),
        # an out= call passes the result as one more tensor; it is not read
        (cost("aten::add", [5], [5], [], [5], types=["float", "float", "Scalar", "float"]), 40, 20, 5),
        # flags are one byte
        (cost("aten::eq", [8], [8], types=[LONG, LONG]), 2 * 8 * 8, 8, 8),
        (cost("aten::where", [6], [6], [6], types=["bool", "float", "float"]), 6 + 48, 24, 6),
        (cost("aten::fill_", [7], []), 0, 28, 0),
        (cost("aten::zero_", [7], types=[BF16]), 0, 14, 0),
        (cost("aten::native_dropout", [10], [], []), 40, 40 + 10, 10),
        # copy_ reads the source and writes the target, each in its own type
        (cost("aten::copy_", [100], [100], [], types=[BF16, "float", "Scalar"]), 400, 200, 0),
        # 2 x 3 by 3 x 5
        (cost("aten::mm", [2, 3], [3, 5]), (6 + 15) * 4, 10 * 4, 2 * 2 * 3 * 5),
        (cost("aten::addmm", [5], [2, 3], [3, 5], [], []), (5 + 6 + 15) * 4, 10 * 4, 60),
        (cost("aten::bmm", [7, 2, 3], [7, 3, 5], types=[HALF, HALF]), 7 * (6 + 15) * 2, 7 * 10 * 2, 7 * 60),
        (cost("aten::mv", [4, 3], [3]), (12 + 3) * 4, 4 * 4, 24),
        (cost("aten::dot", [9], [9]), 72, 4, 18),
        (cost("aten::linear", [8, 2, 3], [5, 3], [5]), (48 + 15 + 5) * 4, 80 * 4, 8 * 60),
        (cost("aten::matmul", [8, 1, 2, 3], [4, 3, 5]), (48 + 60) * 4, 8 * 4 * 10 * 4, 8 * 4 * 60),
        # 8-bit factors, two-byte result
        (
            cost("aten::_scaled_mm", [16, 32], [32, 8], [], [], types=["c10::Float8_e4m3fn"] * 2 + ["float"] * 2),
            16 * 32 + 32 * 8, 16 * 8 * 2, 2 * 16 * 32 * 8,
        ),
        # [2, 3, 8, 8] with 4 filters 3x3, padding 1, stride 2: output 4x4, 27 weights met by each of 2*4*16 elements
        (
            cost("aten::convolution", [2, 3, 8, 8], [4, 3, 3, 3], [4], [], [], [], [], [], [],
                 types=["float"] * 3 + ["ScalarList"] * 3 + ["Scalar", "ScalarList", "Scalar"],
                 values=["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1"]),
            (384 + 108 + 4) * 4, 2 * 4 * 16 * 4, 2 * 27 * 128,
        ),
        # transposed, stride 2, 3x3: (4 - 1) * 2 + 3 = 9 wide; 5 * 9 weights met by each of 2 * 16 input elements
        (
            cost("aten::convolution", [1, 2, 4, 4], [2, 5, 3, 3], [], [], [], [], [], [], [],
                 types=["float"] * 2 + [""] + ["ScalarList"] * 3 + ["Scalar", "ScalarList", "Scalar"],
                 values=["", "", "", "[2, 2]", "[0, 0]", "[1, 1]", "True", "[0, 0]", "1"]),
            (32 + 90) * 4, 5 * 81 * 4, 2 * 32 * 45,
        ),
        # both gradients of the first one: each 2 * 27 * 128
        (
            cost("aten::convolution_backward", [2, 4, 4, 4], [2, 3, 8, 8], [4, 3, 3, 3], [], [], [], [], [], [], [], [],
                 types=["float"] * 3 + ["ScalarList"] * 4 + ["Scalar", "ScalarList", "Scalar", ""],
                 values=[""] * 7 + ["False", "[0, 0]", "1", "[True, True, True]"]),
            (128 + 384 + 108) * 4, (384 + 108 + 4) * 4, 2 * 2 * 27 * 128,
        ),
        # only the weight's: the input is read, the weight is not
        (
            cost("aten::convolution_backward", [2, 4, 4, 4], [2, 3, 8, 8], [4, 3, 3, 3], [], [], [], [], [], [], [], [],
                 types=["float"] * 3 + ["ScalarList"] * 4 + ["Scalar", "ScalarList", "Scalar", ""],
                 values=[""] * 7 + ["False", "[0, 0]", "1", "[False, True, False]"]),
            (128 + 384) * 4, 108 * 4, 2 * 27 * 128,
        ),
        (cost("aten::sum", [3, 4], [], [], types=["float", "ScalarList", "Scalar"], values=["", "[1]", "False"]),
         48, 12, 12),
        (cost("aten::mean", [3, 4], [], types=["float", ""]), 48, 4, 12),
        (cost("aten::argmax", [3, 4], [], types=["float", "Scalar"], values=["", "-1"]), 48, 3 * 8, 0),
        (cost("aten::max", [3, 4], [], types=["float", "Scalar"], values=["", "1"]), 48, 3 * (4 + 8), 12),
        (cost("aten::topk", [3, 100], [], types=["float", "Scalar"], values=["", "5"]), 1200, 3 * 5 * 12, 0),
        (cost("aten::_softmax", [6, 10], [], []), 240, 240, 300),
        (cost("aten::_softmax", [10], [], [], types=[HALF, "Scalar", "Scalar"], values=["", "-1", "True"]), 20, 40, 50),
        # mean and 1/deviation of each of the 6 rows
        (
            cost("aten::native_layer_norm", [6, 10], [], [10], [10], [],
                 types=["float", "ScalarList", "float", "float", "Scalar"], values=["", "[10]", "", "", "1e-05"]),
            (60 + 10 + 10) * 4, (60 + 2 * 6) * 4, 8 * 60,
        ),
        (cost("aten::native_batch_norm", [2, 3, 4], [3], [3], [3], [3]), (24 + 12) * 4, (24 + 6) * 4, 8 * 24),
        # 4 rows of 16 numbers picked by int64 indices
        (cost("aten::embedding", [100, 16], [4], types=["float", LONG]), 4 * 8 + 256, 256, 0),
        (
            cost("aten::embedding_dense_backward", [4, 16], [4], [], [], [],
                 types=["float", LONG, "Scalar", "Scalar", "Scalar"], values=["", "", "100", "-1", "False"]),
            256 + 32, 100 * 16 * 4, 0,
        ),
        (cost("aten::index_select", [100, 16], [], [4], types=["float", "Scalar", LONG], values=["", "1", ""]),
         4 * 8 + 100 * 4 * 4, 100 * 4 * 4, 0),
        (cost("aten::gather", [9, 9], [], [2, 3], types=["float", "Scalar", LONG]), 6 * 8 + 24, 24, 0),
        # queries [1, 2, 8, 16], keys and values of 4: 16 rows by 4 keys, 2 * 16 * 4 * (16 + 16)
        (cost("aten::_scaled_dot_product_flash_attention_for_cpu", [1, 2, 8, 16], [1, 2, 4, 16], [1, 2, 4, 16], [], []),
         (256 + 128 + 128) * 4, (256 + 16) * 4, 2 * 16 * 4 * 32),
        # five products of 2 * 16 * 4 * 16
        (
            cost("aten::_scaled_dot_product_flash_attention_for_cpu_backward", [1, 2, 8, 16], [1, 2, 8, 16],
                 [1, 2, 4, 16], [1, 2, 4, 16], [1, 2, 8, 16], [1, 2, 8]),
            (3 * 256 + 2 * 128 + 16) * 4, (256 + 128 + 128) * 4, 5 * 2 * 16 * 4 * 16,
        ),
        (cost("aten::nll_loss_forward", [6, 10], [6], [], [], types=["float", LONG, "", "Scalar"],
              values=["", "", "", "1"]), 6 * 4 + 6 * 8, 8, 0),
        (cost("aten::mse_loss", [6], [6], [], types=["float", "float", "Scalar"], values=["", "", "1"]), 48, 4, 18),
        (cost("aten::_local_scalar_dense", [5]), 4, 0, 0),
    ],
)  # fmt: skip
def test_costs_worked_out_by_hand(found: OpCost | None, read: int, written: int, flops: float) -> None:
    assert sizes(found) == (read, written, flops)
    assert found is not None
    assert not found.generic


def test_lists_of_tensors_are_taken_for_float32_and_say_so() -> None:
    found = cost("aten::cat", [[2, 3], [4, 3]], [], types=["TensorList", "Scalar"])
    assert sizes(found) == (18 * 4, 18 * 4, 0)
    assert found is not None
    assert found.generic


def test_lists_of_tensors_have_the_type_of_a_tensor_beside_them() -> None:
    found = cost("aten::index", [100, 16], [[4]], types=[BF16, "TensorList"])
    # 4 rows of 16 bfloat16, and 4 int64 indices
    assert sizes(found) == (128 + 32, 128, 0)


def test_adam_reads_five_lists_and_writes_three() -> None:
    lists = [[[10], [20]]] * 4 + [[], [[], []]]
    found = cost("aten::_fused_adamw_", *lists, types=["TensorList"] * 6)
    assert sizes(found) == (4 * 30 * 4, 3 * 30 * 4, 12 * 30)


@pytest.mark.parametrize(
    "name",
    ["aten::view", "aten::t", "aten::transpose", "aten::as_strided", "aten::empty", "aten::detach", "aten::resize_",
     "aten::to", "aten::size", "aten::dropout", "aten::expand"],
)  # fmt: skip
def test_views_allocations_and_wrappers_move_nothing(name: str) -> None:
    assert cost(name, [100, 100]) is None


@pytest.mark.parametrize(
    "name",
    ["autograd::engine::evaluate_function: AddmmBackward0", "AddmmBackward0", "torch::autograd::AccumulateGrad",
     "c10d::allreduce_", "record_param_comms", "ProfilerStep#1", "aten::"],
)  # fmt: skip
def test_what_is_no_operator_has_no_cost(name: str) -> None:
    assert cost(name, [100, 100]) is None


def test_an_operator_without_a_rule_is_counted_by_the_generic_one_and_says_so() -> None:
    found = cost("vllm::rotary", [10, 4], [20])
    # both read, a result as large as the larger written
    assert found is not None
    assert (found.read_bytes, found.written_bytes) == (240, 160)
    assert math.isnan(found.flops)
    assert found.generic
    assert found.calls_others


def test_a_rule_that_its_arguments_do_not_satisfy_gives_way_to_the_generic_one() -> None:
    # without its recorded stride a convolution does not tell its output
    found = cost("aten::convolution", [2, 3, 8, 8], [4, 3, 3, 3])
    assert found is not None
    assert found.generic
    assert math.isnan(found.flops)


def test_a_compiled_kernel_moves_each_argument_once() -> None:
    found = cost("triton_poi_fused_add_0", [10], [10], [10], [])
    assert found is not None
    assert found.nbytes == 120 + 4


def test_overload_names_and_older_keys_are_understood() -> None:
    assert sizes(cost("aten::add_.Tensor", [3], [3])) == (24, 12, 3)
    assert sizes(op_cost("aten::relu", b'{"Input dims": [[5]], "Input type": ["double"]}')) == (40, 40, 5)


@pytest.mark.parametrize(
    "text",
    [b"", b"{}", b"[]", b"not json", b'{"Input Dims": [[5]]}', b'{"Input Dims": [[5]], "Input type": []}',
     b'{"Input Dims": [["x"]], "Input type": ["float"]}', b'{"Input Dims": [[-5]], "Input type": ["float"]}',
     b'{"Input Dims": [[true]], "Input type": ["float"]}', b'{"Input Dims": 5, "Input type": ["float"]}',
     b'{"Input Dims": [[5]], "Input type": [{}]}', b'{"Input Dims": [3], "Input type": ["TensorList"]}',
     b'{"Input Dims": [[]], "Input type": ["Scalar"]}', b'{"Input Dims": [[0]], "Input type": ["float"]}',
     b'{"Input Dims": [[9223372036854775807, 9]], "Input type": ["float"]}'],
)  # fmt: skip
def test_arguments_that_make_no_sense_have_no_cost(text: bytes) -> None:
    assert op_cost("aten::relu", text) is None


def test_no_operator_both_moves_and_does_not() -> None:
    assert not RULES.keys() & MOVES_NOTHING


def test_every_rule_names_its_source() -> None:
    assert all(rule.source for rule in RULES.values())
