"""Which instructions of a program keep its engines waiting."""

from __future__ import annotations

import numpy as np
import pandas as pd

from neuron_profile.analysis.grouping import group
from neuron_profile.analysis.neuron_device.runs import Run
from neuron_profile.analysis.neuron_device.waits import waits
from trace_format import Trace

_PS_PER_NS = 1000


def waiting_instructions(trace: Trace, run: Run, top: int | None = None) -> pd.DataFrame:
    """The instructions of the program that waited, by how long they did in all, longest first.

    An instruction of the program is a place (pc) on an engine of a core; loops run it several times.
    Columns: core, engine, pc (-1: not told), opcode, count (runs), waited_ns (see `Waits`), longest_ns, operands
    (or what it waits for; "" where not told), slice (the row of the longest). `top` keeps the first so many. Empty
    where nothing waited.
    """
    rows, found = run.instructions, waits(trace, run)
    some = np.flatnonzero(found.dur_ps > 0)
    slices, tracks, strings = trace.slices, trace.tracks, trace.pool.strings
    row, waited = rows.slice[some], found.dur_ps[some]
    place, pc = np.unique(slices.pc[row], return_inverse=True)
    groups = group((rows.track[some], pc, slices.name[row]), (len(tracks), max(len(place), 1), len(strings)))
    total, longest = groups.sum(waited), groups.max(waited, least=0)
    of_longest = np.zeros(len(groups), np.int64)
    ascending = np.argsort(waited, kind="stable")
    of_longest[groups.of_row[ascending]] = row[ascending]
    order = np.lexsort((groups.values[1], groups.values[0], -total))[:top]
    track, pc, name = (values[order] for values in groups.values)
    return pd.DataFrame(
        {
            "core": tracks.core[track].astype(np.int64),
            "engine": pd.Series([strings[i] for i in tracks.engine[track].tolist()], dtype=object),
            "pc": place[pc] if len(place) else np.zeros(0, np.int64),
            "opcode": pd.Series([strings[i] for i in name.tolist()], dtype=object),
            "count": groups.count()[order],
            "waited_ns": total[order] // _PS_PER_NS,
            "longest_ns": longest[order] // _PS_PER_NS,
            "operands": pd.Series([_operands(trace, i) for i in of_longest[order].tolist()], dtype=object),
            "slice": of_longest[order],
        }
    )


def _operands(trace: Trace, row: int) -> str:
    args = trace.pool.args(int(trace.slices.args[row]))
    found = args.get("operands") or args.get("waits_for")
    return found.strip() if isinstance(found, str) else ""
