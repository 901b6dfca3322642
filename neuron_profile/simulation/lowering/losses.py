"""Losses and their gradients."""

from __future__ import annotations

from neuron_profile.hardware.call import Call
from neuron_profile.hardware.op_cost import RULES
from neuron_profile.simulation.lowering.pointwise import Passes, pointwise
from neuron_profile.simulation.lowering.target import Flat, Lower, Target, flat_bytes, flat_transfers
from neuron_profile.simulation.work import Transfer, Work, stage


def _nll(call: Call, target: Target) -> Work | None:
    """One element of each row, at the place that its target names."""
    traffic, source, labels = RULES[call.operator].traffic(call), call.tensor(0), call.tensor(1)
    if traffic is None or source is None or labels is None or not labels.numel:
        return None
    flat, unit = Flat(labels.numel), target.unit
    rows = flat.transfer(source.itemsize)
    picked = Transfer(rows.rows, rows.row_bytes, element_bytes=source.itemsize, gathered=True)
    return Work(
        rule="loss", stages=(stage(GpSimd=flat.times(unit.gpsimd), Vector=flat.times(unit.reduce)),),
        loads=(*flat_transfers([labels]), picked), stores=flat_bytes(traffic.written_bytes), tiles=flat.tiles,
        rows=labels.numel,
    )  # fmt: skip


def _nll_backward(call: Call, target: Target) -> Work | None:
    """A gradient of zeros but for one element of each row."""
    traffic, source, labels = RULES[call.operator].traffic(call), call.tensor(1), call.tensor(2)
    if traffic is None or source is None or labels is None or not source.numel:
        return None
    flat, unit = Flat(source.numel), target.unit
    return Work(
        rule="loss",
        stages=(
            stage(Vector=flat.times(lambda n: unit.tensor_scalar(n, source.itemsize)),
                  GpSimd=Flat(labels.numel).times(unit.gpsimd)),
        ),
        loads=flat_transfers([labels]), stores=flat_bytes(traffic.written_bytes), tiles=flat.tiles,
        rows=flat.tiles * 128,
    )  # fmt: skip


def _squared(first: int, passes: Passes) -> Lower:
    def lower(call: Call, target: Target) -> Work | None:
        traffic, source = RULES[call.operator].traffic(call), call.tensor(first)
        if traffic is None or source is None or not source.numel:
            return None
        inputs = [tensor for tensor in call.tensors if tensor.numel > 1]
        return pointwise("loss", inputs, traffic.written_bytes, source.numel, passes, target)

    return lower


LOWERING: dict[str, Lower] = {
    **dict.fromkeys(("nll_loss_forward", "nll_loss2d_forward"), _nll),
    **dict.fromkeys(("nll_loss_backward", "nll_loss2d_backward"), _nll_backward),
    # subtract; square and add up: on Scalar
    "mse_loss": _squared(0, Passes(tensor_tensor=1, activation=1)),
    "mse_loss_backward": _squared(1, Passes(tensor_tensor=2)),
}
