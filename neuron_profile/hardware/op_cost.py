"""What one call of an operator costs in bytes and floating-point operations, worked out from its arguments."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from neuron_profile.hardware.call import Call, parse_call
from neuron_profile.hardware.ops import (
    attention,
    convolution,
    elementwise,
    indexing,
    losses,
    matmul,
    movement,
    normalisation,
    optimizers,
    reductions,
)
from neuron_profile.hardware.rule import Rule, Traffic

RULES: dict[str, Rule] = {
    name: rule
    for kind in (
        elementwise, matmul, convolution, reductions, normalisation, attention, indexing, losses, optimizers, movement
    )
    for name, rule in kind.RULES.items()
}  # fmt: skip

# Operators are registered under a namespace. These are not operators that move a tensor's bytes: autograd's own
# bookkeeping, collectives (they have a table of their own), the profiler's marks.
OPERATOR = re.compile(r"(?P<namespace>\w+)::(?P<name>[\w.]+)")
_NOT_OPERATORS = frozenset({"autograd", "torch", "c10d", "_c10d_functional", "profiler", "prim", "c10d_functional"})
# torch.compile's kernels; their arguments are all they read and write
_TRITON = re.compile(r"triton_\w+")

_PRODUCTS = frozenset({"matmul", "convolution", "convolution_backward", "attention", "attention_backward"})
_LARGEST = 2**62  # more bytes than any machine holds: the shapes are not to be believed


@dataclass(frozen=True, slots=True)
class OpCost:
    """An estimate, from shapes, of what one call needs.

    - `read_bytes`, `written_bytes`: each byte moved once.
    - `flops`: floating-point operations, NaN where there is no formula; `recomputed_flops` are those of them that only
      repeat what an earlier operator had worked out.
    - `dtype`: the type it computes in ("bf16", "fp32", ...), "" where no tensor's type was recorded.
    - `rule`, `source`: which formula, and where it comes from.
    - `generic`: no rule for this operator, or element types had to be assumed.
    - `calls_others`: the operator is made of others, which count instead of it where they were recorded.
    """

    read_bytes: int
    written_bytes: int
    flops: float
    rule: str
    source: str
    generic: bool
    calls_others: bool
    dtype: str = ""
    recomputed_flops: float = 0.0

    @property
    def is_product(self) -> bool:
        """Whether it multiplies matrices, which is what units for matrices and their peaks are for."""
        return self.rule in _PRODUCTS

    @property
    def nbytes(self) -> int:
        return self.read_bytes + self.written_bytes


def op_cost(name: str, arg_set: bytes) -> OpCost | None:
    """The cost of a call of operator `name` ("aten::mm") with this recorded argument set.

    None for what is not an operator, moves nothing (a view, an allocation) or was recorded without shapes.
    """
    operator = OPERATOR.fullmatch(name)
    triton = _TRITON.fullmatch(name)
    if triton is None and (operator is None or operator["namespace"] in _NOT_OPERATORS):
        return None
    # an overload's name may follow: "aten::add_.Tensor"
    base = operator["name"].partition(".")[0] if operator else name
    call = parse_call(base, arg_set)
    if call is None or not call.tensors:
        return None
    if operator is None:
        cost = _of_rule(call, _KERNEL)
    else:
        base = base[:-1] if call.in_place else base
        if base in movement.MOVES_NOTHING:
            return None
        known = RULES.get(base) if operator["namespace"] == "aten" else None
        cost = (_of_rule(call, known) if known else None) or _of_rule(call, _GENERIC)
    return cost if cost is not None and 0 < cost.nbytes < _LARGEST else None


def _of_rule(call: Call, rule: Rule) -> OpCost | None:
    traffic = rule.traffic(call)
    if traffic is None:
        return None
    flops = rule.flops(call) if rule.flops else 0.0 if rule not in (_GENERIC, _KERNEL) else None
    return OpCost(
        traffic.read_bytes, traffic.written_bytes, math.nan if flops is None else float(flops), rule.name,
        rule.source, rule in (_GENERIC, _KERNEL) or call.assumes_itemsize, rule.calls_others, call.compute_type,
        float(rule.recomputed(call) or 0) if rule.recomputed else 0.0,
    )  # fmt: skip


def _generic_traffic(call: Call) -> Traffic:
    """All inputs read; a result as large as the largest input, or as the first where it is written in place."""
    sizes = [t.nbytes for t in call.tensors]
    first = call.tensor(0)
    in_place = first.nbytes if first else sum(t.nbytes for t in call.list(0))
    return Traffic(sum(sizes), in_place if call.in_place else max(sizes))


def _kernel_traffic(call: Call) -> Traffic:
    return Traffic(sum(t.nbytes for t in call.tensors), 0)


_GENERIC = Rule(
    "generic", _generic_traffic, None,
    "no rule for this operator: every input read once, a result as large as the largest input written once",
    calls_others=True,
)  # fmt: skip
_KERNEL = Rule(
    "generic", _kernel_traffic, None,
    "a compiled kernel: every argument moved once, read or written", calls_others=True,
)  # fmt: skip
