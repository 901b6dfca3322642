"""Pooling and resampling: Vector takes in each output element's window."""

from __future__ import annotations

import math

from neuron_profile.hardware.call import Call, Tensor
from neuron_profile.hardware.dtypes import INDEX_BYTES
from neuron_profile.simulation.lowering.target import Flat, Lower, Target, flat_bytes, flat_transfers
from neuron_profile.simulation.work import Work, stage


def _pool(call: Call, target: Target) -> Work | None:
    """Windows of the recorded kernel at the recorded stride."""
    source, kernel = call.tensor(0), call.numbers(1)
    if source is None or kernel is None or not source.numel:
        return None
    stride, padding = call.numbers(2) or kernel, call.numbers(3) or (0,)
    axes = _axes(call.operator)
    kernel, stride, padding = (one * axes if len(one) == 1 else one for one in (kernel, stride, padding))
    if len(source.shape) < axes or {len(kernel), len(stride), len(padding)} != {axes} or min(kernel + stride) < 1:
        return None
    sizes = source.shape[-axes:]
    out = [max((n + 2 * p - k) // s + 1, 1) for n, k, s, p in zip(sizes, kernel, stride, padding, strict=True)]
    numel = math.prod(source.shape[:-axes]) * math.prod(out)
    indices = numel * INDEX_BYTES if call.operator.endswith("_with_indices") else 0
    return _windows(source, numel, math.prod(kernel), indices, target)


def _adaptive(call: Call, target: Target) -> Work | None:
    """Windows that together cover the input once."""
    source, out = call.tensor(0), call.numbers(1)
    if source is None or out is None or not source.numel:
        return None
    axes = _axes(call.operator)
    out = out * axes if len(out) == 1 else out
    if len(source.shape) < axes or len(out) != axes:
        return None
    numel = math.prod(source.shape[:-axes]) * math.prod(out)
    return _windows(source, numel, math.ceil(source.numel / max(numel, 1)), 0, target)


def _backward(call: Call, target: Target) -> Work | None:
    """The gradient of each output element is added to those of its window."""
    gradient, source = call.tensor(0), call.tensor(1)
    if gradient is None or source is None or not source.numel:
        return None
    flat = Flat(max(source.numel, gradient.numel))
    return Work(
        rule="pooling_backward",
        stages=(stage(Vector=2 * flat.times(lambda n: target.unit.tensor_tensor(n, source.itemsize))),),
        loads=flat_transfers([gradient, source]), stores=flat_bytes(source.nbytes), tiles=flat.tiles,
        rows=flat.tiles * 128,
    )  # fmt: skip


def _windows(source: Tensor, numel: int, window: int, indices: int, target: Target) -> Work:
    flat = Flat(numel * window)
    return Work(
        rule="pooling", stages=(stage(Vector=flat.times(lambda n: target.unit.reduce(n, source.itemsize))),),
        loads=flat_transfers([source]), stores=flat_bytes(numel * source.itemsize + indices), tiles=flat.tiles,
        rows=flat.tiles * 128,
    )  # fmt: skip


def _axes(name: str) -> int:
    """2 of "max_pool2d_with_indices"."""
    return next((axes for axes in (1, 2, 3) if f"{axes}d" in name), 2)


LOWERING: dict[str, Lower] = {
    **dict.fromkeys(
        ("max_pool2d_with_indices", "max_pool3d_with_indices", "avg_pool2d", "avg_pool3d", "mkldnn_max_pool2d"), _pool
    ),
    **dict.fromkeys(("_adaptive_avg_pool2d", "_adaptive_avg_pool3d"), _adaptive),
    **dict.fromkeys(
        (
            "max_pool2d_with_indices_backward", "max_pool3d_with_indices_backward", "avg_pool2d_backward",
            "avg_pool3d_backward", "_adaptive_avg_pool2d_backward", "_adaptive_avg_pool3d_backward",
        ),
        _backward,
    ),
}  # fmt: skip
