"""Joins rows that name each other by the ids the profiler gave them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

from trace_format.builder import TraceBuilder

Array = np.ndarray


@dataclass
class Links:
    """Which slice has which id, table by table, and which ids follow from which.

    Ids are 64 bits wide and exact; those beyond 63 bits are known by the same bits as negative numbers.
    """

    _ids: dict[str, list[Array]] = field(default_factory=lambda: defaultdict(list))
    _slices: dict[str, list[Array]] = field(default_factory=lambda: defaultdict(list))
    _edges: dict[tuple[str, str, str], list[tuple[Array, Array]]] = field(default_factory=lambda: defaultdict(list))

    def name(self, table: str, ids: list[object], first_slice: int) -> None:
        """The slices from `first_slice` on have these ids; what is no id is skipped."""
        found = [(_bits(value), first_slice + row) for row, value in enumerate(ids) if _is_id(value)]
        if found:
            pairs = np.array(found, np.int64)
            self._ids[table].append(pairs[:, 0])
            self._slices[table].append(pairs[:, 1])

    def join(self, kind: str, causes: list[object], effects: list[object], *, tables: tuple[str, str]) -> int:
        """The ids of `causes` (in the first table) come before those of `effects`; returns how many are no ids."""
        pairs = [
            (_bits(cause), _bits(effect))
            for cause, effect in zip(causes, effects, strict=True)
            if _is_id(cause) and _is_id(effect)
        ]
        if pairs:
            both = np.array(pairs, np.int64)
            self._edges[(*tables, kind)].append((both[:, 0], both[:, 1]))
        return len(causes) - len(pairs)

    def add_flows(self, builder: TraceBuilder) -> int:
        """Add a flow for each pair whose ids are both known; returns how many pairs have one that is not."""
        unknown = 0
        places = {table: self._sorted(table) for table in {name for key in self._edges for name in key[:2]}}
        for (table_from, table_to, kind), parts in self._edges.items():
            begin = _slices_of(np.concatenate([cause for cause, _ in parts]), *places[table_from])
            end = _slices_of(np.concatenate([effect for _, effect in parts]), *places[table_to])
            known = (begin >= 0) & (end >= 0)
            unknown += int((~known).sum())
            builder["flows"].append(
                int(known.sum()), from_slice=begin[known], to_slice=end[known], kind=builder.string(kind)
            )
        return unknown

    def _sorted(self, table: str) -> tuple[Array, Array]:
        if table not in self._ids:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        ids, slices = np.concatenate(self._ids[table]), np.concatenate(self._slices[table])
        order = np.argsort(ids, kind="stable")
        return ids[order], slices[order]


def _slices_of(wanted: Array, ids: Array, slices: Array) -> Array:
    """The slice of each id, -1 where there is none; the first one where several slices have the id."""
    if not len(ids):
        return np.full(len(wanted), -1, np.int64)
    at = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
    return np.where(ids[at] == wanted, slices[at], -1)


def _is_id(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**64


def _bits(value: object) -> int:
    number = value if isinstance(value, int) else 0
    return number - 2**64 if number >= 2**63 else number
