"""Products of matrices and vectors."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from neuron_profile.hardware.call import Call, Tensor
from neuron_profile.hardware.ops.elementwise import broadcast
from neuron_profile.hardware.rule import Rule, Traffic

_SOURCE = (
    "both factors and an addend read once, the result written once; 2 M N K operations "
    "(torch/utils/flop_counter.py, mm_flop and bmm_flop)"
)


@dataclass(frozen=True, slots=True)
class Product:
    """`batch` products of an m x k and a k x n matrix."""

    left: Tensor
    right: Tensor
    batch: tuple[int, ...]
    m: int
    k: int
    n: int
    addend: Tensor | None = None
    out_itemsize: int = 0

    def traffic(self) -> Traffic:
        read = self.left.nbytes + self.right.nbytes + (self.addend.nbytes if self.addend else 0)
        itemsize = self.out_itemsize or max(self.left.itemsize, self.right.itemsize)
        return Traffic(read, math.prod(self.batch) * self.m * self.n * itemsize)

    def flops(self) -> int:
        return 2 * math.prod(self.batch) * self.m * self.n * self.k


def _product(
    left: Tensor | None, right: Tensor | None, *, addend: Tensor | None = None, out_itemsize: int = 0
) -> Product | None:
    """The product as torch.matmul defines it, None where the shapes do not fit."""
    if left is None or right is None or not left.shape or not right.shape:
        return None
    m = left.shape[-2] if len(left.shape) > 1 else 1
    k, n = (right.shape[-2], right.shape[-1]) if len(right.shape) > 1 else (right.shape[0], 1)
    batch = broadcast([Tensor(left.shape[:-2], 1), Tensor(right.shape[:-2], 1)])
    if left.shape[-1] != k or batch is None:
        return None
    return Product(left, right, batch, m, k, n, addend, out_itemsize)


def _plain(call: Call) -> Product | None:
    return _product(call.tensor(0), call.tensor(1))


def _with_addend(call: Call) -> Product | None:
    return _product(call.tensor(1), call.tensor(2), addend=call.tensor(0))


def _linear(call: Call) -> Product | None:
    weight = call.tensor(1)
    if weight is None or len(weight.shape) != 2:
        return None
    turned = Tensor(weight.shape[::-1], weight.itemsize, weight.strides[::-1] if weight.strides else None)
    return _product(call.tensor(0), turned, addend=call.tensor(2))


def _scaled(call: Call) -> Product | None:
    # the result's type is an argument that is not recorded as a tensor; 8-bit products are taken in bfloat16
    return _product(call.tensor(0), call.tensor(1), addend=call.tensor(4), out_itemsize=2)


def _integer(call: Call) -> Product | None:
    return _product(call.tensor(0), call.tensor(1), out_itemsize=4)


def _outer(call: Call) -> Product | None:
    left, right = call.tensor(0), call.tensor(1)
    if left is None or right is None:
        return None
    return _product(Tensor((left.numel, 1), left.itemsize), Tensor((1, right.numel), right.itemsize))


def product_of(call: Call) -> Product | None:
    """The product that a call of this family takes; None for another operator, or shapes that do not fit."""
    find = _FINDERS.get(call.operator)
    return find(call) if find else None


def _rule(find: Callable[[Call], Product | None], *, calls_others: bool = False, source: str = _SOURCE) -> Rule:
    def traffic(call: Call) -> Traffic | None:
        product = find(call)
        return product.traffic() if product else None

    def flops(call: Call) -> float | None:
        product = find(call)
        return product.flops() if product else None

    return Rule("matmul", traffic, flops, source, calls_others)


_FINDERS: dict[str, Callable[[Call], Product | None]] = {
    **dict.fromkeys(("mm", "bmm", "mv", "dot", "vdot", "matmul"), _plain),
    **dict.fromkeys(("addmm", "baddbmm", "addmv", "_addmm_activation"), _with_addend),
    "linear": _linear,
    **dict.fromkeys(("ger", "outer"), _outer),
    "_scaled_mm": _scaled,
    "_int_mm": _integer,
}
_PLAIN, _ADDEND = _rule(_plain), _rule(_with_addend)
RULES: dict[str, Rule] = {
    **dict.fromkeys(("mm", "bmm", "mv", "dot", "vdot"), _PLAIN),
    **dict.fromkeys(("addmm", "baddbmm", "addmv", "_addmm_activation"), _ADDEND),
    "matmul": _rule(_plain, calls_others=True),
    "linear": _rule(_linear, calls_others=True),
    **dict.fromkeys(("ger", "outer"), _rule(_outer, calls_others=True)),
    "_scaled_mm": _rule(_scaled, source=_SOURCE + "; a result of two bytes per element is assumed"),
    "_int_mm": _rule(_integer),
}
