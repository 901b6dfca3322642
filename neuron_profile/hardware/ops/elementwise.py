"""Operators that compute each element of their result from one element of each input."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from neuron_profile.hardware.call import Call, Tensor
from neuron_profile.hardware.rule import Rule, Traffic

_SOURCE = (
    "each input read once, the broadcast result written once; one operation per element of the result, "
    "as torch's profiler counts aten::add and aten::mul (torch/csrc/profiler/util.cpp)"
)

_ONE_INPUT = """
    abs neg negative exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal square sin cos tan asin acos atan sinh
    cosh asinh acosh atanh sigmoid tanh erf erfc erfinv lgamma digamma relu relu6 gelu silu mish hardswish
    hardsigmoid hardtanh elu selu celu leaky_relu log_sigmoid_forward softplus softshrink hardshrink threshold ceil
    floor round trunc frac sign sgn nan_to_num clamp_min clamp_max bitwise_not logit sinc i0 polygamma
    cumsum cumprod logcumsumexp tril triu flip roll conj_physical
    renorm bitwise_left_shift bitwise_right_shift __lshift__ __rshift__
"""
_TWO_INPUTS = """
    add sub rsub subtract mul multiply div divide true_divide floor_divide remainder fmod pow float_power maximum
    minimum fmax fmin atan2 hypot logaddexp logaddexp2 copysign xlogy ldexp bitwise_and bitwise_or bitwise_xor __and__
    __or__ __xor__ masked_fill threshold_backward tanh_backward sigmoid_backward gelu_backward silu_backward
    hardtanh_backward hardswish_backward hardsigmoid_backward leaky_relu_backward elu_backward mish_backward
    softplus_backward log_sigmoid_backward prelu native_dropout_backward _masked_scale lcm gcd heaviside nextafter
"""
_THREE_INPUTS = "where addcmul addcdiv lerp clamp _prelu_kernel_backward"
_FLAGS_OF_ONE = "logical_not isnan isinf isfinite isneginf isposinf signbit"
_FLAGS_OF_TWO = "eq ne lt le gt ge not_equal less less_equal greater greater_equal logical_and logical_or logical_xor"
_FILLS = "fill zero uniform normal bernoulli random exponential geometric log_normal cauchy"


def broadcast(tensors: Sequence[Tensor]) -> tuple[int, ...] | None:
    """The shape that these tensors have when they are broadcast together, None where they do not fit."""
    shape: list[int] = []
    for tensor in tensors:
        shape = [1] * (len(tensor.shape) - len(shape)) + shape
        for axis in range(-1, -len(tensor.shape) - 1, -1):
            if tensor.shape[axis] != 1 and shape[axis] not in (1, tensor.shape[axis]):
                return None
            if shape[axis] == 1:
                shape[axis] = tensor.shape[axis]
    return tuple(shape)


def result_itemsize(tensors: Sequence[Tensor]) -> int:
    """Bytes of an element of the result: the widest input's; one without dimensions widens nothing."""
    return max((t.itemsize for t in tensors if t.shape), default=max((t.itemsize for t in tensors), default=0))


def _inputs(call: Call, most: int) -> tuple[Tensor, ...]:
    """The inputs; a tensor after the last one an operator can take is where an out= call writes to."""
    return call.tensors[:most]


def _traffic(most: int, itemsize: int | None = None) -> Callable[[Call], Traffic | None]:
    def traffic(call: Call) -> Traffic | None:
        inputs = _inputs(call, most)
        shape = broadcast(inputs)
        if not inputs or shape is None:
            return None
        read = sum(t.nbytes for t in inputs)
        if call.in_place:
            return Traffic(read, inputs[0].nbytes)
        return Traffic(read, math.prod(shape) * (itemsize or result_itemsize(inputs)))

    return traffic


def _flops(most: int) -> Callable[[Call], float | None]:
    def flops(call: Call) -> float | None:
        shape = broadcast(_inputs(call, most))
        return None if shape is None else math.prod(shape)

    return flops


def _fill(call: Call) -> Traffic | None:
    target = call.tensor(0)
    return None if target is None else Traffic(0, target.nbytes)


def _dropout(call: Call) -> Traffic | None:
    source = call.tensor(0)
    # the mask is one bool per element
    return None if source is None else Traffic(source.nbytes, source.nbytes + source.numel)


def _rules(name: str, names: str, most: int, itemsize: int | None = None) -> dict[str, Rule]:
    rule = Rule(name, _traffic(most, itemsize), _flops(most), _SOURCE)
    return dict.fromkeys(names.split(), rule)


RULES: dict[str, Rule] = {
    **_rules("elementwise", _ONE_INPUT, 1),
    **_rules("elementwise", _TWO_INPUTS, 2),
    **_rules("elementwise", _THREE_INPUTS, 3),
    **_rules("elementwise", _FLAGS_OF_ONE, 1, 1),
    **_rules("elementwise", _FLAGS_OF_TWO, 2, 1),
    **dict.fromkeys(_FILLS.split(), Rule("fill", _fill, None, "the target is written once")),
    "native_dropout": Rule(
        "dropout", _dropout, _flops(1), "input read, result and a mask of one byte per element written"
    ),
}
