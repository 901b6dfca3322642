"""Addresses inside the explorer that more than one page links to."""

from __future__ import annotations

from urllib.parse import urlencode

from trace_format import Trace

TIMELINE_PATH = "/timeline"


def timeline_href(start_ns: int, end_ns: int, *, slice_id: int | None = None) -> str:
    """The timeline showing [start_ns, end_ns), with a slice selected if one is given.

    A tenth of the length is added on both sides, so that what is looked at does not touch the edges.
    """
    margin_ns = max((end_ns - start_ns) // 10, 1)
    query = {"t0": start_ns - margin_ns, "t1": end_ns + margin_ns}
    if slice_id is not None:
        query["slice"] = slice_id
    return f"{TIMELINE_PATH}?{urlencode(query)}"


def slice_href(trace: Trace, row: int) -> str:
    """The timeline showing one slice, selected; "" for row -1 (none). A slice that did not finish shows its start."""
    if row < 0:
        return ""
    start_ns = int(trace.slices.ts_ns[row])
    return timeline_href(start_ns, start_ns + max(int(trace.slices.dur_ns[row]), 1), slice_id=row)
