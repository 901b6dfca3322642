"""When the NEFFs of a stream begin: in order, and each no earlier than the host has asked for it."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def in_stream_order(ready_ns: Array, lasts_ns: Array) -> Array:
    """When each begins, `(n,) int64`: as soon as it is ready and the one before is done. Empty for none."""
    before = np.cumsum(lasts_ns) - lasts_ns
    out: Array = np.maximum.accumulate(ready_ns - before) + before if len(ready_ns) else ready_ns
    return out.astype(np.int64)
