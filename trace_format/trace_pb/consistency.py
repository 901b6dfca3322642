"""Whether the tables of a file fit each other."""

from __future__ import annotations

from collections.abc import Mapping

from trace_format.columns import Meaning, is_constant
from trace_format.limits import LATEST_NS, LONGEST_NS
from trace_format.nesting import has_circle
from trace_format.pool import Pool
from trace_format.spill import release
from trace_format.tables import BY_TRACK, Table


def contradiction(tables: Mapping[str, Table], pool: Pool) -> str | None:
    """What is wrong with these tables, in a few words; None where nothing is.

    A row may refer only to what is there, the rows of a track go forward in time, times can be added and
    subtracted in int64, and no track is its own ancestor.
    """
    for name, table in tables.items():
        problem = _reference(name, table, tables, pool) or _time(name, table)
        if problem:
            return problem
        release(table.stored().values())
    if "tracks" in tables and has_circle(tables["tracks"].parent):
        return "the parents of tracks go in a circle"
    return None


def _reference(name: str, table: Table, tables: Mapping[str, Table], pool: Pool) -> str | None:
    sizes = {
        Meaning.STRING: len(pool.strings), Meaning.STACK: len(pool.stacks), Meaning.ARGS: len(pool.arg_sets),
    }  # fmt: skip
    for column, values in table.stored().items():
        spec = table.column(column)
        if spec is None or not len(values):
            continue
        size = sizes.get(spec.meaning)
        if spec.meaning is Meaning.ROW:
            size = len(tables.get(spec.references, ()))
        elif spec.meaning is Meaning.CHOICE:
            size = len(spec.choices)
        if size is not None and int(values[0] if is_constant(values) else values.max()) >= size:
            return f"column {name}.{column} refers to something the file lacks"
        if spec.meaning is Meaning.ROW and int(values.min()) < -1:
            return f"column {name}.{column} has negative row numbers"
        release([values])
    return None


def _time(name: str, table: Table) -> str | None:
    if not len(table) or "ts_ns" not in table.COLUMNS:
        return None
    first, last = int(table.ts_ns.min()), int(table.ts_ns.max())
    if max(-first, last, last - first) > LATEST_NS:
        return f"{name} has times more than {LATEST_NS} ns from each other or from the clock's zero"
    if name == "slices" and int(table.dur_ns.max()) > LONGEST_NS:
        return f"{name} has durations of more than {LONGEST_NS} ns"
    if name in BY_TRACK and not is_constant(table.ts_ns):
        same_track = table.track[1:] == table.track[:-1]
        if bool((same_track & (table.ts_ns[1:] < table.ts_ns[:-1])).any()):
            return f"the rows of {name} are not in order of time"
    return None
