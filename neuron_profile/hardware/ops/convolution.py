"""Convolutions and their gradients."""

from __future__ import annotations

import math
from dataclasses import dataclass

from neuron_profile.hardware.call import Call, Tensor
from neuron_profile.hardware.rule import Rule, Traffic

_SOURCE = (
    "input, weight and bias read once, the output written once; two operations for each weight that meets an "
    "output element (torch/utils/flop_counter.py, conv_flop_count)"
)
_BACKWARD_SOURCE = (
    "gradient, input and weight read once, each wanted gradient written once; each gradient costs what the "
    "forward costs (torch/utils/flop_counter.py, conv_backward_flop)"
)


@dataclass(frozen=True, slots=True)
class _Places:
    """At which positions an operator of the convolution family takes what; None: it has no such argument."""

    bias: int | None
    stride: int
    padding: int
    dilation: int | None
    transposed: int | None = None
    output_padding: int | None = None
    groups: int | None = None


# positions in the schemas of native_functions.yaml
_CONVOLUTION = _Places(bias=2, stride=3, padding=4, dilation=5, transposed=6, output_padding=7, groups=8)
_PLACES = {
    "convolution": _CONVOLUTION,
    "_convolution": _CONVOLUTION,
    "convolution_overrideable": _CONVOLUTION,
    "mkldnn_convolution": _Places(bias=2, padding=3, stride=4, dilation=5, groups=6),
    "miopen_convolution": _Places(bias=2, padding=3, stride=4, dilation=5, groups=6),
    "cudnn_convolution": _Places(bias=None, padding=2, stride=3, dilation=4, groups=5),
    "_slow_conv2d_forward": _Places(bias=3, stride=4, padding=5, dilation=None),
    "_nnpack_spatial_convolution": _Places(bias=2, padding=3, stride=4, dilation=None),
}
_FUNCTIONAL = dict.fromkeys(("conv1d", "conv2d", "conv3d"), _Places(bias=2, stride=3, padding=4, dilation=5, groups=6))


@dataclass(frozen=True, slots=True)
class Convolution:
    """A convolution: its tensors, and whether it is transposed."""

    input: Tensor
    weight: Tensor
    bias: Tensor | None
    transposed: bool
    output: Tensor

    def traffic(self) -> Traffic:
        read = self.input.nbytes + self.weight.nbytes + (self.bias.nbytes if self.bias else 0)
        return Traffic(read, self.output.nbytes)

    def flops(self) -> int:
        # weight: (out, in / groups, *kernel); transposed: (in, out / groups, *kernel)
        met = self.input if self.transposed else self.output
        return 2 * met.numel * math.prod(self.weight.shape[1:])


@dataclass(frozen=True, slots=True)
class ConvolutionBackward:
    """The gradients of a convolution: its tensors, and which gradients are wanted."""

    gradient: Tensor
    source: Tensor
    weight: Tensor
    to_input: bool
    to_weight: bool


def convolution_of(call: Call) -> Convolution | None:
    """What a call of this family computes; None for another operator, or shapes that do not fit."""
    places = _PLACES.get(call.operator) or _FUNCTIONAL.get(call.operator)
    return _find(call, places) if places else None


def backward_of(call: Call) -> ConvolutionBackward | None:
    """What a convolution_backward computes; None where its tensors are not recorded, or not those of a convolution."""
    gradient, source, weight = call.tensor(0), call.tensor(1), call.tensor(2)
    if gradient is None or source is None or weight is None or len(weight.shape) < 3:
        return None
    if not len(gradient.shape) == len(source.shape) == len(weight.shape):
        return None
    return ConvolutionBackward(gradient, source, weight, *_wanted(call)[:2])


