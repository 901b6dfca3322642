"""Scaled dot-product attention in one operator, and its gradient.

The scores of a row have to be complete before its softmax can go on: three stages, the last with the values.
"""

from __future__ import annotations

import math

from neuron_profile.hardware.call import Call, Tensor
from neuron_profile.hardware.ops.attention import attention_shapes, is_causal
from neuron_profile.simulation.instructions import PARTITIONS, PSUM_BANK, tiled
from neuron_profile.simulation.lowering.target import Lower, Target
from neuron_profile.simulation.work import Stage, Transfer, Work, stage

_SCORE = 4  # bytes of a score in PSUM and SBUF


def stages_of(heads: int, queries: int, keys: int, size: int, itemsize: int, target: Target) -> tuple[Stage, ...]:
    """The three stages of `heads` heads: scores and their row maximum; exponentials, their row sum, and the transposes
    of the result; the product with the values, normalised.
    """
    unit = target.unit
    q, k, d = (math.ceil(length / PARTITIONS) for length in (queries, keys, size))
    banks = lambda interval: tiled(keys, PSUM_BANK, interval)  # noqa: E731 - one instruction on each bank of a row
    turned = (q + k) * d
    scores = stage(
        Tensor=heads * (turned * unit.transpose(itemsize) + q * d * banks(lambda n: unit.matmul(n, itemsize))),
        Scalar=heads * turned * unit.scalar_copy(PARTITIONS),
        Vector=heads * q * (banks(unit.copy) + banks(unit.reduce)),
    )
    softmax = stage(
        Tensor=heads * q * k * unit.transpose(_SCORE),
        Scalar=heads * q * banks(lambda n: unit.activation(n, from_psum=True)),
        Vector=heads * q * (banks(unit.reduce) + banks(unit.copy)),
    )
    values = stage(
        Tensor=heads * d * k * tiled(queries, PSUM_BANK, lambda n: unit.matmul(n, itemsize)),
        Vector=heads * q * (unit.reciprocal(1) + unit.tensor_scalar(size, _SCORE, from_psum=True)),
    )
    return scores, softmax, values


def _forward(call: Call, target: Target) -> Work | None:
    query, key, value = call.tensor(0), call.tensor(1), call.tensor(2)
    if query is None or key is None or value is None or attention_shapes(query, key, value) is None:
        return None
    heads, queries = _heads(query), query.shape[-2]
    share = 0.5 if is_causal(call) else 1.0
    whole = stages_of(heads, queries, key.shape[-2], query.shape[-1], query.itemsize, target)
    return Work(
        rule="attention", stages=_pipelined(_scaled(whole, share), target),
        loads=(_matrix(query), _matrix(key), _matrix(value)),
        stores=(Transfer(heads * queries, value.shape[-1] * query.itemsize),),
        tiles=_tiles(heads, queries, key.shape[-2]), rows=heads * queries, functions=("exp",),
    )  # fmt: skip


def _backward(call: Call, target: Target) -> Work | None:
    """Five products where the forward has two; the scores are computed again."""
    query, key, value = call.tensor(1), call.tensor(2), call.tensor(3)
    if query is None or key is None or value is None or attention_shapes(query, key, value) is None:
        return None
    heads, queries, keys, size = _heads(query), query.shape[-2], key.shape[-2], query.shape[-1]
    share = 0.5 if is_causal(call) else 1.0
    scores, softmax, values = stages_of(heads, queries, keys, size, query.itemsize, target)
    unit, q = target.unit, math.ceil(queries / PARTITIONS)
    tiles = heads * q * math.ceil(keys / PSUM_BANK)
    # dP = dO V'; dS = P (dP - row sum); then dV, dQ and dK
    pointwise = tiles * 3 * unit.tensor_tensor(min(keys, PSUM_BANK), _SCORE)
    gradient = Stage({**values.busy_ns, "Vector": pointwise + tiles * unit.reduce(min(keys, PSUM_BANK))})
    stages = (scores, softmax, gradient, softmax, values, values, values)
    inputs = [tensor for tensor in (call.tensor(0), query, key, value, call.tensor(4)) if tensor is not None]
    return Work(
        rule="attention_backward", stages=_pipelined(_scaled(stages, share), target),
        loads=tuple(map(_matrix, inputs)), stores=tuple(map(_matrix, (query, key, value))),
        tiles=_tiles(heads, queries, keys), rows=heads * queries, functions=("exp",),
    )  # fmt: skip


def _heads(query: Tensor) -> int:
    return max(math.prod(query.shape[:-2]), 1)


def _tiles(heads: int, queries: int, keys: int) -> int:
    return heads * math.ceil(queries / PARTITIONS) * math.ceil(keys / PSUM_BANK)


def _scaled(stages: tuple[Stage, ...], share: float) -> tuple[Stage, ...]:
    """What is above the diagonal is not computed."""
    return tuple(Stage({engine: ns * share for engine, ns in one.busy_ns.items()}) for one in stages)


def _pipelined(stages: tuple[Stage, ...], target: Target) -> tuple[Stage, ...]:
    """AWS's kernels, which its compiler uses, run all stages as one pipeline (AWS Neuron docs, nkilib attention)."""
    if not target.compiled:
        return stages
    busy: dict[str, float] = {}
    for one in stages:
        for engine, ns in one.busy_ns.items():
            busy[engine] = busy.get(engine, 0.0) + ns
    return (Stage(busy),)


def _matrix(tensor: Tensor) -> Transfer:
    return Transfer(max(tensor.numel // max(tensor.shape[-1], 1), 1), tensor.shape[-1] * tensor.itemsize)


_FORWARD = (
    "_scaled_dot_product_flash_attention", "_scaled_dot_product_flash_attention_for_cpu",
    "_scaled_dot_product_efficient_attention", "_scaled_dot_product_cudnn_attention",
    "_scaled_dot_product_fused_attention_overrideable",
)  # fmt: skip
_BACKWARD = (
    "_scaled_dot_product_flash_attention_backward", "_scaled_dot_product_flash_attention_for_cpu_backward",
    "_scaled_dot_product_efficient_attention_backward", "_scaled_dot_product_cudnn_attention_backward",
)  # fmt: skip
LOWERING: dict[str, Lower] = {**dict.fromkeys(_FORWARD, _forward), **dict.fromkeys(_BACKWARD, _backward)}
