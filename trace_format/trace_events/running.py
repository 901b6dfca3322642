"""Events that had not ended when torch's profiler stopped: it gives them the time until then, and says so."""

from __future__ import annotations

import numpy as np

from trace_format.json_object import json_object
from trace_format.pool import Pool

Array = np.ndarray

# What torch records as begin and end itself (torch/csrc/profiler/collection.cpp adds "finished" to what has no end).
_CATEGORIES = ("cpu_op", "user_annotation", "python_function")
_ARGUMENT = "finished"
_QUOTED = f'"{_ARGUMENT}"'.encode()


class RunningEvents:
    """Tells which events were still running, by their argument sets; each set of the pool is looked at once."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._says_so = np.zeros(0, bool)  # by argument set id
        self._any = False

    def mask(self, args: Array, source_category: Array) -> Array:
        """Which of these events were still running, `(n,) bool`, given argument set ids and string ids."""
        self._look_at_new_sets()
        if not self._any:
            return np.zeros(len(args), bool)
        kinds = [self._pool.strings.find(category) for category in _CATEGORIES]
        return self._says_so[args] & np.isin(source_category, kinds)

    def _look_at_new_sets(self) -> None:
        known = len(self._says_so)
        new = self._pool.arg_sets.values[known:]
        if new:
            found = np.fromiter((_QUOTED in text and _is_unfinished(text) for text in new), bool, len(new))
            self._any |= bool(found.any())
            self._says_so = np.concatenate([self._says_so, found])


def _is_unfinished(text: bytes) -> bool:
    return json_object(text).get(_ARGUMENT) is False
