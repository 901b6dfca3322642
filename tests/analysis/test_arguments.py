"""What callers give that makes no sense is a ValueError of one line, or what the function documents."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from script import Script

from neuron_profile import analysis
from neuron_profile.hardware import DevicePeaks
from trace_format import NeuronProfileError, Trace, TraceBuilder


@pytest.fixture(scope="module")
def trace() -> Trace:
    script = Script()
    thread = script.track()
    script.add(thread, "ProfilerStep#0", "annotation", 0, 1000)
    script.op(thread, "aten::mm", 100, 200)
    script.op(thread, "aten::add", 400, 100)
    return script.trace()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda t: analysis.cut(t, math.nan, 1), "start_ns must be a whole number from -9223372036854775808 to"),
        (lambda t: analysis.cut(t, 0, 10.5), "end_ns must be a whole number"),
        (lambda t: analysis.cut(t, 1 << 70, 1 << 71), "start_ns must be a whole number"),
        (lambda t: analysis.cut(t, "a", "b"), "start_ns must be a whole number"),
        (lambda t: analysis.cut(t, 5, 5), "the window [5, 5) is empty"),
        (lambda t: analysis.range_summary(t, 100, 50), "the window [100, 50) is empty"),
        (lambda t: analysis.range_summary(t, 0.0, 50), "start_ns must be a whole number"),
        (lambda t: analysis.hotspots(t, top=-1), "top must be a whole number from 0 up, not -1"),
        (lambda t: analysis.hotspots(t, top=1.5), "top must be a whole number from 0 up, not 1.5"),
        (lambda t: analysis.operations(t, top=-1), "top must be"),
        (lambda t: analysis.movers(t, top=-1), "top must be"),
        (lambda t: analysis.peak_holders(t, top=-1), "top must be"),
        (lambda t: analysis.memory_growth(t, top=-1), "top must be"),
        (lambda t: analysis.roofline(t, top=-1), "top must be"),
        (lambda t: analysis.slices_of_line(t, "a.py", 1, top=-1), "top must be"),
        (lambda t: analysis.idle_gaps(t, top=0), "top must be a whole number from 1 up, not 0"),
        (lambda t: analysis.critical_path(t).returns(top=-1), "top must be"),
        (lambda t: analysis.duration_distribution(t, -1), "row must be a whole number from 0 to 2, not -1"),
        (lambda t: analysis.duration_distribution(t, 3), "row must be a whole number from 0 to 2, not 3"),
        (lambda t: analysis.same_on_ranks(t, -1), "row must be"),
        (lambda t: analysis.same_on_ranks(t, "x"), "row must be"),
        (lambda t: analysis.causes(t, -1), "row must be"),
        (lambda t: analysis.causes(t, 1.5), "row must be"),
        (lambda t: analysis.causes(t, 0, most=-1), "most must be a whole number from 0 up"),
        (lambda t: analysis.regions(t, "modules", depth=-1), "depth must be a whole number from 0 up, not -1"),
        (lambda t: analysis.regions(t, "bogus"), "kind must be one of steps, modules, between collectives"),
        (lambda t: analysis.slowest(t, "aten::mm", by="x", side="host"), "by must be one of name, category"),
        (lambda t: analysis.slowest(t, "aten::mm", by="name", side="x"), "side must be one of device, host"),
        (lambda t: analysis.slowest(t, "aten::mm", by="name", side="host", category="x"), "category must be one of"),
    ],
)
def test_an_argument_out_of_bounds_is_a_value_error_of_one_line(
    call: Callable[[Trace], Any], words: str, trace: Trace
) -> None:
    with pytest.raises(ValueError) as raised:
        call(trace)
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_row_of_a_trace_without_slices_is_told_so() -> None:
    with pytest.raises(ValueError, match="the trace has no slices"):
        analysis.causes(TraceBuilder().finish(), 0)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"name": "aten::mm", "factor": 1e308}, "factor=1e+308 makes the work longer than a century"),
        ({"name": "aten::mm", "less_ns": -(1 << 70)}, "makes the work longer than a century"),
        ({"name": "nope", "factor": 0.5}, "no slice is called 'nope'"),
        ({"name": "aten::mm", "factor": -1}, "factor is -1"),
    ],
)
def test_what_if_of_what_cannot_be_is_told_so(given: dict[str, Any], words: str, trace: Trace) -> None:
    with pytest.raises(NeuronProfileError) as raised:
        analysis.critical_path(trace).what_if(**given)
    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"flops_by_dtype": {"FP32": 1e12}}, "'FP32' is no type; take of fp64, fp32"),
        ({"flops_by_dtype": {"float32": 1e12}}, "'float32' is no type"),
        ({"flops_by_dtype": {"bogus": 1e12}}, "'bogus' is no type"),
        ({"flops_by_dtype": {"fp32": -1.0}}, "flops_by_dtype['fp32'] of 'mine' is -1.0: give a number above 0"),
        ({"flops_by_dtype": {"fp32": 0}}, "is 0: give a number above 0"),
        ({"flops_by_dtype": {"fp32": "1e12"}}, "is '1e12': give a number above 0"),
        ({"flops_by_dtype": {"fp32": math.nan}}, "is nan"),
        ({"memory_bytes_per_s": math.inf}, "memory_bytes_per_s of 'mine' is inf"),
        ({"memory_bytes_per_s": True}, "memory_bytes_per_s of 'mine' is True"),
        ({"link_bytes_per_s": -5}, "link_bytes_per_s of 'mine' is -5"),
        ({"flops_by_dtype": {"fp32": 10**400}}, "give a number above 0"),
    ],
)
def test_peaks_that_cannot_be_are_told_so(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError) as raised:
        DevicePeaks(name="mine", source="this test", **given)
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)
