"""What is being looked at, in words: the ranks and the time range of a trace."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import numpy as np

from explorer_app import format as fmt
from explorer_app.web.names import label
from trace_format import Trace

_LONGEST_DEVICE: Final = 60


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
    """A device of a rank: "rank 3 cuda:0", "cpu" where ranks are not known; "" where neither is."""
    of_rank = f"rank {rank}" if rank >= 0 else ""
    return f"{of_rank} {label(name, longest=_LONGEST_DEVICE)}".strip()


def on_device(rank: int, name: str) -> str:
    """ " on rank 3 cuda:0", to be added to what is there; "" for a device of which nothing is known."""
    known = device(rank, name)
    return f" on {known}" if known else ""


def since_the_start(relative: Collection[str], rank: int, name: str) -> str:
    """ ", since the start of the trace" for a device whose totals are so (`memory_timeline`, `attrs["relative"]`)."""
    key = name if rank < 0 else f"rank {rank} {name}"
    return ", since the start of the trace" if key in relative else ""


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
