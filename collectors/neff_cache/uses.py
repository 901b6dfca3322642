"""What a window had to do with the NEFFs in a cache, among its compiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from collectors.compiles.call import COMPILER
from trace_format.tables import CACHE_RESULTS

if TYPE_CHECKING:
    from trace_format import Trace

UNKNOWN, HIT, MISS = range(len(CACHE_RESULTS))
_PUT_AWAY_NS = 10**9  # after the end of a compile its NEFF may take so long to be copied into the cache
_COARSE_NS = 10 * 10**6  # how far off the start of a run may be


@dataclass(frozen=True, slots=True)
class NeffUse:
    """What a window had to do with one NEFF. `moments`: when it was read, or (a miss) when it was there."""

    path: str
    result: int
    moments: tuple[int, ...]
    written_ns: int  # the time of the file

    @property
    def what(self) -> str:
        """The module as the cache has it: the name of its folder in neuron-compile-cache, else that of the file."""
        path = Path(self.path)
        return path.parent.name if path.parent.name.startswith("MODULE_") else path.stem


def with_uses(trace: Trace, uses: Sequence[NeffUse]) -> Trace:
    """The trace with a row of `compiles` for each use; a miss that is a run of the compiler completes its row.

    A compile of torch in which one NEFF was made or found has that NEFF.
    """
    from trace_format import Trace

    compiles, string = type(trace.compiles), trace.pool.strings.id
    columns = {name: values.copy() for name, values in trace.compiles.stored().items()}
    rows_of_neffs = {path: row for row, path in enumerate(trace.neffs.text("path"))}
    added: list[dict[str, Any]] = []
    found: list[tuple[int, int]] = []  # when, which NEFF
    for use in uses:
        neff = rows_of_neffs.get(use.path, -1)
        run = _run_of(trace, columns, use, neff) if use.result == MISS else -1
        if run >= 0:
            columns["cache"][run] = MISS
            columns["neff"][run] = neff if columns["neff"][run] < 0 else columns["neff"][run]
        else:
            added.append({"what": string(use.what), "backend": string(COMPILER), "cache": use.result, "neff": neff})
            found += [(moment, neff) for moment in use.moments]
    _note_neffs(trace, columns, found)
    unknown = {name: column.unknown for name, column in compiles.COLUMNS.items()}
    for name, values in columns.items():
        new = [row.get(name, unknown[name]) for row in added]
        columns[name] = np.concatenate([values, np.array(new, values.dtype)])
    tables = {**trace.tables(), "compiles": compiles(columns, trace.pool)}
    return Trace.of(trace.pool, tables, metadata=trace.metadata, report=trace.report, later_records=trace.later_records)


def _run_of(trace: Trace, columns: Mapping[str, np.ndarray], use: NeffUse, neff: int) -> int:
    """The run of the compiler that made a NEFF; -1 for none, or where it is not clear which.

    What it made has the same hash and UUID. Where that is no longer there: the run compiled what the cache calls the
    NEFF, or it is the only one during, or right after, which the file was written.
    """
    slices, strings, neffs = trace.slices, trace.pool.strings, trace.neffs
    during = []
    for row in np.flatnonzero((columns["backend"] == strings.find(COMPILER)) & (columns["slice"] >= 0)).tolist():
        made, of = int(columns["neff"][row]), int(columns["slice"][row])
        if made >= 0:
            if neff >= 0 and (neffs.hash[made], neffs.uuid[made]) == (neffs.hash[neff], neffs.uuid[neff]):
                return row
        elif strings[int(columns["what"][row])] == use.what:
            return row
        elif columns["exit_status"][row] == 0 and slices.dur_ns[of] >= 0:
            since_ns = use.written_ns - slices.ts_ns[of]
            if -_COARSE_NS <= since_ns <= slices.dur_ns[of] + _PUT_AWAY_NS:
                during.append(row)
    return during[0] if len(during) == 1 else -1


def _note_neffs(trace: Trace, columns: Mapping[str, np.ndarray], found: list[tuple[int, int]]) -> None:
    """Give each compile of torch the NEFF of the run of the compiler, or of the use (`found`), that lies in its time.

    Where it has several, it is none's.
    """
    slices = trace.slices
    is_run = (columns["backend"] == trace.pool.strings.find(COMPILER)) & (columns["slice"] >= 0)
    runs = columns["slice"][is_run]
    moments = np.array([*slices.ts_ns[runs].tolist(), *(ts_ns for ts_ns, _ in found)], np.int64)
    neffs = np.array([*columns["neff"][is_run].tolist(), *(neff for _, neff in found)], np.int64)
    for row in np.flatnonzero(~is_run & (columns["slice"] >= 0) & (columns["neff"] < 0)).tolist():
        of = columns["slice"][row]
        start_ns, dur_ns = slices.ts_ns[of], slices.dur_ns[of]
        inside = np.unique(neffs[(neffs >= 0) & (moments >= start_ns) & (moments < start_ns + dur_ns)])
        if len(inside) == 1:
            columns["neff"][row] = inside[0]
