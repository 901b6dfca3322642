"""A batch with its texts interned and its categories told."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import TypeVar

import numpy as np

from trace_format.categories import Classifier
from trace_format.pool import Pool
from trace_format.trace_events.batch import EventBatch, Key
from trace_format.trace_events.tracks import FAMILIES, MAIN_FAMILY

Array = np.ndarray
SCOPE_CODES = {"p": 1, "g": 2}  # of instants; anything else is the thread's
T = TypeVar("T")


class Naming:
    """What the texts of events mean, remembered from batch to batch."""

    def __init__(self, pool: Pool, classifier: Classifier) -> None:
        self.pool = pool
        self._classifier = classifier
        self._categories: dict[int, int] = {}
        self._families: dict[int, int] = {}

    def categories(self, source_category: Array, name: Array) -> Array:
        """The categories of events given by the string ids of their source's category and their name, `(n,) int64`."""
        unique, place = np.unique(source_category << 32 | name, return_inverse=True)
        known = self._categories
        codes = np.empty(len(unique), np.int64)
        for i, pair in enumerate(unique.tolist()):
            code = known.get(pair)
            if code is None:
                strings = self.pool.strings
                code = known[pair] = self._classifier.code(strings[pair >> 32], strings[pair & 0xFFFFFFFF])
            codes[i] = code
        return codes[place]

    def families(self, source_category: Array) -> Array:
        """The family of tracks each source category belongs to, `(n,) int64`."""
        unique, place = np.unique(source_category, return_inverse=True)
        strings = self.pool.strings
        return np.array([FAMILIES.get(strings[i], MAIN_FAMILY) for i in unique.tolist()], np.int64)[place]


class NamedBatch:
    """A batch whose names and categories are string ids, `(n,) int64`."""

    def __init__(self, batch: EventBatch, naming: Naming) -> None:
        self.batch = batch
        self.naming = naming
        strings = naming.pool.strings
        self.name = np.array(strings.ids(batch.name), np.int64)
        self.source_category = np.array(strings.ids(batch.cat), np.int64)

    def view(self, rows: Array) -> BatchView:
        return BatchView(self, rows)


class BatchView:
    """Some events of a batch: columns are given for the rows that were chosen."""

    def __init__(self, named: NamedBatch, rows: Array) -> None:
        self._named = named
        self._all = len(rows) == len(named.batch)
        self.batch = named.batch
        self.rows = rows
        self.name = named.name[rows]
        self.source_category = named.source_category[rows]
        self.ts_ns = named.batch.ts_ns[rows]

    def __len__(self) -> int:
        return len(self.rows)

    def where(self, chosen: Array) -> BatchView:
        """Those of the rows that a mask chooses."""
        return self._named.view(self.rows[chosen])

    def pick(self, column: Sequence[T]) -> Sequence[T]:
        """A column's values in the chosen rows."""
        if self._all:
            return column
        if len(self.rows) == 1:
            return [column[int(self.rows[0])]]
        return itemgetter(*self.rows.tolist())(column) if len(self.rows) else []

    def ids(self) -> Sequence[Key | None]:
        """The ids of flows and async events in the chosen rows, None where there is none."""
        return [None] * len(self) if self.batch.id is None else self.pick(self.batch.id)

    def args(self) -> Sequence[bytes]:
        """The arguments of the chosen rows."""
        batch = self.batch
        if batch.args_row is None:
            return self.pick(batch.args)
        return [batch.args[row] for row in batch.args_row[self.rows].tolist()]

    def categories(self) -> Array:
        return self._named.naming.categories(self.source_category, self.name)

    def families(self) -> Array:
        return self._named.naming.families(self.source_category)
