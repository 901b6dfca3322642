"""A trace whose names outside torch, paths and hosts are replaced by pseudonyms."""

from __future__ import annotations

from collections import Counter
from typing import Final

import numpy as np

from trace_format.columns import Meaning
from trace_format.pool import Pool
from trace_format.redaction.arguments import redacted_arguments, redacted_mapping
from trace_format.redaction.pseudonyms import Pseudonyms
from trace_format.report import ImportReport
from trace_format.tables import CATEGORIES, Table
from trace_format.trace import Trace

Array = np.ndarray

# What a text that is not public is called, by where it stands; of several places the first in this list.
_OF_COLUMN: Final = {
    ("tracks", "host"): "host", ("tracks", "name"): "track", ("tracks", "source_pid"): "process",
    ("tracks", "source_tid"): "thread", ("memory", "device"): "device", ("neffs", "name"): "neff",
    ("neffs", "path"): "path", ("neffs", "hash"): "hash", ("neffs", "uuid"): "uuid", ("tensors", "name"): "tensor",
    ("compiles", "what"): "graph", ("compiles", "trigger"): "cause", ("collectives", "group"): "group",
}  # fmt: skip
_OF_CATEGORY: Final = {
    "annotation": "annotation", "host_op": "operator", "python": "function", "compute": "kernel", "memcpy": "kernel",
    "memset": "kernel", "collective": "kernel", "dma": "queue", "runtime": "call", "compile": "compile",
}  # fmt: skip


def redacted(trace: Trace) -> Trace:
    """The same trace with every text that is not known to be public replaced by a pseudonym ("function-7").

    The same text has the same pseudonym everywhere, and a trace has the same ones each time. Replaced are names of
    functions, modules, operators, kernels and files outside torch, hosts, threads, paths, and all text of arguments and
    metadata; kept are the names of torch, of drivers and devices, and all numbers. What was left out because this
    version does not know it (`later_records`) is left out. Analysis that goes by a user's own names finds less in it.
    """
    pseudonyms, pool = Pseudonyms(), Pool()
    kinds = _kinds(trace)
    strings = [
        pseudonyms.text(text, kinds.get(number, "name")) for number, text in enumerate(trace.pool.strings.values)
    ]
    pool.strings.extend(strings[1:])
    pool.stacks.extend(trace.pool.stacks.values[1:])
    pool.arg_sets.extend([redacted_arguments(told, pseudonyms) for told in trace.pool.arg_sets.values[1:]])
    metadata = redacted_mapping(trace.metadata, pseudonyms)
    tables: dict[str, Table] = {}
    for name, table in trace.tables().items():
        known = name if name == table.NAME else pseudonyms.text(name, "table")
        tables[known] = type(table)(_columns(table), pool, rows=len(table))
    return Trace.of(pool, tables, metadata=metadata, report=_report(trace.report, pseudonyms))


def _columns(table: Table) -> dict[str, Array]:
    """The columns of a table that this version knows; of a table that is only carried along, those with text and the
    numbers beside them."""
    return {name: values for name, values in table.stored().items() if not table.NAME or name in table.COLUMNS}


def _kinds(trace: Trace) -> dict[int, str]:
    """What each string of the pool is called, where it stands for a name of some kind."""
    kinds: dict[int, str] = {}
    for table_name, table in trace.tables().items():
        for name in table:
            column = table.column(name)
            if column is None or column.meaning is not Meaning.STRING or (table_name, name) == ("slices", "name"):
                continue
            kind = _OF_COLUMN.get((table_name, name))
            if kind is not None:
                _add(kinds, np.unique(getattr(table, name)), kind)
    slices = trace.slices
    for category in np.unique(slices.category).tolist():
        kind = _OF_CATEGORY.get(CATEGORIES[category])
        if kind is not None:
            _add(kinds, np.unique(slices.name[slices.category == category]), kind)
    return kinds


def _add(kinds: dict[int, str], strings: Array, kind: str) -> None:
    for number in strings.tolist():
        kinds.setdefault(number, kind)


def _report(report: ImportReport, pseudonyms: Pseudonyms) -> ImportReport:
    """The counts of the import, with a cause that holds anything that was replaced called "cause-1"."""
    out = report.copy()
    out.left_out, out.repaired = (_causes(causes, pseudonyms) for causes in (report.left_out, report.repaired))
    return out


def _causes(causes: Counter[str], pseudonyms: Pseudonyms) -> Counter[str]:
    found: Counter[str] = Counter()
    for cause, number in causes.items():
        tells = any(mark in cause for mark in "/\\@") or any(text in cause for text in pseudonyms.of)
        found[pseudonyms.number("cause", cause) if tells else cause] += number
    return found
