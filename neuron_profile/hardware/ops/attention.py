"""Scaled dot-product attention in one operator, and its gradient."""

from __future__ import annotations

import math
from collections.abc import Callable

from neuron_profile.hardware.call import Call, Tensor
from neuron_profile.hardware.dtypes import STATISTIC_BYTES
from neuron_profile.hardware.rule import Rule, Traffic

_SOURCE = (
    "queries, keys, values and mask read once, the output and one float32 per query and head written once (the "
    "scores stay on the chip); both products whole, causal or not (torch/utils/flop_counter.py, sdpa_flop_count)"
)
_BACKWARD_SOURCE = (
    "the forward's tensors and the gradient read once, three gradients written once; five products, one of them "
    "the scores again (torch/utils/flop_counter.py, sdpa_backward_flop_count)"
)


def attention_shapes(
    query: Tensor | None, key: Tensor | None, value: Tensor | None
) -> tuple[int, int, int, int] | None:
    """Rows of queries in all heads, keys per head, and the sizes of a key and of a value: (.., S, D) tensors."""
    if query is None or key is None or value is None:
        return None
    if min(len(query.shape), len(key.shape), len(value.shape)) < 3 or not query.shape[-1]:
        return None
    return math.prod(query.shape[:-1]), key.shape[-2], query.shape[-1], value.shape[-1]


def _forward(mask: int | None) -> Callable[[Call], Traffic | None]:
    def traffic(call: Call) -> Traffic | None:
        query, key, value = call.tensor(0), call.tensor(1), call.tensor(2)
        shapes = attention_shapes(query, key, value)
        if shapes is None or query is None or key is None or value is None:
            return None
        bias = None if mask is None else call.tensor(mask)
        read = query.nbytes + key.nbytes + value.nbytes + (bias.nbytes if bias else 0)
        rows, _, _, value_size = shapes
        return Traffic(read, rows * value_size * query.itemsize + rows * STATISTIC_BYTES)

    return traffic


def _forward_flops(call: Call) -> float | None:
    shapes = attention_shapes(call.tensor(0), call.tensor(1), call.tensor(2))
    if shapes is None:
        return None
    rows, keys, size, value_size = shapes
    return 2 * rows * keys * (size + value_size)


def _backward(read: tuple[int, ...]) -> Callable[[Call], Traffic | None]:
    """Reads the tensors at these positions; (gradient, query, key, value) come first in every variant."""

    def traffic(call: Call) -> Traffic | None:
        wanted = [call.tensor(position) for position in (1, 2, 3)]
        if attention_shapes(*wanted) is None:
            return None
        inputs = (call.tensor(position) for position in (0, 1, 2, 3, *read))
        return Traffic(
            sum(t.nbytes for t in inputs if t is not None), sum(t.nbytes for t in wanted if t is not None)
        )  # fmt: skip

    return traffic


def _backward_flops(call: Call) -> float | None:
    shapes = attention_shapes(call.tensor(1), call.tensor(2), call.tensor(3))
    if shapes is None:
        return None
    rows, keys, size, value_size = shapes
    # with keys: scores again, gradients of query and key; with values: gradients of value and of the scores
    return 2 * rows * keys * (3 * size + 2 * value_size)


def _scores_again(call: Call) -> float | None:
    shapes = attention_shapes(call.tensor(1), call.tensor(2), call.tensor(3))
    return None if shapes is None else 2 * shapes[0] * shapes[1] * shapes[2]


def is_causal(call: Call) -> bool:
    """Whether a call of one of the fused operators masks what comes after each query; False where it does not say."""
    place = _CAUSAL.get(call.name)
    return place is not None and call.flag(place) is True


def _rule(mask: int | None, *, calls_others: bool = False) -> Rule:
    return Rule("attention", _forward(mask), _forward_flops, _SOURCE, calls_others)


def _gradient(*read: int) -> Rule:
    return Rule(
        "attention_backward", _backward(read), _backward_flops, _BACKWARD_SOURCE, recomputed=_scores_again
    )  # fmt: skip


# positions in the schemas of native_functions.yaml
RULES: dict[str, Rule] = {
    "scaled_dot_product_attention": _rule(3, calls_others=True),
    "_scaled_dot_product_attention_math": _rule(3, calls_others=True),
    "_scaled_dot_product_flash_attention": _rule(None),
    "_scaled_dot_product_flash_attention_for_cpu": _rule(5),
    "_scaled_dot_product_efficient_attention": _rule(3),
    "_scaled_dot_product_cudnn_attention": _rule(3),
    "_scaled_dot_product_fused_attention_overrideable": _rule(3),
    # output and logsumexp are read as well
    "_scaled_dot_product_flash_attention_backward": _gradient(4, 5),
    "_scaled_dot_product_flash_attention_for_cpu_backward": _gradient(4, 5, 8),
    "_scaled_dot_product_efficient_attention_backward": _gradient(4, 5, 6),
    "_scaled_dot_product_cudnn_attention_backward": _gradient(4, 5, 8),
}
# where each takes is_causal
_CAUSAL = {
    "_scaled_dot_product_flash_attention": 4,
    "_scaled_dot_product_flash_attention_for_cpu": 4,
    "_scaled_dot_product_efficient_attention": 6,
    "_scaled_dot_product_cudnn_attention": 6,
    "_scaled_dot_product_fused_attention_overrideable": 5,
    "_scaled_dot_product_flash_attention_backward": 11,
    "_scaled_dot_product_flash_attention_for_cpu_backward": 7,
    "_scaled_dot_product_efficient_attention_backward": 11,
    "_scaled_dot_product_cudnn_attention_backward": 14,
}
