"""Reads what neuronx-cc measured: global_metric_store.json, hlo_metrics.json, metrics.json."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np

from trace_format.builder import TraceBuilder
from trace_format.errors import DamagedFileError
from trace_format.importers.neuronx_cc.compile_log import BACKEND, LoggedCompile, add_compile
from trace_format.importers.recognition import BOM
from trace_format.importers.source import Source
from trace_format.trace import Trace

METRICS = "neuronx_cc_metrics"  # the table carried along: scope, group, name, value
_LARGEST_BYTES = 64 << 20
_MOST_NESTED = 8
# Worked out from data: scopes are the module, its subgraphs and sums over both, groups the part of the compiler that
# measured; what "compiletime" holds are the seconds of each pass.
_TIMES, _SUM = "compiletime", "Sum"
_LONGEST_S = 10**7


def read_metric_store(source: Source) -> Trace:
    """The trace of a metric store: its numbers as a carried table, and a compile whose phases are its times.

    The report counts the numbers and what stands in their place. Raises DamagedFileError where the file is no JSON.
    """
    found = _decoded(source)
    builder = TraceBuilder()
    rows: list[tuple[str, str, str, float]] = []
    for path, value in _leaves(found, ()):
        builder.report.source_events += 1
        number = _number(value)
        if number is None:
            builder.report.left_out["value that is no number"] += 1
        else:
            *above, name = path
            rows.append((above[0] if above else "", "/".join(above[1:]), name, number))
    if rows:
        scopes, groups, names, values = zip(*rows, strict=True)
        columns = {"scope": list(scopes), "group": list(groups), "name": list(names), "value": np.array(values)}
        builder.carry(METRICS, columns, rows=len(rows))
    phases = _phases_ns(rows)
    if phases:
        add_compile(builder, LoggedCompile(what="", phases_ns=phases))
    source.note_in(builder.report)
    described = {
        "format": "neuronx-cc-metrics",
        "path": source.path.name,
        "producer": BACKEND,
        "clock": "unknown",
    }
    return builder.finish(metadata={"sources": [described]})


def _decoded(source: Source) -> Any:
    text = source.whole(_LARGEST_BYTES, f"is a metric store of more than {_LARGEST_BYTES:,} bytes")
    try:
        found = msgspec.json.decode(text.removeprefix(BOM))
    except (msgspec.DecodeError, RecursionError) as error:
        raise DamagedFileError(
            f"is a metric store that is no valid JSON ({error}); it may have been cut off", path=source.path
        ) from error
    return found


def _leaves(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Each value that is no object, with the names that lead to it; metrics.json names them in rows of its list."""
    if isinstance(value, dict) and len(path) < _MOST_NESTED:
        for name, inner in value.items():
            yield from _leaves(inner, (*path, name))
    elif isinstance(value, list) and not path:
        for row in value:
            named = isinstance(row, dict) and isinstance(row.get("MetricName"), str)
            yield ((row["MetricName"],), row.get("Value")) if named else (("",), row)
    else:
        yield path or ("",), value


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < 2.0**1000 and math.isfinite(value) else None


def _phases_ns(rows: list[tuple[str, str, str, float]]) -> dict[str, int]:
    """Nanoseconds by pass: the compiler's own sum over all scopes, else that of those there are."""
    times = [(scope, name, value) for scope, group, name, value in rows if group == _TIMES and 0 <= value < _LONGEST_S]
    has_sum = any(scope == _SUM for scope, _, _ in times)
    out: Counter[str] = Counter()
    for scope, name, value in times:
        if (scope == _SUM) is has_sum:
            out[name] += round(value * 10**9)
    return dict(out)
