"""The rows of the grid, and the slices behind them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from explorer_app.web.grid import position, work_rows
from explorer_app.web.numbers import once
from explorer_app.web.pages.hotspots.groupings import GROUPINGS
from explorer_app.web.view import View
from neuron_profile import analysis
from neuron_profile.analysis import slowest
from trace_format import Trace


class Row(NamedTuple):
    """What leads from a row of the grid to its slices; `self_ns` is None where none of them finished."""

    by: str
    name: str
    category: str
    side: str
    self_ns: int | None


def hotspot_rows(trace: Trace, by: str) -> list[dict[str, Any]]:
    """The rows of `analysis.hotspots` for the grid, with their side; an id is the grouping and the position.

    Of operations, Python frames come last where operators were recorded: they are where time passes, not what it is
    spent on (see `analysis.operations`).
    """
    frame = once(analysis.hotspots, trace, by=by)
    sides = [side_of(number, frame) for number in range(len(frame))]
    frame = frame.assign(id=[f"{by}:{number}" for number in range(len(frame))], side=sides)
    if by == "name" and (frame["category"] == "host_op").any():
        is_python = (frame["category"] == "python").to_numpy()
        frame = frame.iloc[np.argsort(is_python, kind="stable")]
    return work_rows(frame)


def side_of(number: int, frame: pd.DataFrame) -> str:
    """The side of the row at this position of `analysis.hotspots`."""
    return "device" if number < frame.attrs["device_rows"] else "host"


def row_named(trace: Trace, chosen: str) -> Row | None:
    """The row that an id names, None where it names none."""
    by, _, number_text = chosen.partition(":")
    if by not in GROUPINGS:
        return None
    frame = once(analysis.hotspots, trace, by=by)
    number = position(number_text, len(frame))
    if number < 0:
        return None
    found = frame.iloc[number]
    return Row(by, found["name"], found["category"], side_of(number, frame), known_self_ns(found))


def row_id_of(trace: Trace, by: str, *, name: str, side: str, category: str | None) -> str:
    """The id of the row for this name on this side, of this category if one is given; "" where there is none."""
    frame = once(analysis.hotspots, trace, by=by)
    on_device = np.arange(len(frame)) < frame.attrs["device_rows"]
    fits = (frame["name"] == name) & (on_device == (side == "device"))
    if category is not None:
        fits &= frame["category"] == category
    found = np.flatnonzero(fits)
    return f"{by}:{found[0]}" if len(found) else ""


def slowest_of(trace: Trace, row: Row) -> int:
    """The longest slice of a row, -1 where none finished."""
    category = row.category if row.by in ("name", "op") else None
    return once(slowest, trace, name=row.name, by=row.by, side=row.side, category=category)


def slowest_of_id(view: View, chosen: str) -> int:
    """The longest slice of the row that an id names, as a row of the whole trace; -1 for none."""
    row = row_named(view.trace, chosen)
    return -1 if row is None else view.slice_id(slowest_of(view.trace, row))


def known_self_ns(row: Any) -> int | None:
    """The self time of a row of `analysis.hotspots`, None where none of its slices finished."""
    return None if row["max_ns"] < 0 else int(row["self_ns"])
