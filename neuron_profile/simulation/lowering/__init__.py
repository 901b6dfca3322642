"""How operators become work of a NeuronCore: one rule for each kind of operator, and a generic one for the rest."""

from __future__ import annotations

from functools import lru_cache

from neuron_profile.hardware.call import parse_call
from neuron_profile.hardware.op_cost import OPERATOR, op_cost
from neuron_profile.hardware.ops.movement import MOVES_NOTHING
from neuron_profile.simulation.lowering import (
    attention,
    convolution,
    indexing,
    losses,
    matmul,
    movement,
    normalisation,
    optimizers,
    pointwise,
    pooling,
    reductions,
)
from neuron_profile.simulation.lowering.target import Lower, Target
from neuron_profile.simulation.work import REMEMBERED, Work

__all__ = ["TRITON", "Target", "generic", "lacks_shapes", "lower"]

_LOWERING: dict[str, Lower] = {
    name: rule
    for kind in (
        pointwise, matmul, convolution, pooling, reductions, normalisation, attention, indexing, losses, optimizers,
        movement,
    )
    for name, rule in kind.LOWERING.items()
}  # fmt: skip
# kernels that torch.compile wrote: chains of elementwise operations over all their arguments
TRITON = "triton_"
_MOST_BYTES = 1 << 50  # more than a hundred chips have
_MOST_NS = 10**13  # hours


@lru_cache(maxsize=REMEMBERED)
def lower(name: str, arg_set: bytes, target: Target) -> Work | None:
    """The work of a call by the rule of its operator; None where there is none, or its arguments do not tell."""
    operator = OPERATOR.fullmatch(name)
    if operator is None or operator["namespace"] != "aten":
        return None
    call = parse_call(operator["name"].partition(".")[0], arg_set)
    if call is None or call.operator in MOVES_NOTHING:
        return None
    rule = _LOWERING.get(call.operator)
    return _believable(rule(call, target)) if rule else None


@lru_cache(maxsize=REMEMBERED)
def generic(name: str, arg_set: bytes, target: Target) -> Work | None:
    """The work of an operator without a rule: one pass of Vector over its largest tensor, all of it through HBM.

    None for what is no operator, moves nothing or was recorded without shapes.
    """
    cost = op_cost(name, arg_set)
    call = parse_call(name.rpartition("::")[2].partition(".")[0], arg_set)
    if cost is None or call is None:
        return None
    numel = max(tensor.numel for tensor in call.tensors)
    inputs = [tensor for tensor in call.tensors if tensor.numel]
    written = 0 if name.startswith(TRITON) else cost.written_bytes
    passes = pointwise.Passes(tensor_tensor=1)
    return _believable(pointwise.pointwise("generic", inputs, written, max(numel, 1), passes, target, generic=True))


def lacks_shapes(name: str, arg_set: bytes) -> bool:
    """Whether an operator that would take time was recorded without shapes, or with some that no machine holds."""
    operator = OPERATOR.fullmatch(name)
    base = operator["name"].partition(".")[0] if operator and operator["namespace"] == "aten" else ""
    if not base or base.removesuffix("_") in MOVES_NOTHING:
        return False
    call = parse_call(base, arg_set)
    return call is None or any(tensor.nbytes > _MOST_BYTES for tensor in call.tensors)


def _believable(work: Work | None) -> Work | None:
    """The work, None where it is more than any window holds: its shapes are not to be believed."""
    if work is None or work.read_bytes + work.written_bytes > _MOST_BYTES:
        return None
    return work if sum(ns for one in work.stages for ns in one.busy_ns.values()) <= _MOST_NS else None
