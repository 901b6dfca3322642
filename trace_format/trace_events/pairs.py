"""Begin and end events become slices."""

from __future__ import annotations

from collections import Counter

import numpy as np

from trace_format.pool import Pool

Array = np.ndarray

# The columns a begin may leave to its end, with the value that stands for unknown.
_FROM_EITHER = {
    "external_id": -1, "correlation": -1, "event_index": -1, "record_function_id": -1, "sequence_number": -1,
    "python_id": -1, "python_parent_id": -1, "bytes": -1, "flops": np.nan, "stack": 0,
}  # fmt: skip


class Pairs:
    """Collects begins and ends, in source order, and joins them track by track when all are there.

    An end closes the innermost open begin of its track that has its name; an end without a name, the innermost.
    Times decide the order, the source's order decides between equal times.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._chunks: list[dict[str, Array]] = []

    def add(self, rows: int, **columns: Array) -> None:
        """Add events: `is_end`, `track`, `ts_ns`, `name`, ... each `(rows,)`; those of `_FROM_EITHER` are optional."""
        filled = {name: np.full(rows, unknown) for name, unknown in _FROM_EITHER.items() if name not in columns}
        self._chunks.append({**filled, **columns})

    def join(self, repaired: Counter[str], left_out: Counter[str]) -> dict[str, Array] | None:
        """The slices, as columns of the slices table, begins in order of track and time; None if there were none.

        A begin without an end becomes a slice that did not finish; an end without a begin is left out.
        """
        if not self._chunks:
            return None
        events = {name: np.concatenate([chunk[name] for chunk in self._chunks]) for name in self._chunks[0]}
        self._chunks.clear()
        order = np.lexsort((events["ts_ns"], events["track"]))
        events = {name: values[order] for name, values in events.items()}
        begin, end, stray = self._match(events)
        if stray:
            left_out["end without a begin"] += stray
        closed = end >= 0
        if not closed.all():
            repaired["begin without an end: shown as unfinished"] += int((~closed).sum())
        slices = {name: values[begin] for name, values in events.items() if name != "is_end"}
        slices["dur_ns"] = np.where(closed, events["ts_ns"][end] - slices["ts_ns"], -1)
        for name, unknown in _FROM_EITHER.items():
            mine = slices[name]
            empty = np.isnan(mine) if unknown != unknown else mine == unknown
            slices[name] = np.where(empty & closed, events[name][end], mine)
        self._join_arguments(slices["args"], np.where(closed, events["args"][end], 0))
        return slices

    @staticmethod
    def _match(events: dict[str, Array]) -> tuple[Array, Array, int]:
        """Rows of the begins, the rows of their ends (-1: none), and the number of ends left over."""
        ends: dict[int, int] = {}
        stray = 0
        track_now = -1
        open_rows: list[tuple[int, int]] = []
        columns = (events[name].tolist() for name in ("track", "is_end", "name"))
        for row, (track, is_end, name) in enumerate(zip(*columns, strict=True)):
            if track != track_now:
                track_now, open_rows = track, []
            if not is_end:
                open_rows.append((name, row))
                ends[row] = -1
                continue
            at = len(open_rows) - 1
            while name and at >= 0 and open_rows[at][0] not in (name, 0):
                at -= 1
            if at < 0:
                stray += 1
            else:
                ends[open_rows.pop(at)[1]] = row
        return np.array(list(ends), np.int64), np.array(list(ends.values()), np.int64), stray

    def _join_arguments(self, begin: Array, end: Array) -> None:
        """Add what an end says to the argument sets of its begin, in place."""
        sets = self._pool.arg_sets
        for row in np.flatnonzero((end > 0) & (end != begin)).tolist():
            mine, other = sets[int(begin[row])], sets[int(end[row])]
            begin[row] = sets.id(b"%s,%s" % (mine[:-1], other[1:])) if mine else int(end[row])
