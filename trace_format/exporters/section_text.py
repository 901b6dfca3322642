"""Writes the `neuronProfile` section (see `trace_format.trace_events.section`)."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from trace_format.categories import Classifier
from trace_format.exporters.lanes import Lanes
from trace_format.exporters.plain_text import is_plain, plain_object
from trace_format.pool import Pool
from trace_format.report import ImportReport
from trace_format.tables import Instants, Slices, Table
from trace_format.trace import Trace
from trace_format.trace_events.arguments import (
    FRAME_SEPARATOR,
    INSTANT_ARGUMENTS,
    INTEGER_COLUMNS,
    OWN_SLICE_ARGUMENTS,
    ArgumentSplitter,
)
from trace_format.trace_events.section import EVENT_TABLES, VERSION, digest, dumps, encode_table
from trace_format.trace_events.view import Naming

Array = np.ndarray

_EXACT_IN_DOUBLE = 2**53


def section(trace: Trace, lanes: Lanes) -> Iterator[str]:
    """The section as JSON, in parts: an object, or its text in base64 as a string where it holds lone surrogates."""
    beside = json.dumps([dict(trace.metadata), trace.report.to_dict()], ensure_ascii=False)
    if is_plain(beside) and all(is_plain(text) for text in trace.pool.strings.values):
        yield from _parts(trace, lanes)
    else:
        yield dumps(base64.b64encode("".join(_parts(trace, lanes)).encode("ascii")).decode("ascii"))


def _parts(trace: Trace, lanes: Lanes) -> Iterator[str]:
    tables = trace.tables()
    head: dict[str, Any] = {
        "version": VERSION,
        "about": "what trace events cannot carry, for neuron-profile; other programs may leave it out",
        "digest": digest(tables),
        "lanes": [list(lane) for lane in zip(lanes.pid, lanes.tid, lanes.track, strict=True)],
        "metadata": dict(trace.metadata),
        "report": trace.report.to_dict(),
        "later_records": [[field, base64.b64encode(data).decode()] for field, data in trace.later_records],
        "categories": {name: _categories(getattr(trace, name), trace) for name in EVENT_TABLES},
        "rows": {name: _odd_rows(getattr(trace, name)) for name in EVENT_TABLES},
    }
    yield dumps(head)[:-1] + ',"tables":{'
    separator = ""
    for name, table in tables.items():
        if name not in EVENT_TABLES and (len(table) or name in trace.extra):
            yield f"{separator}{dumps(name)}:{dumps(encode_table(table))}"
            separator = ","
    yield "}}"


def _categories(table: Slices | Instants, trace: Trace) -> dict[str, list[int]]:
    """Runs of rows whose category is not what the rule table gives: first row, number of rows, category."""
    told = Naming(trace.pool, Classifier()).categories(table.source_category.astype(np.int64), table.name)
    rows = np.flatnonzero(table.category != told)
    values = table.category[rows]
    new = np.flatnonzero(np.r_[True, (np.diff(rows) != 1) | (np.diff(values) != 0)]) if len(rows) else rows
    return {
        "first": rows[new].tolist(),
        "count": np.diff(np.r_[new, len(rows)]).tolist(),
        "category": values[new].tolist(),
    }


def _odd_rows(table: Slices | Instants) -> dict[str, Any]:
    """The rows whose event would not be read back as they are, whole."""
    keys = OWN_SLICE_ARGUMENTS if isinstance(table, Slices) else INSTANT_ARGUMENTS
    odd = ~_unchanged_sets(table, keys)[table.args]
    odd |= ~_plain_strings(table.pool)[table.name] | ~_plain_strings(table.pool)[table.source_category]
    for name in set(INTEGER_COLUMNS.values()) & table.COLUMNS.keys():
        values = getattr(table, name)
        odd |= (values < -1) | (values >= 10**18)
    if isinstance(table, Slices):
        flops = table.flops
        odd |= np.isinf(flops) | (flops < 0) | (flops >= _EXACT_IN_DOUBLE) | ((flops == 0) & np.signbit(flops))
        odd |= ~_joinable_stacks(table)[table.stack]
        odd |= table.dur_ns < -1
    rows = np.flatnonzero(odd)
    return {"rows": rows.tolist(), "table": encode_table(_stored_part(table, rows))}


def _stored_part(table: Table, rows: Array) -> Table:
    return type(table)({name: values[rows] for name, values in table.stored().items()}, table.pool)


def _unchanged_sets(table: Table, keys: tuple[str, ...]) -> Array:
    """By argument set id: whether splitting its text gives the text itself again."""
    pool = table.pool
    used = np.unique(table.args)
    texts = [pool.arg_sets[i] for i in used.tolist()]
    fresh = Pool()
    said = ArgumentSplitter(fresh, ImportReport().repaired).split(texts, keys)
    out = np.ones(len(pool.arg_sets), bool)
    split = np.zeros(len(texts), bool)
    for name, values in said.columns.items():
        split |= ~np.isnan(values) if name == "flops" else values != (0 if name == "stack" else -1)
    same = [fresh.arg_sets[i] == text for i, text in zip(said.args.tolist(), texts, strict=True)]
    readable = [plain_object(text) is not None for text in texts]
    out[used] = np.array(same, bool) & np.array(readable, bool) & ~split
    return out


def _plain_strings(pool: Pool) -> Array:
    """By string id: whether an event can carry it as it is."""
    return np.array([is_plain(text) for text in pool.strings.values], bool)


def _joinable_stacks(table: Slices) -> Array:
    """By stack id: whether its frames can be told apart again after they are joined."""
    pool = table.pool
    out = np.ones(len(pool.stacks), bool)
    for stack in np.unique(table.stack).tolist():
        frames = pool.frames(stack)
        if stack:
            plain = frames != ("",) and not any(FRAME_SEPARATOR in frame for frame in frames)
            out[stack] = plain and is_plain("".join(frames))
    return out
