"""Softmax, the norms, and their gradients."""

from __future__ import annotations

import math
from collections.abc import Callable

from neuron_profile.hardware.call import Call, Tensor
from neuron_profile.hardware.dtypes import STATISTIC_BYTES
from neuron_profile.hardware.rule import Rule, Traffic

# Operations per element, counted by hand:
# softmax: maximum, subtract, exponential, add, divide; its gradient: multiply, add, subtract, multiply.
_SOFTMAX, _SOFTMAX_BACKWARD = 5, 4
# norm: add (mean), subtract, square, add (variance), multiply (by 1/std), multiply (weight), add (bias), and the
# share of the square root; its gradient: the two sums (4), weight and bias gradients (3), the result (5).
_NORM, _NORM_BACKWARD = 8, 12
# RMS norm: square, add, multiply (by 1/rms), multiply (weight)
_RMS_NORM = 4

_ONCE = "every tensor read or written once; {} operations per element (counted step by step in the rule's file)"


def _per_element(operations: int, position: int = 0) -> Callable[[Call], float | None]:
    def flops(call: Call) -> float | None:
        source = call.tensor(position)
        return None if source is None else operations * source.numel

    return flops


def _softmax(call: Call) -> Traffic | None:
    source = call.tensor(0)
    if source is None:
        return None
    # half_to_float: the result of a half-precision softmax is float
    itemsize = 4 if call.flag(2) else source.itemsize
    return Traffic(source.nbytes, source.numel * itemsize)


def _softmax_backward(call: Call) -> Traffic | None:
    gradient, output = call.tensor(0), call.tensor(1)
    return None if gradient is None or output is None else Traffic(gradient.nbytes + output.nbytes, gradient.nbytes)


def _forward(
    parameters: tuple[int, ...], statistics: Callable[[Call, Tensor], int]
) -> Callable[[Call], Traffic | None]:
    """Reads the input and the parameters, writes the result and `statistics` numbers."""

    def traffic(call: Call) -> Traffic | None:
        source = call.tensor(0)
        if source is None:
            return None
        read = source.nbytes + sum(t.nbytes for t in map(call.tensor, parameters) if t is not None)
        return Traffic(read, source.nbytes + statistics(call, source) * STATISTIC_BYTES)

    return traffic


def _backward(source_at: int, read: tuple[int, ...], parameters: tuple[int, ...]) -> Callable[[Call], Traffic | None]:
    """Reads the tensors at `read`, writes a gradient as large as the input and one for each of the parameters."""

    def traffic(call: Call) -> Traffic | None:
        source = call.tensor(source_at)
        if source is None:
            return None
        written = source.nbytes + sum(t.nbytes for t in map(call.tensor, parameters) if t is not None)
        return Traffic(sum(t.nbytes for t in map(call.tensor, read) if t is not None), written)

    return traffic


def _rows(per_row: int) -> Callable[[Call, Tensor], int]:
    """`per_row` numbers for each row of the normalised shape, which is the argument after the input."""

    def statistics(call: Call, source: Tensor) -> int:
        shape = call.numbers(1)
        weight = call.tensor(2)
        size = math.prod(shape) if shape else weight.numel if weight else 0
        return per_row * source.numel // size if size else 0

    return statistics


def _channels(call: Call, source: Tensor) -> int:
    """Mean and inverse deviation of each channel."""
    return 2 * source.shape[1] if len(source.shape) > 1 else 0


def _groups(call: Call, source: Tensor) -> int:
    """Mean and inverse deviation of each group of each sample: native_group_norm(.., N, C, HxW, group, eps)."""
    return 2 * (call.number(3) or 0) * (call.number(6) or 0)


def _norm(traffic: Callable[[Call], Traffic | None], operations: int = _NORM, source_at: int = 0) -> Rule:
    return Rule("normalisation", traffic, _per_element(operations, source_at), _ONCE.format(operations))


_SOFTMAX_RULE = Rule("softmax", _softmax, _per_element(_SOFTMAX), _ONCE.format(_SOFTMAX))
_SOFTMAX_GRADIENT = Rule("softmax", _softmax_backward, _per_element(_SOFTMAX_BACKWARD), _ONCE.format(_SOFTMAX_BACKWARD))
_BATCH = _forward((1, 2, 3, 4), _channels)

RULES: dict[str, Rule] = {
    **dict.fromkeys(("_softmax", "_log_softmax", "_safe_softmax"), _SOFTMAX_RULE),
    **dict.fromkeys(("_softmax_backward_data", "_log_softmax_backward_data"), _SOFTMAX_GRADIENT),
    "native_layer_norm": _norm(_forward((2, 3), _rows(2))),
    "_fused_rms_norm": _norm(_forward((2,), _rows(1)), _RMS_NORM),
    "native_group_norm": _norm(_forward((1, 2), _groups)),
    **dict.fromkeys(
        ("native_batch_norm", "cudnn_batch_norm", "miopen_batch_norm", "_native_batch_norm_legit"), _norm(_BATCH)
    ),
    # (grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask)
    "native_layer_norm_backward": _norm(_backward(1, (0, 1, 3, 4, 5), (5, 6)), _NORM_BACKWARD, 1),
    # (grad_out, input, mean, rstd, weight, N, C, HxW, group, output_mask)
    "native_group_norm_backward": _norm(_backward(1, (0, 1, 2, 3, 4), (4, 4)), _NORM_BACKWARD, 1),
    # (grad_out, input, weight, running_mean, running_var, save_mean, save_invstd, train, eps, output_mask)
    "native_batch_norm_backward": _norm(_backward(1, (0, 1, 2, 5, 6), (2, 2)), _NORM_BACKWARD, 1),
    # (input, grad_output, weight, running_mean, running_var, save_mean, save_var, epsilon, ...)
    **dict.fromkeys(
        ("cudnn_batch_norm_backward", "miopen_batch_norm_backward"),
        _norm(_backward(0, (0, 1, 2, 5, 6), (2, 2)), _NORM_BACKWARD),
    ),
}
