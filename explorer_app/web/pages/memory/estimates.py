"""How the Memory page says that bytes are estimated."""

from __future__ import annotations

from typing import Any, Final

from dash import html

from explorer_app import format as fmt
from explorer_app.web.message import banner
from explorer_app.web.numbers import once
from neuron_profile import analysis
from trace_format import Trace

NO_BYTES: Final = "No operation here tells its bytes. Record with record_shapes=True to estimate them."
WHY_ESTIMATED: Final = (
    "est.: worked out from the shapes of an operation's inputs and outputs, each read or written once; "
    "the trace has no record of the bytes it moved"
)


def est(estimated_ratio: float) -> str:
    """ " est." to be added to a number of which a part is estimated; "" where none or nothing is known of it."""
    return " est." if estimated_ratio > 0 else ""


def estimate_note(trace: Trace) -> list[Any]:
    """A banner on how much of the bytes is estimated; [] where nothing is."""
    moved = once(analysis.bytes_moved, trace)
    whole, estimated = int(moved["bytes"].sum()), moved.attrs["estimated_bytes"]
    if not estimated:
        return []
    words = (
        f"{fmt.ratio(estimated / whole)} of the bytes moved are estimated from the shapes of inputs and outputs, each "
        "read or written once, because the trace has no record of them. Caches make the true number smaller, "
        "repeated reads make it larger."
    )
    unplaced = moved.attrs["unplaced_bytes"]
    if unplaced:
        words += f" Another {fmt.size(unplaced)} belong to work that was launched but not recorded; no chart has them."
    return [banner(html.B("est. "), words)]
