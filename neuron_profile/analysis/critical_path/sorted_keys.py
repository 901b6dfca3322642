"""Sets of int64 keys as ascending arrays. numpy's own go through a hash table, which takes several times as long."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def distinct(keys: Array) -> Array:
    """The keys in ascending order, each once."""
    if len(keys) == 0:
        return keys
    ordered = np.sort(keys, kind="stable")  # stable: fast where the keys come in ascending runs
    return ordered[np.r_[True, ordered[1:] != ordered[:-1]]]


def is_in(keys: Array, ascending: Array) -> Array:
    """Which of the keys are among the ascending ones, `(keys,) bool`."""
    if len(ascending) == 0:
        return np.zeros(len(keys), bool)
    at = np.minimum(np.searchsorted(ascending, keys), len(ascending) - 1)
    return ascending[at] == keys
