"""The details panel shows what the trace has, in the trace's own words."""

from __future__ import annotations

from typing import Any

from one_step import one_step, row_of

from explorer_app.web.numbers import once
from explorer_app.web.timeline.data import TimelineData
from explorer_app.web.timeline.details import slice_details
from explorer_app.web.timeline.details_panel import details_panel
from explorer_app.web.view import whole_view
from trace_format import CATEGORIES, Trace, TraceBuilder


def shown_facts(trace: Trace, row: int, *, merged: int = 1) -> dict[str, str]:
    """Name -> value of all name-value lists of a panel."""
    parts: list[Any] = details_panel(whole_view(trace), slice_details(once(TimelineData, trace), row), merged=merged)
    out = {}
    for part in parts:
        if getattr(part, "className", "") == "np-facts":
            texts = [getattr(cell.children, "children", cell.children) for cell in part.children]
            out.update(zip(texts[0::2], texts[1::2], strict=True))
    return out


def test_arguments_keep_the_names_and_the_notation_of_the_source() -> None:
    builder = TraceBuilder()
    args = builder.pool.arg_sets.id(b'{"my_key":["long",true,null],"in_bytes":4096,"none":null}')
    builder["slices"].append(1, track=builder.track("t", kind="host_thread"), ts_ns=0, dur_ns=1, args=args)
    facts = shown_facts(builder.finish(), 0)
    assert facts["my_key"] == '["long", true, null]'
    assert facts["in_bytes"] == "4.10 kB"
    assert facts["none"] == "–"


def test_a_kernel_shows_its_work_of_the_peak_and_leads_to_its_operator_and_to_memory() -> None:
    builder = TraceBuilder()
    builder.metadata["device_model"] = "NVIDIA A100-SXM4-80GB"
    host, gpu = builder.track("t", kind="host_thread"), builder.track("stream 7", kind="stream", device=0)
    dims = b'{"Input Dims":[[1024,1024],[1024,1024]],"Input type":["c10::BFloat16","c10::BFloat16"]}'
    op = builder["slices"].append(
        1, track=host, ts_ns=0, dur_ns=100, name=builder.string("aten::mm"), category=CATEGORIES.index("host_op"),
        args=builder.pool.arg_sets.id(dims),
    )  # fmt: skip
    builder["slices"].append(1, track=host, ts_ns=10, dur_ns=10, category=CATEGORIES.index("runtime"), correlation=3)
    kernel = builder["slices"].append(
        1, track=gpu, ts_ns=50, dur_ns=10_000, name=builder.string("gemm"), category=CATEGORIES.index("compute"),
        correlation=3,
    )  # fmt: skip
    trace = builder.finish()
    rows = {int(trace.slices.dur_ns[row]): row for row in range(3)}
    assert len({op, kernel}) == 2
    facts = shown_facts(trace, rows[10_000])
    # 2 x 1024^3 FLOPs and 3 x 2 MiB in 10 us
    assert facts["Operations"].startswith("2.15 GFLOP est.")
    assert facts["Bytes"] == "6.29 MB est."
    assert facts["Bandwidth"] == "629 GB/s est."
    assert facts["Bandwidth of peak"] == "30.9 % of 2.04 TB/s (NVIDIA A100 datasheet)"
    assert facts["Rate of peak"] == "68.8 % of 312 TFLOP/s bf16 (NVIDIA A100 datasheet)"
    details = slice_details(once(TimelineData, trace), rows[10_000])
    shown = str(details_panel(whole_view(trace), details, merged=1))
    assert "launched by " in shown
    assert "More on Memory" in shown


def test_every_known_id_is_shown_and_unknown_ones_are_not() -> None:
    trace = one_step()
    facts = shown_facts(trace, row_of(trace, "gemm"))
    assert facts["correlation"] == "42"
    assert "external id" not in facts
    assert facts["start ns"] == "1700000000003000000"


def test_halves_of_broken_characters_can_travel_in_json() -> None:
    builder = TraceBuilder()
    name = builder.string("half \ud800")
    builder["slices"].append(1, track=builder.track("t\udfff", kind="host_thread"), ts_ns=0, dur_ns=1, name=name)
    trace = builder.finish()
    panel = details_panel(whole_view(trace), slice_details(once(TimelineData, trace), 0), merged=1)
    str(panel).encode()
    assert panel[0].children == "half \\ud800"


def test_a_collective_shows_its_sizes_for_people() -> None:
    builder = TraceBuilder()
    row = builder["slices"].append(1, track=builder.track("t", kind="stream"), ts_ns=0, dur_ns=1)
    builder["collectives"].append(1, slice=row, op=builder.string("all_reduce"), in_bytes=1_000_000, rank=3)
    facts = shown_facts(builder.finish(), 0)
    assert (facts["op"], facts["in bytes"], facts["rank"]) == ("all_reduce", "1.00 MB", "3")
    assert "out bytes" not in facts


def test_a_compile_shows_what_it_spent_its_time_on_the_longest_first() -> None:
    builder = TraceBuilder()
    row = builder["slices"].append(1, track=builder.track("t", kind="compile"), ts_ns=0, dur_ns=1)
    phases = builder.pool.arg_sets.id(b'{"trace":2500000,"restart":0,"backend":4000000000}')
    builder["compiles"].append(1, slice=row, what=builder.string("f 0/0"), phases=phases)
    facts = shown_facts(builder.finish(), 0)
    assert facts["what"] == "f 0/0"
    assert [(name, facts[name]) for name in facts if name in ("trace", "restart", "backend", "phases")] == [
        ("backend", "4.00 s"),
        ("trace", "2.50 ms"),
    ]
