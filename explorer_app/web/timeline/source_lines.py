"""Which lines of a program a slice comes from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from explorer_app.web.timeline.data import TimelineData
from explorer_app.web.timeline.mention import mention
from neuron_profile.analysis.launches.launching import launching_slice
from neuron_profile.analysis.sides import DEVICE, HOST, side_of_tracks
from trace_format import CATEGORIES, Trace

MOST_FRAMES: Final = 500
_PYTHON: Final = CATEGORIES.index("python")
_LINE: Final = re.compile(r"(?P<file>.+)\((?P<line>\d{1,9})\)(?:: .*)?", re.DOTALL)
OWN, CALLS, AROUND, LAUNCH, LAUNCH_CALLS = "own", "calls", "around", "launch", "launch calls"


def file_and_line(frame: str) -> tuple[str, int] | None:
    """The file and the line of a frame as torch writes it, "model.py(7): forward"; None for any other text."""
    found = _LINE.fullmatch(frame)
    return (found["file"], int(found["line"])) if found and found["file"].strip() else None


def source_lines(data: TimelineData, row: int) -> dict[str, Any]:
    """The frames behind a slice, innermost last, ready for JSON: `{frames, how, of, why}`.

    Those that were recorded with it (`how` is "own"), else those of the nearest slice around it that has some
    ("around"), else the Python calls around it ("calls"); for work of a device without any the same of the slice that
    launched it ("launch", "launch calls"). `of` is the slice whose frames they are, where that is another. Where there
    are none, `why` says so.
    """
    trace = data.trace
    found = _frames_of(trace, row)
    if found is not None:
        frames, at = found
        how = CALLS if at < 0 else OWN if at == row else AROUND
        return _told(frames, how, mention(data, at) if at not in (row, -1) else None)
    cause = int(launching_slice(trace)[row])
    if cause >= 0:
        found = _frames_of(trace, cause)
        if found is not None:
            frames, at = found
            return _told(frames, LAUNCH if at >= 0 else LAUNCH_CALLS, mention(data, at if at >= 0 else cause))
    return _told([], "", None, _why(trace, row, cause))


def _told(frames: list[str], how: str, of: dict[str, Any] | None, why: str = "") -> dict[str, Any]:
    return {"frames": frames[-MOST_FRAMES:], "how": how, "of": of, "why": why}


def _frames_of(trace: Trace, row: int) -> tuple[list[str], int] | None:
    """The frames of the nearest recorded stack around a slice and whose it is, else the Python calls and -1."""
    slices, calls = trace.slices, []
    for at in _outwards(trace, row):
        if slices.stack[at] > 0:
            return list(trace.pool.frames(int(slices.stack[at]))), at
        if slices.category[at] == _PYTHON:
            calls.append(trace.pool.strings[int(slices.name[at])])
    calls.reverse()
    return (calls, -1) if any(file_and_line(call) for call in calls) else None


def _outwards(trace: Trace, row: int) -> Iterator[int]:
    """The slice and those around it."""
    while row >= 0:
        yield row
        row = int(trace.slices.parent[row])


def _why(trace: Trace, row: int, cause: int) -> str:
    slices, sides = trace.slices, side_of_tracks(trace.tracks)
    if not (sides[slices.track] == HOST).any():
        return "This trace has no work of a host, so that no line of code is known."
    if not (slices.stack > 0).any() and not (slices.category == _PYTHON).any():
        return "No stacks were recorded: profile with with_stack=True to see the line of code behind each slice."
    if cause >= 0:
        return "Neither this slice nor what launched it was recorded with a stack."
    if sides[slices.track[row]] == DEVICE:
        return "What launched this slice was not recorded, so that no line of code is known."
    return "This slice was recorded without a stack; others of this trace have one."
