"""Trace-event JSON (torch.profiler, Chrome, Perfetto's legacy format, viztracer): streaming import."""

from __future__ import annotations

from trace_format.importers.trace_event_json.importer import read_trace_events

__all__ = ["read_trace_events"]
