"""Which threads do nothing but wait, so that the timeline need not give them room."""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from explorer_app.web.timeline.data import TimelineData
from neuron_profile.analysis.intervals import union_length
from trace_format import TRACK_KINDS

_HOST_THREAD: Final = TRACK_KINDS.index("host_thread")
# A thread that waits was seen in few calls; one with more does something.
_MOST_SLICES: Final = 4096
_LEAST_WAITING: Final = 0.95
# How Python and the C library call waiting: lock.acquire, Condition.wait, queue.get, select, epoll, time.sleep, accept.
_WAITS: Final = re.compile(
    r"<built-in method (?:acquire|sleep|select|poll|accept|recv\w*)\b.*"
    r"|<method '(?:acquire|poll|recv\w*|accept|get)' of .*"
    r"|(?:.*[/\\])?(?:threading|queue|selectors|socket|multiprocessing[/\\]\w+)\.py\(\d+\): "
    r"(?:wait|get|select|accept|recv\w*|_recv\w*|poll|join|_wait_for_tstate_lock)"
    r"|\w*(?:epoll_wait|futex|nanosleep|pthread_cond_\w*wait)\w*",
    re.DOTALL,
)


def is_idle_thread(data: TimelineData, track: int) -> bool:
    """Whether a thread of the host with calls in calls is in calls that wait for nearly all of its time."""
    lanes, slices = data.lanes, data.trace.slices
    first, depths = int(lanes.first_lane[track]), int(lanes.depths[track])
    low, high = int(lanes.offset[first]), int(lanes.offset[first + depths])
    if data.trace.tracks.kind[track] != _HOST_THREAD or depths < 2 or high - low > _MOST_SLICES:
        return False
    rows = np.asarray(lanes.row[low:high], np.int64)
    start, name = slices.ts_ns[rows], slices.name[rows]
    dur_ns = slices.dur_ns[rows]
    end = np.where(dur_ns < 0, lanes.end_ns, start + np.maximum(dur_ns, 0))
    waits = np.array([bool(_WAITS.fullmatch(data.trace.pool.strings[one])) for one in np.unique(name).tolist()], bool)
    waiting = waits[np.searchsorted(np.unique(name), name)]
    whole = union_length(start, end)
    return bool(waiting.any()) and union_length(start[waiting], end[waiting]) >= _LEAST_WAITING * whole
