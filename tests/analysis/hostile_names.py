"""Any trace with names that nobody would give, and a call of every public analysis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from neuron_profile import analysis
from neuron_profile.analysis import GROUPINGS, REGIONS
from trace_format import Trace

# Lone surrogates, which UTF-8 cannot write; NUL and ESC; a name longer than any line.
ENDINGS = ("\ud800", "\0\x1b[2J", "\udfff" + "n" * 100_000, "=1+1,\n\"'")


def with_hostile_names(trace: Trace) -> Trace:
    """The same trace, every text of its pool with one of the `ENDINGS`; marks of steps are left as they are."""
    texts = trace.pool.strings.values
    for number in range(1, len(texts)):
        if not texts[number].startswith(("ProfilerStep#", "dynamo_graph_break_reason")):
            texts[number] += ENDINGS[number % len(ENDINGS)]
    trace.pool.strings.extend([])  # it forgets where its texts were
    return trace


def _each_row(function: Callable[[Trace, int], Any]) -> Callable[[Trace], Any]:
    return lambda trace: [function(trace, row) for row in range(min(len(trace.slices), 20))]


def _critical_path(trace: Trace) -> Any:
    found = analysis.critical_path(trace)
    return found.segments, found.totals, found.by_name, found.returns(), found.notes


def _in_window(function: Callable[[Trace, int, int], Any]) -> Callable[[Trace], Any]:
    def called(trace: Trace) -> Any:
        window = trace.time_range_ns
        return window and function(trace, window[0], window[1] + 1)

    return called


def _slowest(trace: Trace) -> Any:
    sides = [(by, side, name) for by in GROUPINGS for side in ("device", "host")
             for name in analysis.hotspots(trace, by=by, top=3)["name"]]  # fmt: skip
    return [analysis.slowest(trace, name, by=by, side=side) for by, side, name in sides]


def _lines(trace: Trace) -> Any:
    rows = analysis.source_lines(trace).head(3).to_dict("records")
    return [analysis.slices_of_line(trace, row["file"], row["line"]) for row in rows]


# Those that take more than a trace; every other one is called with the trace alone.
CALLS: dict[str, Callable[[Trace], Any]] = {
    "bandwidth": lambda trace: [analysis.bandwidth(trace, by=by) for by in ("side", "channel")],
    "call_tree": lambda trace: [analysis.call_tree(trace, by=by) for by in analysis.CALL_TREES],
    "causes": _each_row(analysis.causes),
    "critical_path": _critical_path,
    "cut": _in_window(analysis.cut),
    "device_lanes": lambda trace: [analysis.device_lanes(trace, simulated=simulated) for simulated in (False, True)],
    "diff": lambda trace: analysis.diff(trace, trace).to_dict() if trace.time_range_ns else None,
    "duration_distribution": _each_row(analysis.duration_distribution),
    "hotspots": lambda trace: [analysis.hotspots(trace, by=by) for by in GROUPINGS],
    "range_summary": _in_window(analysis.range_summary),
    "records": lambda trace: analysis.records(analysis.hotspots(trace)),
    "regions": lambda trace: [analysis.regions(trace, kind) for kind in REGIONS],
    "roofline": lambda trace: [analysis.roofline(trace, by=by) for by in ("op", "name")],
    "same_on_ranks": _each_row(analysis.same_on_ranks),
    "slice_collective": _each_row(analysis.slice_collective),
    "slice_work": _each_row(analysis.slice_work),
    "slices_of_line": _lines,
    "slowest": _slowest,
}


def call(name: str, trace: Trace) -> Any:
    """What the analysis of this name says of the trace."""
    return CALLS.get(name, getattr(analysis, name))(trace)
