"""How large the message of a collective is, and how many of its bytes a link carries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Array = np.ndarray

# Which of a rank's buffers is the whole array; the other is 1/n of it.
_WHOLE_IS_IN = ("reduce_scatter", "scatter")
_WHOLE_IS_OUT = ("all_gather", "gather")
_NO_DATA = ("barrier",)
_MOST = 1 << 62
# nccl-tests, doc/PERFORMANCE.md: busbw = algbw x factor
_TWICE = ("all_reduce",)
_OTHERS_PART = ("reduce_scatter", "all_gather", "all_to_all", "gather", "scatter")
_ONCE = ("broadcast", "reduce", "send", "recv", "send_recv")


def message_bytes(ops: Sequence[str], op: Array, in_bytes: Array, out_bytes: Array, ranks: Array) -> Array:
    """S of nccl-tests, the bytes of the whole array, `(n,) int64`; -1: unknown, 0: a barrier.

    `op` indexes `ops`; `in_bytes` and `out_bytes` are the rank's own buffers, `ranks` how many take part (-1: unknown
    for each). all_gather, gather: what comes out; reduce_scatter, scatter: what goes in; else the larger of the two,
    which of an uneven all_to_all is the busier direction of this rank. A shard alone gives the whole by `ranks`.
    """
    size = np.maximum(in_bytes, out_bytes)
    for names, shard, whole in ((_WHOLE_IS_IN, out_bytes, in_bytes), (_WHOLE_IS_OUT, in_bytes, out_bytes)):
        # the other ranks of a scatter have none of the whole; a product beyond int64 is no size
        alone = _is(ops, op, names) & (whole <= 0) & (shard > 0) & (ranks > 0) & (shard < _MOST // np.maximum(ranks, 1))
        size = np.where(alone, shard * ranks, size)
    no_data = _is(ops, op, _NO_DATA)
    # torch recorded nothing of the tensors in lists before 2.x: no bytes mean that nothing was told
    return np.where(no_data, 0, np.where(size == 0, -1, size))


def ranks_by_shard(ops: Sequence[str], op: Array, in_bytes: Array, out_bytes: Array) -> Array:
    """How many ranks take part, by how many shards make the whole, `(n,) int64`; -1: the sizes do not tell."""
    out = np.full(len(op), -1, np.int64)
    for names, shard, whole in ((("reduce_scatter",), out_bytes, in_bytes), (("all_gather",), in_bytes, out_bytes)):
        known = _is(ops, op, names) & (shard > 0) & (whole > 0) & (whole % np.maximum(shard, 1) == 0)
        out[known] = whole[known] // shard[known]
    return out


def bus_factor(op: str, ranks: int) -> float:
    """busbw / algbw by nccl-tests; NaN for an operation it has none for, and where `ranks` is not known."""
    if op in _ONCE:
        return 1.0
    if ranks < 1:
        return float("nan")
    if op in _TWICE:
        return 2 * (ranks - 1) / ranks
    return (ranks - 1) / ranks if op in _OTHERS_PART else float("nan")


def _is(ops: Sequence[str], op: Array, names: Sequence[str]) -> Array:
    return np.isin(op, [number for number, text in enumerate(ops) if text in names])
