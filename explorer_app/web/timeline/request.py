"""The arguments of a request for a part of the timeline, checked."""

from __future__ import annotations

import re
from collections.abc import Mapping

from explorer_app.lod import Window
from explorer_app.web.timeline.colors import COLORINGS
from explorer_app.web.timeline.data import TimelineData
from explorer_app.web.timeline.preparation import STAGES
from explorer_app.web.timeline.sketch import Sketch
from neuron_profile.analysis import REGIONS
from trace_format import NeuronProfileError

WIDEST_PX = 8192
MOST_LANES = 4096
MOST_NAMES = 1000
LONGEST_QUERY = 1000
# Seventy years each way. Twice that is still a 64-bit number of nanoseconds.
FARTHEST_NS = 1 << 61

_INTEGER = re.compile(r"-?\d{1,19}", re.ASCII)
_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?", re.ASCII)


class BadRequestError(NeuronProfileError):
    """An argument of a request is missing or cannot be meant."""


def integer(args: Mapping[str, str], name: str, low: int, high: int) -> int:
    """An integer argument in [low, high]. Raises BadRequestError for anything else."""
    text = args.get(name, "")
    if not _INTEGER.fullmatch(text):
        raise BadRequestError(f"{name} must be an integer")
    value = int(text)
    if not low <= value <= high:
        raise BadRequestError(f"{name} must lie between {low} and {high}")
    return value


def span(args: Mapping[str, str], data: TimelineData | Sketch) -> tuple[int, int]:
    """The range `t0`, `t1` (ns from the start of the trace) on the trace's clock. Raises BadRequestError."""
    start, end = (integer(args, name, -FARTHEST_NS, FARTHEST_NS) for name in ("t0", "t1"))
    if start >= end:
        raise BadRequestError("t1 must be later than t0")
    start, end = data.start_ns + start, data.start_ns + end
    if max(abs(start), abs(end)) > 2 * FARTHEST_NS:
        raise BadRequestError("the window lies outside all time that 64-bit nanoseconds can tell")
    return start, end


def window(args: Mapping[str, str], data: TimelineData | Sketch) -> Window:
    """The window `t0`, `t1` (see `span`) and `w` (pixels). Raises BadRequestError."""
    return Window(*span(args, data), integer(args, "w", 1, WIDEST_PX))


def numbers(args: Mapping[str, str], name: str, below: int, *, most: int = MOST_LANES) -> list[int]:
    """Numbers given as "3,7-9", each less than `below`, at most `most` of them. Raises BadRequestError."""
    out: list[int] = []
    for part in args.get(name, "").split(","):
        given = _RANGE.fullmatch(part)
        if given is None:
            raise BadRequestError(f'{name} must be numbers and ranges, like "3,7-9"')
        first, last = int(given[1]), int(given[2] or given[1])
        if first > last or last >= below:
            raise BadRequestError(f"{name} names something that is not there: there are {below}")
        if len(out) + last - first + 1 > most:
            raise BadRequestError(f"{name} names more than {most}")
        out.extend(range(first, last + 1))
    return out


def stage(args: Mapping[str, str], *, otherwise: str) -> str:
    """The `stage` of the trace, one of `preparation.STAGES`. Raises BadRequestError for anything else."""
    name = args.get("stage", otherwise)
    if name not in STAGES:
        raise BadRequestError(f"stage must be one of {', '.join(STAGES)}")
    return name


def query(args: Mapping[str, str], name: str) -> str:
    """What is looked for. Raises BadRequestError where it is missing or too long."""
    text = args.get(name, "").strip()
    if not text or len(text) > LONGEST_QUERY:
        raise BadRequestError(f"{name} must have 1 to {LONGEST_QUERY} characters")
    return text


def coloring(args: Mapping[str, str], name: str) -> str:
    """By what slices are coloured, one of COLORINGS. Raises BadRequestError for anything else."""
    by = args.get(name, "")
    if by not in COLORINGS:
        raise BadRequestError(f"{name} must be one of {', '.join(COLORINGS)}")
    return by


def region(args: Mapping[str, str]) -> str:
    """The `kind` of marked regions, one of REGIONS. Raises BadRequestError for anything else."""
    kind = args.get("kind", "")
    if kind not in REGIONS:
        raise BadRequestError(f"kind must be one of {', '.join(REGIONS)}")
    return kind
