"""The summary, its JSON, and what every function promises."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from script import Script
from test_analysis_attribution import network
from test_analysis_hotspots import linear_on_a_device

from neuron_profile import analysis
from neuron_profile.analysis.breakdown import PARTS
from neuron_profile.analysis.records import plain
from trace_format import Trace, TraceBuilder


def test_the_summary_holds_what_the_functions_return() -> None:
    script = linear_on_a_device()
    script.memory("cpu", (5, 10, 10), (8, 30, 40), (9, 0, 40), (12, -10, 30))
    script.builder.report.source_events = 9
    trace = script.trace(host="here", rank=None, sources=[{"clock": "unix", "skew": math.nan}])
    found = analysis.summarize(trace).to_dict()
    json.dumps(found, allow_nan=False)
    assert list(found) == [
        "metadata", "breakdown", "steps", "hotspots", "findings", "time_by_category", "peak_memory", "peak_holders",
        "report",
    ]  # fmt: skip
    assert found["metadata"] == {"host": "here", "rank": None, "sources": [{"clock": "unix", "skew": None}]}
    assert found["steps"] == [
        {"step": 0, "name": "ProfilerStep#0", "start_ns": 0, "end_ns": 200, "dur_ns": 200, "rank": -1}
    ]
    assert found["hotspots"] == analysis.records(analysis.hotspots(trace, top=20))
    assert found["time_by_category"] == analysis.records(analysis.time_by_category(trace))
    frame = analysis.breakdown(trace)
    of_device = {"rank": -1, "device": int(frame["device"][0])}
    parts = {name: int(frame[name].sum()) for name in frame if name == "total_ns" or name in PARTS}
    assert found["breakdown"] == {**parts, "by_device": [{**of_device, **parts}]}
    assert sum(parts.values()) == 2 * parts["total_ns"] == 400  # total and parts of the step of 200
    # the peak of 40 is first reached at 8
    assert found["peak_memory"] == [{"device": "cpu", "rank": -1, "peak_bytes": 40, "at_ns": 8}]
    assert found["peak_holders"] == analysis.records(analysis.peak_holders(trace, top=10))
    assert found["report"] == {"source_events": 9, "kept": 9, "left_out": {}, "repaired": {}}


def test_what_is_not_known_is_left_out() -> None:
    found = analysis.summarize(TraceBuilder().finish()).to_dict()
    assert found == {
        "metadata": {}, "breakdown": {"by_device": []}, "steps": [], "hotspots": [], "findings": [],
        "time_by_category": [],
        "report": {"source_events": 0, "kept": 0, "left_out": {}, "repaired": {}},
    }  # fmt: skip


def test_records_are_plain_values_and_unknown_is_none() -> None:
    script = Script()
    script.add(script.track(), "stuck", "host_op", 0, -1)
    (row,) = analysis.records(analysis.hotspots(script.trace()))
    assert row == {
        "name": "stuck", "category": "host_op", "count": 1, "total_ns": 0, "self_ns": 0, "mean_ns": None,
        "p50_ns": None, "p95_ns": None, "max_ns": None, "share_ratio": None,
    }  # fmt: skip
    assert {type(row[key]) for key in ("count", "total_ns", "self_ns")} == {int}


def test_metadata_becomes_what_json_can_hold() -> None:
    value = {1: (np.int64(2), np.float32(0.5)), "inf": math.inf, "set": {3}, "true": np.True_}
    assert plain(value) == {"1": [2, 0.5], "inf": None, "set": "{3}", "true": True}


FUNCTIONS: list[Callable[[Trace], Any]] = [
    analysis.hotspots, analysis.steps, analysis.time_by_category, analysis.memory_timeline, analysis.bytes_moved,
    analysis.bandwidth, analysis.movers, analysis.summarize, analysis.simulated_device,
    analysis.breakdown, analysis.simulated_breakdown,
    analysis.collectives, analysis.collective_overlap, analysis.collective_skew, analysis.collective_spans,
    analysis.exposed_collectives, analysis.median_step, analysis.source_lines,
    analysis.warnings_over_time, *(lambda trace, kind=kind: analysis.regions(trace, kind) for kind in analysis.REGIONS),
    lambda trace: analysis.range_summary(trace, 10, 60),
    *(lambda trace, by=by: analysis.hotspots(trace, by=by) for by in analysis.GROUPINGS),
    *(lambda trace, by=by: analysis.call_tree(trace, by=by) for by in analysis.CALL_TREES),
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS)
def test_no_analysis_changes_its_trace(function: Callable[[Trace], Any]) -> None:
    script = network()
    script.memory("cpu", (5, 10, -1))
    trace = script.trace(rank=0)
    before = {
        (name, column): getattr(table, column).copy()
        for name, table in trace.tables().items()
        for column in table.stored()
    }
    pools = [list(pool.values) for pool in (trace.pool.strings, trace.pool.stacks, trace.pool.arg_sets)]
    function(trace)
    for (name, column), values in before.items():
        np.testing.assert_array_equal(getattr(trace.tables()[name], column), values)
    assert [list(pool.values) for pool in (trace.pool.strings, trace.pool.stacks, trace.pool.arg_sets)] == pools


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_analysis_takes_a_trace_with_tracks_but_no_slices(function: Callable[[Trace], Any]) -> None:
    script = Script()
    script.track()
    script.stream()
    function(script.trace())


def test_the_public_names_are_these() -> None:
    assert analysis.__all__ == [
        "CALL_TREES", "GROUPINGS", "MEMORY_CATEGORIES", "OTHER_CALLS", "REGIONS", "WARNING_KINDS", "WHOLE_WINDOW",
        "CollectiveSkew", "Comparison", "CriticalPath", "Cut", "DeviceLanes", "DurationDistribution", "Finding",
        "Gate", "MemoryGrowth", "SimulatedDevice", "SliceCollective", "SliceWork", "Straggler", "Summary",
        "TransferSizes", "WhatIf", "bandwidth",
        "bandwidth_summary", "breakdown", "bytes_moved", "call_tree", "causes", "collective_overlap",
        "collective_skew", "collective_spans", "collectives", "compile_causes", "compile_time_by_step", "compiles",
        "critical_path", "cut", "device_lanes", "device_share", "diff", "duration_distribution",
        "exposed_collectives", "findings", "graph_breaks", "hotspots", "idle_gaps", "median_step",
        "memory_by_category", "memory_by_step", "memory_growth", "memory_timeline", "movers", "operations",
        "peak_holders", "range_summary", "records", "regions", "repeated_misses", "roofline", "same_on_ranks",
        "simulated_breakdown", "simulated_device", "slice_collective", "slice_work", "slices_of_line", "slowest",
        "source_lines", "steps", "summarize",
        "time_by_category", "transfer_sizes", "utilisation", "warnings_over_time",
    ]  # fmt: skip
