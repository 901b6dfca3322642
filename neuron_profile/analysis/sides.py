"""Which tracks show work of the device, which work of the host."""

from __future__ import annotations

import numpy as np

from neuron_profile.analysis.derived import kept_with_the_trace
from trace_format import CATEGORIES, TRACK_KINDS, Trace
from trace_format.tables import Tracks

Array = np.ndarray

SIDES = ("device", "host")
DEVICE, HOST, NEITHER = 0, 1, 2
ANNOTATION = CATEGORIES.index("annotation")
_SEMAPHORE = CATEGORIES.index("semaphore")

_SIDE_OF_KIND = {
    "stream": DEVICE, "engine": DEVICE, "dma_queue": DEVICE, "collective": DEVICE,
    "host_thread": HOST, "runtime": HOST, "compile": HOST,
}  # fmt: skip
# The profiler's own spans are on such tracks, and what a device waits for; yet a foreign trace may have no others.
_UNCLEAR_KINDS = ("other", "async")


def side_of_tracks(tracks: Tracks) -> Array:
    """The side of each track: DEVICE, HOST or NEITHER, shape `(n,) int8`. Empty for no tracks.

    NEITHER are markers of what the device waits for or is slowed by, ranges that others named, simulated tracks (what
    was measured is never mixed with an estimate), and tracks of no clear kind; these are HOST where all others are
    without work too.
    """
    side_of_kind = np.array([_SIDE_OF_KIND.get(kind, NEITHER) for kind in TRACK_KINDS], np.int8)
    side = side_of_kind[tracks.kind]
    side[tracks.simulated] = NEITHER
    if not (side != NEITHER).any():
        unclear = np.isin(tracks.kind, [TRACK_KINDS.index(kind) for kind in _UNCLEAR_KINDS])
        side[unclear & ~tracks.simulated] = HOST
    return side


@kept_with_the_trace
def side_of_slices(trace: Trace) -> Array:
    """The side of each slice, shape `(n,) int8`: that of its track, NEITHER for what an engine waits for."""
    side: Array = side_of_tracks(trace.tracks)[trace.slices.track]
    side[trace.slices.category == _SEMAPHORE] = NEITHER
    return side
