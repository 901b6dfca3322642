"""Losses and their gradients."""

from __future__ import annotations

import math
from collections.abc import Callable

from neuron_profile.hardware.call import Call
from neuron_profile.hardware.ops.elementwise import broadcast, result_itemsize
from neuron_profile.hardware.rule import Rule, Traffic

_POINTWISE = "input and target read once, the loss written once (one number when reduced); {} operations per element"
_NLL = "one element of each row and the target read once, the loss written once; no operations"
_NO_REDUCTION = 0  # at::Reduction::None


def _pointwise(first: int, *, reduction: int | None) -> Callable[[Call], Traffic | None]:
    """Reads all tensors; writes the shape of the two from `first` on, or one number if a reduction is given."""

    def traffic(call: Call) -> Traffic | None:
        pair = [t for t in (call.tensor(first), call.tensor(first + 1)) if t is not None]
        shape = broadcast(pair)
        if len(pair) < 2 or shape is None:
            return None
        whole = reduction is None or call.number(reduction) == _NO_REDUCTION
        itemsize = result_itemsize(pair)
        return Traffic(sum(t.nbytes for t in call.tensors), math.prod(shape) * itemsize if whole else itemsize)

    return traffic


def _per_element(operations: int, position: int) -> Callable[[Call], float | None]:
    def flops(call: Call) -> float | None:
        source = call.tensor(position)
        return None if source is None else operations * source.numel

    return flops


def _nll_forward(call: Call) -> Traffic | None:
    source, target = call.tensor(0), call.tensor(1)
    if source is None or target is None:
        return None
    written = target.numel if call.number(3) == _NO_REDUCTION else 1
    # the loss and the total weight
    return Traffic(target.numel * source.itemsize + target.nbytes, (written + 1) * source.itemsize)


def _nll_backward(call: Call) -> Traffic | None:
    gradient, source, target = call.tensor(0), call.tensor(1), call.tensor(2)
    if gradient is None or source is None or target is None:
        return None
    return Traffic(gradient.nbytes + target.nbytes, source.nbytes)


RULES: dict[str, Rule] = {
    # subtract, square, add
    "mse_loss": Rule("loss", _pointwise(0, reduction=2), _per_element(3, 0), _POINTWISE.format(3)),
    # subtract, multiply by a constant, multiply by the gradient
    "mse_loss_backward": Rule("loss", _pointwise(1, reduction=None), _per_element(3, 1), _POINTWISE.format(3)),
    **dict.fromkeys(("nll_loss_forward", "nll_loss2d_forward"), Rule("loss", _nll_forward, None, _NLL)),
    **dict.fromkeys(
        ("nll_loss_backward", "nll_loss2d_backward"),
        Rule("loss", _nll_backward, None, "gradient and target read once, the gradient of the input written once"),
    ),
}
