"""What empty places say, by what recorded the trace."""

from __future__ import annotations

from typing import Any

from test_pages import text_of

from explorer_app.web.pages.memory import PAGE as MEMORY
from explorer_app.web.recording_advice import advice
from explorer_app.web.view import whole_view
from trace_format import CATEGORIES, Trace, TraceBuilder


def recorded_by(**source: Any) -> Trace:
    builder = TraceBuilder()
    track = builder.track("main", kind="host_thread", pid=1)
    builder["slices"].append(
        1, track=track, name=builder.string("f"), category=CATEGORIES.index("python"), ts_ns=0, dur_ns=10
    )
    return builder.finish(metadata={"sources": [source]})


def test_torch_is_told_what_to_switch_on() -> None:
    trace = recorded_by(format="trace-event-json", producer="torch.profiler (Kineto)")
    assert "profile_memory=True" in advice(trace, "allocations")
    assert "with_stack=True" in advice(trace, "source lines")


def test_a_profile_of_a_device_is_not_told_of_torchs_switches() -> None:
    trace = recorded_by(format="ntff")
    assert "profile_memory" not in advice(trace, "allocations")
    assert "one process" not in advice(trace, "ranks")


def test_another_programs_trace_has_one_message_on_memory() -> None:
    said = text_of(MEMORY.layout(whole_view(recorded_by(format="trace-event-json", producer="viztracer"))))
    assert said.count("viztracer records neither allocations nor bytes") == 1
    assert "record_shapes" not in said