def _find(call: Call, places: _Places) -> Convolution | None:
    source, weight = call.tensor(0), call.tensor(1)
    if source is None or weight is None or len(weight.shape) < 3 or len(source.shape) != len(weight.shape):
        return None
    axes = len(weight.shape) - 2
    stride, padding = _each(call, places.stride, axes), _each(call, places.padding, axes)
    dilation = (1,) * axes if places.dilation is None else _each(call, places.dilation, axes)
    transposed = places.transposed is not None and bool(call.flag(places.transposed))
    if stride is None or padding is None or dilation is None or 0 in stride:
        return None
    sizes, kernel = source.shape[2:], weight.shape[2:]
    reach = [d * (k - 1) for d, k in zip(dilation, kernel, strict=True)]
    if transposed:
        extra = _each(call, places.output_padding, axes) if places.output_padding is not None else None
        groups = call.number(places.groups) if places.groups is not None else None
        if extra is None or groups is None:
            return None
        channels = weight.shape[1] * groups
        out = [(n - 1) * s - 2 * p + r + e + 1
               for n, s, p, r, e in zip(sizes, stride, padding, reach, extra, strict=True)]  # fmt: skip
    else:
        channels = weight.shape[0]
        out = [(n + 2 * p - r - 1) // s + 1 for n, s, p, r in zip(sizes, stride, padding, reach, strict=True)]
    if min(out) < 0:
        return None
    bias = None if places.bias is None else call.tensor(places.bias)
    return Convolution(source, weight, bias, transposed, Tensor((source.shape[0], channels, *out), source.itemsize))


def _each(call: Call, position: int, axes: int) -> tuple[int, ...] | None:
    """A recorded list with one number for each axis; one number alone holds for all."""
    numbers = call.numbers(position)
    if numbers is None or len(numbers) not in (1, axes):
        return None
    return numbers * axes if len(numbers) == 1 else numbers


def _rule(places: _Places, *, calls_others: bool = False) -> Rule:
    def traffic(call: Call) -> Traffic | None:
        found = _find(call, places)
        return found.traffic() if found else None

    def flops(call: Call) -> float | None:
        found = _find(call, places)
        return found.flops() if found else None

    return Rule("convolution", traffic, flops, _SOURCE, calls_others)


# convolution_backward(grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed,
#                      output_padding, groups, output_mask)
_TRANSPOSED, _MASK = 7, 10


def _wanted(call: Call) -> tuple[bool, bool, bool]:
    """Whether the gradients of input, weight and bias are wanted; all, where the call does not tell."""
    text = call.values[_MASK] if len(call.values) > _MASK else ""
    flags = [part.strip() == "True" for part in text.strip("[]").split(",")]
    return (flags[0], flags[1], flags[2]) if len(flags) == 3 else (True, True, True)


def _backward_traffic(call: Call) -> Traffic | None:
    gradient, source, weight = call.tensor(0), call.tensor(1), call.tensor(2)
    if gradient is None or source is None or weight is None:
        return None
    to_input, to_weight, to_bias = _wanted(call)
    read = gradient.nbytes + (weight.nbytes if to_input else 0) + (source.nbytes if to_weight else 0)
    channels = gradient.shape[1] if len(gradient.shape) > 1 else 0
    written = (source.nbytes if to_input else 0) + (weight.nbytes if to_weight else 0)
    return Traffic(read, written + (channels * weight.itemsize if to_bias else 0))


def _backward_flops(call: Call) -> float | None:
    gradient, source, weight = call.tensor(0), call.tensor(1), call.tensor(2)
    if gradient is None or source is None or weight is None:
        return None
    met = source if call.flag(_TRANSPOSED) else gradient
    return 2 * met.numel * math.prod(weight.shape[1:]) * sum(_wanted(call)[:2])


RULES: dict[str, Rule] = {
    **{name: _rule(places) for name, places in _PLACES.items()},
    **{name: _rule(places, calls_others=True) for name, places in _FUNCTIONAL.items()},
    "convolution_backward": Rule("convolution_backward", _backward_traffic, _backward_flops, _BACKWARD_SOURCE),
}
