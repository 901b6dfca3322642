"""The process groups that collectives ran in, and how many ranks each has."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from trace_format import Trace

Array = np.ndarray

_SHORTENED = "..."  # torch writes the ranks of a large group so: "[0, 1, ..., 63]"


@dataclass(frozen=True, slots=True, eq=False)
class ProcessGroups:
    """Of each row its group, `(n,) int64` index of `names`, `sizes` and `recorded`.

    `sizes`: how many ranks; -1 for unknown, the whole job where no group is `recorded`.
    """

    of_row: Array
    names: tuple[str, ...]
    sizes: tuple[int, ...]
    recorded: tuple[bool, ...]


def process_groups(trace: Trace, rows: Array) -> ProcessGroups:
    """The groups of rows of the collectives table; a row of -1 names none, as does one without name and ranks.

    Groups of one name whose ranks differ are different groups. Those of no name are one, the whole job.
    """
    table, strings = trace.collectives, trace.pool.strings
    name = _column(table.group, rows)
    members = _column(table.group_ranks, rows)
    keys, first, of_row = np.unique(
        np.stack([name, members], axis=1), axis=0, return_index=True, return_inverse=True
    )  # fmt: skip
    of_row = of_row.reshape(-1)
    world = trace.metadata.get("world_size")
    whole = world if isinstance(world, int) and 0 < world < 2**31 else -1
    sizes = []
    for number, (group, ranks) in enumerate(keys.tolist()):
        if ranks:
            sizes.append(_size(trace, strings[ranks], int(rows[first[number]])))
        else:
            sizes.append(-1 if group else whole)
    names = tuple(strings[group] for group, _ in keys.tolist())
    return ProcessGroups(of_row, names, tuple(sizes), tuple(bool(group or ranks) for group, ranks in keys.tolist()))


def _column(column: Array, rows: Array) -> Array:
    out = np.zeros(len(rows), np.int64)
    out[rows >= 0] = column[rows[rows >= 0]]
    return out


def _size(trace: Trace, members: str, row: int) -> int:
    """How many ranks a text lists; of a shortened one, what the slice's arguments say."""
    if _SHORTENED in members:
        said: Any = trace.pool.args(int(trace.slices.args[trace.collectives.slice[row]])).get("Group size")
        return said if isinstance(said, int) and 0 < said < 2**31 else -1
    try:
        listed = json.loads(members)
    except (ValueError, RecursionError):
        return -1
    if not isinstance(listed, list) or not listed:
        return -1
    inner = {len(one) for one in listed if isinstance(one, list)}  # Neuron lists all groups: [[0, 1], [2, 3]]
    return len(listed) if not inner else inner.pop() if len(inner) == 1 else -1
