"""What is being looked at, in words: the ranks and the time range of a trace."""

from __future__ import annotations

import numpy as np

from explorer_app import format as fmt
from trace_format import Trace


def ranks(trace: Trace) -> str:
    """ "rank 3 of 8", "8 ranks", or "" where the trace says nothing about ranks."""
    found = np.unique(trace.tracks.rank)
    found = found[found >= 0]
    world = trace.metadata.get("world_size")
    if len(found) > 1:
        return f"{len(found)} ranks"
    rank = int(found[0]) if len(found) else trace.metadata.get("rank")
    if rank is None:
        return ""
    return f"rank {rank} of {world}" if isinstance(world, int) and world > 1 else f"rank {rank}"


def device(rank: int, name: str) -> str:
    """A device of a rank: "rank 3 cuda:0", "cpu" where ranks are not known."""
    shown = name or "an unnamed device"
    return shown if rank < 0 else f"rank {rank} {shown}"


def duration_ns(trace: Trace) -> int:
    """From the first start to the last end; -1 (unknown) for a trace in which nothing has a time."""
    span = trace.time_range_ns
    return -1 if span is None else span[1] - span[0]


def whole_range(trace: Trace) -> str:
    """The length of the whole trace for the chip: "whole trace, 1.84 s"."""
    known = duration_ns(trace)
    return "no events" if known < 0 else f"whole trace, {fmt.duration(known)}"


def is_simulated(trace: Trace) -> bool:
    """Whether anything in the trace was worked out by a model of a device instead of being measured."""
    return bool(trace.metadata.get("simulated")) or bool(trace.tracks.simulated.any())
