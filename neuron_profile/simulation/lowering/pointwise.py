"""Operators that compute each element of their result from one element of each input.

Vector takes two tensors, or one and a number; Scalar computes functions of one tensor; GpSimd fills in by position.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from neuron_profile.hardware.call import Call, Tensor
from neuron_profile.hardware.ops.elementwise import RULES, broadcast, result_itemsize
from neuron_profile.simulation.lowering.target import Flat, Lower, Target, flat_bytes, flat_transfers
from neuron_profile.simulation.work import Work, stage


@dataclass(frozen=True, slots=True)
class Passes:
    """How often each instruction goes over the elements."""

    activation: int = 0
    tensor_tensor: int = 0
    tensor_scalar: int = 0
    reciprocal: int = 0
    select: int = 0
    gpsimd: int = 0

    def busy(self, flat: Flat, itemsize: int, target: Target) -> dict[str, float]:
        """ns by engine."""
        unit = target.unit
        each: tuple[tuple[str, int, Callable[[int], float]], ...] = (
            ("Scalar", self.activation, unit.activation),
            ("Vector", self.tensor_tensor, lambda n: unit.tensor_tensor(n, itemsize)),
            ("Vector", self.tensor_scalar, lambda n: unit.tensor_scalar(n, itemsize)),
            ("Vector", self.reciprocal, unit.reciprocal),
            ("Vector", self.select, unit.select),
            ("GpSimd", self.gpsimd, unit.gpsimd),
        )
        out: dict[str, float] = {}
        for engine, times, interval in each:
            if times:
                out[engine] = out.get(engine, 0.0) + times * flat.times(interval)
        return out


# Functions that the Scalar engine computes in one pass (AWS Neuron docs, nki.isa.activation and its list of functions).
_FUNCTIONS = """
    exp exp2 expm1 log log2 log10 log1p sqrt rsqrt square sin cos tan asin acos atan sinh cosh asinh acosh atanh sigmoid
    tanh erf erfc erfinv lgamma digamma relu relu6 gelu silu mish hardswish hardsigmoid hardtanh elu selu celu
    leaky_relu log_sigmoid_forward softplus softshrink hardshrink logit sinc i0 polygamma pow float_power
"""
_GRADIENTS = """
    threshold_backward tanh_backward sigmoid_backward gelu_backward silu_backward hardtanh_backward hardswish_backward
    hardsigmoid_backward leaky_relu_backward elu_backward mish_backward softplus_backward log_sigmoid_backward
"""
_WITH_NUMBER = """
    abs neg negative clamp_min clamp_max bitwise_not ceil floor round trunc frac sign sgn nan_to_num logical_not isnan
    isinf isfinite isneginf isposinf signbit bitwise_left_shift bitwise_right_shift __lshift__ __rshift__ threshold
    clamp conj_physical renorm
"""
_OF_TWO = """
    add sub rsub subtract mul multiply maximum minimum fmax fmin bitwise_and bitwise_or bitwise_xor __and__ __or__
    __xor__ eq ne lt le gt ge not_equal less less_equal greater greater_equal logical_and logical_or logical_xor
    native_dropout_backward _masked_scale copysign heaviside nextafter lcm gcd prelu ldexp
"""
_DIVISIONS = "div divide true_divide floor_divide remainder fmod"
_COMPOSED = "atan2 hypot logaddexp logaddexp2 xlogy"
_SCANS = "cumsum cumprod logcumsumexp"
_FILLS = "fill zero uniform normal bernoulli random exponential geometric log_normal cauchy"

_ONE, _FUNCTION = Passes(tensor_tensor=1), Passes(activation=1)
_PASSES: dict[str, Passes] = {
    **dict.fromkeys(_FUNCTIONS.split(), _FUNCTION),
    **dict.fromkeys(_GRADIENTS.split(), Passes(activation=1, tensor_tensor=1)),
    **dict.fromkeys(_WITH_NUMBER.split(), Passes(tensor_scalar=1)),
    **dict.fromkeys(_OF_TWO.split(), _ONE),
    **dict.fromkeys(_DIVISIONS.split(), Passes(reciprocal=1, tensor_tensor=1)),
    **dict.fromkeys(_COMPOSED.split(), Passes(activation=1, tensor_tensor=2)),
    **dict.fromkeys(_SCANS.split(), Passes(select=1)),
    **dict.fromkeys(("where", "masked_fill"), Passes(select=1)),
    **dict.fromkeys(("tril", "triu"), Passes(gpsimd=1)),
    **dict.fromkeys(("addcmul", "lerp", "_prelu_kernel_backward"), Passes(tensor_tensor=2)),
    "addcdiv": Passes(reciprocal=1, tensor_tensor=2),
    "reciprocal": Passes(reciprocal=1),
}
_WITH_A_NUMBER_INSTEAD = frozenset((_OF_TWO + _DIVISIONS).split())
_CHANGES_FUNCTION = frozenset((_FUNCTIONS + _GRADIENTS + _COMPOSED).split())
_MOST_INPUTS = 3


def _lower(call: Call, target: Target) -> Work | None:
    name = call.operator
    traffic = RULES[name].traffic(call)
    shape = broadcast(call.tensors[:_MOST_INPUTS])
    if traffic is None or shape is None:
        shape = call.tensors[0].shape if call.tensors else ()
    numel = math.prod(shape)
    if traffic is None or not numel:
        return None
    inputs = [tensor for tensor in call.tensors[:_MOST_INPUTS] if tensor.numel > 1 or numel == 1]
    passes = _PASSES[name]
    if name in _WITH_A_NUMBER_INSTEAD and len(inputs) < 2:
        passes = Passes(tensor_scalar=1)
    return pointwise(
        "elementwise", inputs, traffic.written_bytes, numel, passes, target,
        functions=(name,) if name in _CHANGES_FUNCTION else (),
    )  # fmt: skip


def pointwise(
    rule: str, inputs: list[Tensor], written_bytes: int, numel: int, passes: Passes, target: Target, *,
    functions: tuple[str, ...] = (), generic: bool = False,
) -> Work:  # fmt: skip
    """An operator that goes over `numel` elements so often; all inputs read, `written_bytes` written."""
    flat, itemsize = Flat(numel), max(result_itemsize(inputs), 1)
    return Work(
        rule=rule, stages=(stage(**passes.busy(flat, itemsize, target)),), loads=flat_transfers(inputs),
        stores=flat_bytes(written_bytes), tiles=flat.tiles, rows=flat.tiles * 128, pointwise=not generic,
        generic=generic, functions=functions,
    )  # fmt: skip


def _fill(call: Call, target: Target) -> Work | None:
    """memset, or numbers from the Vector engine's generator (AWS Neuron docs, nki.isa.memset and rng)."""
    tensor = call.tensor(0)
    if tensor is None or not tensor.numel:
        return None
    return pointwise("fill", [], tensor.nbytes, tensor.numel, Passes(tensor_scalar=1), target)


def _dropout(call: Call, target: Target) -> Work | None:
    tensor = call.tensor(0)
    if tensor is None or not tensor.numel:
        return None
    passes = Passes(tensor_scalar=1, tensor_tensor=1)
    return pointwise("dropout", [tensor], tensor.nbytes + tensor.numel, tensor.numel, passes, target)


LOWERING: dict[str, Lower] = {
    **dict.fromkeys(_PASSES, _lower),
    **dict.fromkeys(_FILLS.split(), _fill),
    "native_dropout": _dropout,
}
