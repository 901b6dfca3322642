"""The areas of the tree as plotly draws them: an icicle or a treemap of the calls."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pandas as pd

from explorer_app import format as fmt
from explorer_app.web.chart import plain
from explorer_app.web.names import NO_NAME, label
from explorer_app.web.pages.hotspots.shape import SIZES, Shape
from explorer_app.web.table import category_name
from explorer_app.web.theme import category_color
from neuron_profile.analysis import OTHER_CALLS
from neuron_profile.analysis.operations.attribution import NO_LAUNCH

TIMES: Final = {"device": ("device_total_ns", "device_self_ns"), "host": ("total_ns", "self_ns")}
# Levels at once (a double click goes further down), and the characters that fit one of them at 12 px.
_LEVELS: Final = {"icicle": 6, "treemap": 4}
_LEVELS_BESIDE: Final = 4
_LONGEST_NAME: Final = 26
_KEPT_END: Final = 12
_PATH_PX: Final = 22
_ROOT: Final = "all"
_TEXT: Final = {"color": "var(--np-on-cat)", "size": 12}


def figure_of(frame: pd.DataFrame, shape: Shape, kind: str) -> dict[str, Any]:
    """The figure of the nodes of `analysis.call_tree`; an area's id is its row, and around all is that of the whole.

    `kind`: icicle or treemap. Areas are sized by `shape.size`.
    """
    total, _ = TIMES[shape.size]
    whole_ns = frame.attrs[f"{shape.size}_ns"]
    rows, parents = _shown(frame, shape)
    totals, records = frame[total].tolist(), frame.to_dict("records")
    shares = {row: totals[row] / whole_ns for row in rows}
    of_parent = {row: totals[row] / (totals[parents[row]] if parents[row] >= 0 else whole_ns) for row in rows}
    curve: dict[str, Any] = {
        "type": kind, "branchvalues": "total", "maxdepth": _LEVELS_BESIDE if shape.show == "grid" else _LEVELS[kind],
        "ids": [_ROOT, *map(str, rows)],
        "parents": ["", *(_ROOT if parents[row] < 0 else str(parents[row]) for row in rows)],
        "values": [whole_ns, *(totals[row] for row in rows)],
        "labels": [SIZES[shape.size], *(plain(_short(_called(records[row]))) for row in rows)],
        "text": [fmt.duration(whole_ns), *(f"{fmt.duration(totals[row])}, {fmt.ratio(shares[row])}" for row in rows)],
        "customdata": [
            f"<b>{SIZES[shape.size]}</b><br>{fmt.duration(whole_ns)} ({fmt.exact(whole_ns, 'ns')})",
            *(_tooltip(records[row], of_parent[row], shares[row], shape) for row in rows),
        ],
        "hovertemplate": "%{customdata}<extra></extra>", "textinfo": "label+text", "textfont": _TEXT,
        "pathbar": {"thickness": _PATH_PX, "textfont": _TEXT}, "root": {"color": category_color("other")},
        **_look(kind, [category_color("other"), *(category_color(records[row]["category"]) for row in rows)]),
    }  # fmt: skip
    margin = {"l": 0, "r": 0, "t": _PATH_PX, "b": 0}  # the path to where a reader has gone is drawn above the areas
    return {"data": [curve], "layout": {"margin": margin, "uniformtext": {"minsize": 10, "mode": "hide"}}}


def _shown(frame: pd.DataFrame, shape: Shape) -> tuple[list[int], list[int]]:
    """The rows that have an area, and the parent of each row."""
    parents = frame["parent"].to_numpy()
    total, _ = TIMES[shape.size]
    shown = frame[total].to_numpy() > 0
    if shape.size == "device" and frame.attrs["unattributed_ns"] == frame.attrs["device_ns"]:
        # of a profile of the device alone: that no launch is known says the line below, and is no level of calls
        shown = shown & ((frame["name"] != NO_LAUNCH).to_numpy() | (parents >= 0))
        parents = np.full(len(frame), -1)
    return np.flatnonzero(shown).tolist(), parents.tolist()


def _look(kind: str, colors: list[str]) -> dict[str, Any]:
    marker = {"colors": colors, "line": {"width": 1, "color": "var(--np-panel)"}}
    if kind == "icicle":
        return {"marker": marker, "tiling": {"orientation": "h", "pad": 0}, "leaf": {"opacity": 1}}
    padding = {"t": 20, "l": 2, "r": 2, "b": 2}
    return {"marker": {**marker, "depthfade": False, "pad": padding}, "tiling": {"pad": 1}}


def _called(node: Any) -> str:
    return f"{fmt.count(node['folded'])} smaller {OTHER_CALLS}" if node["folded"] else str(node["name"])


def _short(name: str) -> str:
    """A name that fits an area: its beginning and its end, for either may say most."""
    shown = label(name.strip()) or NO_NAME
    if len(shown) <= _LONGEST_NAME:
        return shown
    return f"{shown[: _LONGEST_NAME - _KEPT_END - 1]}…{shown[-_KEPT_END:]}"


def _tooltip(node: Any, of_parent: float, share: float, shape: Shape) -> str:
    total, own = TIMES[shape.size]
    what = "device" if node["side"] == "device" else "host"
    kind = "module" if shape.tree == "module" and node["category"] == "python" else category_name(node["category"])
    lines = [
        f"<b>{plain(_called(node))}</b>",
        f"{kind} on the {what}, {fmt.counted(node['count'], 'call')}",
        f"{fmt.ratio(of_parent)} of what called it, {fmt.ratio(share)} of the whole",
        f"total {fmt.duration(node[total])} ({fmt.exact(node[total], 'ns')}), self {fmt.duration(node[own])}",
    ]
    if node["side"] == "host":
        other = "device" if shape.size == "host" else "host"
        lines.append(f"{other}: {fmt.duration(node[TIMES[other][0]])}")
    return "<br>".join(lines)
