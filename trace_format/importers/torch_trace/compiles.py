"""What a structured log says about each compile, as the compiles table."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from trace_format.pool import Pool
from trace_format.tables import CACHE_RESULTS, Compiles
from trace_format.trace import Trace

_PHASE = re.compile(r"(?P<name>\w+?)(?:_cumulative)?(?:_time)?_(?P<unit>s|us)\Z")
_UNIT_NS = {"s": 10**9, "us": 1000}
_NOT_PHASES = ("remote_cache_time_saved", "structured_logging_overhead", "start", "end")
_WHOLE = ("entire_frame_compile", "dynamo")  # slices that span one compile, the better one first
_CACHE = re.compile(r"(?:fx_graph|autograd|aot_autograd|inductor)\w*_cache_(?P<result>hit|miss)\Z")


@dataclass(frozen=True, slots=True)
class Compile:
    """One compile of one frame; `phases_ns` by torch's own names."""

    compile_id: str
    what: str
    backend: str
    trigger: str
    failed: bool
    phases_ns: Mapping[str, int]

    @classmethod
    def of(cls, metrics: Mapping[str, Any], compile_id: str, trigger: str) -> Compile:
        """The compile that a `compilation_metrics` entry describes."""
        given = metrics.get("compile_id")
        name = metrics.get("co_name")
        return cls(
            compile_id=given if isinstance(given, str) else compile_id,
            what=name if isinstance(name, str) else "",
            backend="inductor" if metrics.get("inductor_compile_time_s") is not None else "",
            trigger=trigger,
            failed=metrics.get("fail_type") is not None,
            phases_ns=_phases(metrics),
        )


def _phases(metrics: Mapping[str, Any]) -> dict[str, int]:
    out = {}
    for key, value in metrics.items():
        found = _PHASE.match(key)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if found and is_number and 0 <= value < 10**7 and found["name"] not in _NOT_PHASES:
            out[found["name"]] = round(value * _UNIT_NS[found["unit"]])
    return out


def compiles_table(trace: Trace, compiles: Sequence[Compile]) -> Compiles:
    """A row for each compile, joined to the slice that spans it and to the cache lookups made for it."""
    pool = trace.pool
    spans = {name: _by_compile(trace, "slices", name) for name in _WHOLE}
    cache = _cache_results(trace)
    used: set[int] = set()
    rows: list[dict[str, Any]] = []
    for compile_ in compiles:
        found = [row for name in _WHOLE for row in spans[name].get(compile_.compile_id, []) if row not in used]
        used |= set(found[:1])
        rows.append(
            {
                "slice": found[0] if found else -1,
                "what": pool.strings.id(compile_.what),
                "backend": pool.strings.id(compile_.backend),
                "cache": CACHE_RESULTS.index(cache.get(compile_.compile_id, "unknown")),
                "trigger": pool.strings.id(compile_.trigger),
                "exit_status": int(compile_.failed),
                "phases": _arg_set(pool, compile_.phases_ns),
            }
        )
    columns = (
        {name: np.array([row[name] for row in rows], Compiles.COLUMNS[name].dtype) for name in rows[0]} if rows else {}
    )
    return Compiles(columns, pool)


def _by_compile(trace: Trace, table: str, name: str) -> dict[str, list[int]]:
    """Rows of a table that have this name, by the compile id among their arguments."""
    rows = getattr(trace, table)
    out: dict[str, list[int]] = {}
    for row in np.flatnonzero(rows.name == trace.pool.strings.find(name)).tolist():
        compile_id = trace.pool.args(int(rows.args[row])).get("compile_id")
        if isinstance(compile_id, str):
            out.setdefault(compile_id, []).append(row)
    return out


def _cache_results(trace: Trace) -> dict[str, str]:
    """hit or miss by compile id; a compile that missed once was a miss."""
    out: dict[str, str] = {}
    for name in sorted(set(trace.instants.text("name"))):
        found = _CACHE.match(name)
        if found:
            for compile_id in _by_compile(trace, "instants", name):
                if out.get(compile_id) != "miss":
                    out[compile_id] = found["result"]
    return out


def _arg_set(pool: Pool, phases_ns: Mapping[str, int]) -> int:
    inner = ",".join(f'"{name}":{value}' for name, value in phases_ns.items())
    return pool.arg_sets.id(f"{{{inner}}}".encode()) if inner else 0


def innermost_frame(stack: Any, strings: Mapping[int, str]) -> str:
    """The user's frame that made torch compile, as file:line name; "" where the entry has none."""
    frame = stack[-1] if isinstance(stack, list) and stack else None
    if not isinstance(frame, Mapping):
        return ""
    file = frame.get("filename")
    shown = strings.get(file, file) if isinstance(file, int) else file
    return f"{shown}:{frame.get('line')} {frame.get('name')}"
