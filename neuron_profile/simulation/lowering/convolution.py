"""Convolutions: the positions of the kernel are products of their own that add up in PSUM."""

from __future__ import annotations

import math

from neuron_profile.hardware.call import Call, Tensor
from neuron_profile.hardware.ops.convolution import backward_of, convolution_of
from neuron_profile.simulation.instructions import PARTITIONS, PSUM_BANK, tiled
from neuron_profile.simulation.lowering.matmul import EFFICIENCY_RATIO, evictions
from neuron_profile.simulation.lowering.target import Flat, Lower, Target
from neuron_profile.simulation.work import Stage, Transfer, Work, stage


def _pass(weight: Tensor, images: int, pixels: int, target: Target) -> tuple[Stage, ...]:
    """Transposing the weights once, then all taps over the pixels of each image."""
    unit, itemsize = target.unit, weight.itemsize
    to_channels, from_channels, *kernel = weight.shape
    taps = math.prod(kernel) * math.ceil(from_channels / PARTITIONS) * math.ceil(to_channels / PARTITIONS)
    turned = stage(Tensor=taps * unit.transpose(itemsize), **_copies(taps * PARTITIONS, target, PARTITIONS))
    tensor = images * taps * tiled(pixels, PSUM_BANK, lambda cols: unit.matmul(cols, itemsize))
    out = images * math.ceil(to_channels / PARTITIONS) * pixels
    return turned, stage(Tensor=tensor, **_copies(out, target, PSUM_BANK))


def _copies(columns: int, target: Target, width: int) -> dict[str, float]:
    if width == PSUM_BANK:
        scalar, vector = evictions(columns, target)
        return {"Scalar": scalar, "Vector": vector}
    unit = target.unit
    return {
        "Scalar": tiled(columns, width, unit.scalar_copy) / 2, "Vector": tiled(columns, width, unit.copy) / 2,
    }  # fmt: skip


def _lower(call: Call, target: Target) -> Work | None:
    found = convolution_of(call)
    if found is None or not found.flops():
        return None
    weight, source, out = found.weight, found.input, found.output
    images, pixels = out.shape[0], math.prod(out.shape[2:])
    if weight.shape[1] == 1 and weight.shape[0] > 1:  # depthwise: a multiply-add for each tap
        flat, taps = Flat(out.numel), math.prod(weight.shape[2:])
        stages: tuple[Stage, ...] = (
            stage(Vector=taps * flat.times(lambda n: target.unit.tensor_scalar(n, source.itemsize))),
        )
        tiles = flat.tiles
    else:
        stages = _pass(weight, images, pixels, target)
        tiles = images * math.ceil(out.shape[1] / PARTITIONS) * math.ceil(pixels / PSUM_BANK)
    return Work(
        rule="convolution", stages=stages, loads=(_channels(source), _weights(weight)), stores=(_channels(out),),
        tiles=tiles, rows=images * out.shape[1], efficiency_ratio=EFFICIENCY_RATIO, takes_epilogue=True,
    )  # fmt: skip


def _backward(call: Call, target: Target) -> Work | None:
    found = backward_of(call)
    if found is None or not found.gradient.numel:
        return None
    gradient, source, weight = found.gradient, found.source, found.weight
    stages: list[Stage] = []
    stores: list[Transfer] = []
    turned = Tensor((weight.shape[1], weight.shape[0], *weight.shape[2:]), weight.itemsize)
    if found.to_input:
        stages += _pass(turned, source.shape[0], math.prod(source.shape[2:]), target)
        stores.append(_channels(source))
    if found.to_weight:
        # pixels are what is summed over: both sides come with them along the partitions
        unit, itemsize = target.unit, weight.itemsize
        pixels = gradient.shape[0] * math.prod(gradient.shape[2:])
        k, m, n = math.ceil(pixels / PARTITIONS), math.ceil(weight.shape[0] / PARTITIONS), weight.shape[1]
        taps = math.prod(weight.shape[2:])
        turns = k * (m + math.ceil(n / PARTITIONS))
        tensor = taps * k * m * tiled(n, PSUM_BANK, lambda cols: unit.matmul(cols, itemsize))
        stages.append(
            stage(Tensor=tensor + turns * unit.transpose(itemsize),
                  **_copies(turns * PARTITIONS + taps * m * n, target, PSUM_BANK))
        )  # fmt: skip
        stores.append(_weights(weight))
    return Work(
        rule="convolution_backward", stages=tuple(stages), stores=tuple(stores),
        loads=(_channels(gradient), _channels(source), _weights(weight)),
        tiles=source.shape[0] * math.ceil(gradient.shape[1] / PARTITIONS), rows=source.shape[0] * source.shape[1],
        efficiency_ratio=EFFICIENCY_RATIO,
    )  # fmt: skip


def _channels(tensor: Tensor) -> Transfer:
    """One row for each channel of each image."""
    row = math.prod(tensor.shape[2:]) * tensor.itemsize
    return Transfer(tensor.numel * tensor.itemsize // max(row, 1), row)


def _weights(weight: Tensor) -> Transfer:
    return Transfer(weight.shape[0], math.prod(weight.shape[1:]) * weight.itemsize)


LOWERING: dict[str, Lower] = {
    **dict.fromkeys(
        (
            "convolution", "_convolution", "convolution_overrideable", "mkldnn_convolution", "miopen_convolution",
            "cudnn_convolution", "_slow_conv2d_forward", "_nnpack_spatial_convolution", "conv1d", "conv2d", "conv3d",
        ),
        _lower,
    ),
    "convolution_backward": _backward,
}  # fmt: skip
