"""Addresses inside the explorer; each keeps what is being looked at."""

from __future__ import annotations

from urllib.parse import urlencode

from explorer_app.web.view import View

TIMELINE_PATH = "/timeline"
SOURCE_PATH = "/source"  # ?file=…&line=… shows a line


def page_href(view: View, path: str, **query: str | int) -> str:
    """A page, showing what this view shows."""
    asked = urlencode({**view.query(), **query})
    return f"{path}?{asked}" if asked else path


def timeline_href(view: View, start_ns: int, end_ns: int, *, slice_id: int | None = None) -> str:
    """The timeline showing [start_ns, end_ns), with a slice of the whole trace selected if one is given.

    A tenth of the length is added on both sides, so that what is looked at does not touch the edges.
    """
    margin_ns = max((end_ns - start_ns) // 10, 1)
    query = {"t0": start_ns - margin_ns, "t1": end_ns + margin_ns}
    if slice_id is not None:
        query["slice"] = slice_id
    return page_href(view, TIMELINE_PATH, **query)


def slice_href(view: View, row: int) -> str:
    """The timeline showing one slice of `view.trace`, selected; "" for row -1 (none).

    A slice that did not finish shows its start.
    """
    return whole_slice_href(view, view.slice_id(row))


def whole_slice_href(view: View, row: int) -> str:
    """As `slice_href`, for a slice of the whole trace."""
    if row < 0:
        return ""
    slices = view.whole.slices
    start_ns = int(slices.ts_ns[row])
    return timeline_href(view, start_ns, start_ns + max(int(slices.dur_ns[row]), 1), slice_id=row)
