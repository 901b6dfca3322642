"""Trace events (Chrome's format, torch.profiler's) become a trace: shared by the JSON importer and live collectors."""

from __future__ import annotations

from trace_format.trace_events.assembler import TraceEventAssembler
from trace_format.trace_events.batch import NO_DURATION, NO_TIME, OUT_OF_RANGE, Arrow, EventBatch

__all__ = ["NO_DURATION", "NO_TIME", "OUT_OF_RANGE", "Arrow", "EventBatch", "TraceEventAssembler"]
