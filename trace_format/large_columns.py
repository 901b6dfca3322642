"""Columns of known length that are filled piece by piece, in memory or in a temporary file."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from trace_format.spill import Spill

Array = np.ndarray
_log = logging.getLogger(__name__)


class LargeColumns:
    """Equally long columns, in `file` if it is given and has room, else in memory. Every row has to be filled."""

    def __init__(self, rows: int, dtypes: Mapping[str, np.dtype[Any]], file: Spill | None = None) -> None:
        self._rows, self._dtypes = rows, dict(dtypes)
        self._file = file
        self._stored = {name: file.reserve(rows, dtype) for name, dtype in dtypes.items()} if file else {}
        self._whole = {} if file else {name: np.empty(rows, dtype) for name, dtype in dtypes.items()}

    @contextmanager
    def piece(self, first: int, last: int) -> Iterator[dict[str, Array]]:
        """The rows [first, last) of all columns, to be filled in the body; what is in them before is not said."""
        if self._file is None:
            yield {name: whole[first:last] for name, whole in self._whole.items()}
            return
        filled = {name: np.empty(last - first, dtype) for name, dtype in self._dtypes.items()}
        yield filled
        self.put(first, filled)

    def put(self, first: int, columns: Mapping[str, Array]) -> None:
        """Fill some of the columns with these values from row `first` on; rows that were filled may be again."""
        if self._file is not None:
            try:
                for name, values in columns.items():
                    self._file.put(self._stored[name], first, values)
                return
            except OSError as error:
                self._move_to_memory(self._file, error)
        for name, values in columns.items():
            self._whole[name][first : first + len(values)] = values

    def finish(self) -> dict[str, Array]:
        """The columns, every row of which was filled."""
        if self._file is not None:
            try:
                return {name: self._file.show(stored) for name, stored in self._stored.items()}
            except OSError as error:
                self._move_to_memory(self._file, error)
        return self._whole

    def _move_to_memory(self, file: Spill, error: OSError) -> None:
        _log.debug("no room for temporary data, it stays in memory: %s", error)
        for name, stored in self._stored.items():
            written = file.read(stored)
            self._whole[name] = np.empty(self._rows, self._dtypes[name])
            self._whole[name][: len(written)] = written
        self._file = None
