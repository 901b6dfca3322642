"""Softmax and the norms: what is known of a row decides what happens to each of its elements."""

from __future__ import annotations

import math

from neuron_profile.hardware.call import Call, Tensor
from neuron_profile.hardware.op_cost import RULES
from neuron_profile.simulation.instructions import PARTITIONS, PSUM_BANK, tiled
from neuron_profile.simulation.lowering.target import Lower, Rows, Target, flat_transfers, last_axis
from neuron_profile.simulation.work import Stage, Work, stage


def softmax_stages(rows: Rows, itemsize: int, target: Target) -> tuple[Stage, ...]:
    """Row maximum; exponentials and their sum; scaling by its reciprocal."""
    unit = target.unit
    reduce = rows.times(lambda n: unit.reduce(n, itemsize))
    return (
        stage(Vector=reduce),
        stage(Scalar=rows.times(unit.activation), Vector=reduce),
        stage(Vector=rows.row_tiles * unit.reciprocal(1) + rows.times(lambda n: unit.tensor_scalar(n, itemsize))),
    )


def _softmax(call: Call, target: Target) -> Work | None:
    source = call.tensor(0)
    if source is None or not source.numel:
        return None
    axis = call.number(1)
    rows = last_axis(source, -1 if axis is None else axis)
    itemsize = 4 if call.flag(2) else source.itemsize
    return Work(
        rule="softmax", stages=softmax_stages(rows, source.itemsize, target), tiles=rows.tiles, rows=rows.rows,
        loads=(rows.transfer(source.itemsize),), stores=(rows.transfer(itemsize),), pointwise=True, functions=("exp",),
    )  # fmt: skip


def _softmax_backward(call: Call, target: Target) -> Work | None:
    gradient, output = call.tensor(0), call.tensor(1)
    if gradient is None or output is None or not output.numel:
        return None
    rows, unit, itemsize = last_axis(output, call.number(2) or -1), target.unit, output.itemsize
    pair = rows.times(lambda n: unit.tensor_tensor(n, itemsize))
    return Work(
        rule="softmax_backward",
        stages=(stage(Vector=pair + rows.times(lambda n: unit.reduce(n, itemsize))), stage(Vector=pair)),
        loads=(rows.transfer(gradient.itemsize), rows.transfer(itemsize)), stores=(rows.transfer(gradient.itemsize),),
        tiles=rows.tiles, rows=rows.rows, pointwise=True,
    )  # fmt: skip


def _norm(call: Call, target: Target) -> Work | None:
    """Statistics of each row, then its elements scaled and, where there are parameters, multiplied and added to."""
    source = call.tensor(0)
    rows = _normalised(call, source) if source is not None and source.numel else None
    if source is None or rows is None:
        return None
    parameters = [t for t in call.tensors[1:3] if t.numel]
    unit, itemsize = target.unit, source.itemsize
    if call.operator == "_fused_rms_norm":
        first = stage(Scalar=rows.times(unit.activation))
    else:
        first = stage(Vector=rows.row_tiles * unit.statistics(rows.width))
    scale = rows.times(lambda n: unit.tensor_scalar(n, itemsize))
    pair = rows.times(lambda n: unit.tensor_tensor(n, itemsize))
    return Work(
        rule="normalisation", stages=(first, stage(Vector=scale + pair * bool(parameters))),
        loads=(rows.transfer(itemsize), *flat_transfers(parameters)), stores=(rows.transfer(itemsize),),
        tiles=rows.tiles, rows=rows.rows, pointwise=True,
    )  # fmt: skip


def _norm_backward(call: Call, target: Target) -> Work | None:
    """Six passes of Vector; the gradients of the parameters are sums over rows: products with ones."""
    gradient, source = call.tensor(0), call.tensor(1)
    traffic = RULES[call.operator].traffic(call)
    if gradient is None or source is None or traffic is None or not source.numel:
        return None
    rows, unit, itemsize = _normalised(call, source) or last_axis(source), target.unit, source.itemsize
    pair = rows.times(lambda n: unit.tensor_tensor(n, itemsize))
    reduce = rows.times(lambda n: unit.reduce(n, itemsize))
    ones = 2 * rows.row_tiles * tiled(rows.width, PSUM_BANK, lambda n: unit.matmul(n, itemsize))
    return Work(
        rule="normalisation_backward",
        stages=(stage(Vector=2 * (pair + reduce), Tensor=ones), stage(Vector=2 * pair)),
        loads=(rows.transfer(itemsize), rows.transfer(itemsize)), stores=(rows.transfer(itemsize),),
        tiles=rows.tiles, rows=rows.rows,
    )  # fmt: skip


def _normalised(call: Call, source: Tensor) -> Rows | None:
    """What is normalised together, as a row: the last axes, a channel of a batch norm, a group of a group norm."""
    name = call.operator
    if "layer_norm" in name or "rms_norm" in name:
        shape = call.numbers(2 if name.endswith("_backward") else 1)
        width = math.prod(shape) if shape else source.shape[-1] if source.shape else 1
    elif "group_norm" in name:
        groups = call.number(8 if name.endswith("_backward") else 6) or 1
        samples = source.shape[0] if source.shape else 1
        width = source.numel // max(samples * groups, 1)
    else:
        channels = source.shape[1] if len(source.shape) > 1 else 1
        width = source.numel // max(channels, 1)
        # a channel of a batch may be far longer than a row of SBUF: it is cut, and its parts are joined
        if width > PARTITIONS * PARTITIONS:
            return Rows(channels * PARTITIONS, math.ceil(width / PARTITIONS))
    return Rows(max(source.numel // width, 1), width) if width else None


_NORMS = (
    "native_layer_norm", "_fused_rms_norm", "native_group_norm", "native_batch_norm", "cudnn_batch_norm",
    "miopen_batch_norm", "_native_batch_norm_legit",
)  # fmt: skip
_NORM_GRADIENTS = (
    "native_layer_norm_backward", "native_group_norm_backward", "native_batch_norm_backward",
    "cudnn_batch_norm_backward", "miopen_batch_norm_backward",
)  # fmt: skip
LOWERING: dict[str, Lower] = {
    **dict.fromkeys(("_softmax", "_log_softmax", "_safe_softmax"), _softmax),
    **dict.fromkeys(("_softmax_backward_data", "_log_softmax_backward_data"), _softmax_backward),
    **dict.fromkeys(_NORMS, _norm),
    **dict.fromkeys(_NORM_GRADIENTS, _norm_backward),
}
