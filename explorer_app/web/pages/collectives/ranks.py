"""The cards that say which rank: how late each came to each collective, and how long each waited."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pandas as pd
from dash import html

from explorer_app import format as fmt
from explorer_app.web.card import card
from explorer_app.web.chart import chart, plain
from explorer_app.web.grid import copy_button, grid, grid_height_px, number_column, rows_of, share_column
from explorer_app.web.links import slice_href
from explorer_app.web.message import empty
from explorer_app.web.numbers import once
from explorer_app.web.pages.collectives.kinds import kind_text
from explorer_app.web.view import View
from neuron_profile import analysis
from trace_format import Trace

GRID: Final = "np-collective-ranks"
_MOST_CELLS: Final = 8000
_MOST_COLUMNS: Final = 400
_STRONGEST: Final = 0.98  # of the cells are no stronger than the strongest colour: one late start would hide the rest
_EACH_TICK: Final = 20  # so few collectives have a tick each
_HEIGHT_PX: Final = 300
# The strength of the colour, in percent, by lateness: its root, so that a little lateness shows beside a lot.
_STRENGTHS: Final = ((0, 6), (0.01, 15), (0.1, 36), (0.4, 65), (1, 100))
_ONE_RANK: Final = (
    "This takes collectives of which the trace holds every rank. Open the traces of all ranks as one job: "
    "neuron-explorer FOLDER, or all their paths."
)


def heat_card(view: View) -> Any:
    """How late each rank came to each collective, in order of time; the later, the stronger."""
    spans = once(analysis.collective_spans, view.trace)
    told = spans[spans["late_ns"] >= 0]
    title = "Who came late"
    if told.empty or told["rank"].nunique() < 2:
        return card(title, empty("Arrivals are not known", _ONE_RANK))
    ranks, row = np.unique(told["rank"], return_inverse=True)
    order = told["collective"].drop_duplicates()  # in order of time, as the spans are
    column = pd.Index(order).get_indexer(told["collective"])
    merged = -(-len(order) // min(_MOST_COLUMNS, max(1, _MOST_CELLS // len(ranks))))
    cells = _latest(told, row, column // merged, (len(ranks), (len(order) - 1) // merged + 1))
    late = told["late_ns"].to_numpy()
    strongest = _strongest_ns(told)
    shown = _shown(view, told, np.unique(cells[cells >= 0]))
    strip = {
        "type": "heatmap", "x0": (merged - 1) / 2 + 1, "dx": merged, "y": [f"rank {rank}" for rank in ranks.tolist()],
        "z": [[int(late[at]) if at >= 0 else None for at in line] for line in cells.tolist()],
        "text": [[shown[at][0] if at >= 0 else "" for at in line] for line in cells.tolist()],
        "customdata": [[shown[at][1] if at >= 0 else "" for at in line] for line in cells.tolist()],
        "zmin": 0, "zmax": strongest, "showscale": False, "xgap": 1 if cells.shape[1] < 100 else 0, "ygap": 1,
        "colorscale": [[at, f"var(--np-cat-collective) {percent}%"] for at, percent in _STRENGTHS],
        "hovertemplate": "%{text}<extra></extra>",
    }  # fmt: skip
    layout = {
        "xaxis": {
            "title": {"text": "collective, in order of time"},
            "tickformat": "d",
            "showgrid": False,
            **({"dtick": 1} if len(order) <= _EACH_TICK else {}),
        },
        "yaxis": {"type": "category", "autorange": "reversed", "showgrid": False, "fixedrange": True},
    }
    note = f"full colour: {fmt.duration(strongest)} or more after the first rank"
    note += f"; a mark is the latest of {merged}" if merged > 1 else ""
    height_px = min(max(16 * len(ranks) + 60, 180), 700)
    drawn = chart("collectives-ranks", {"data": [strip], "layout": layout}, height_px=height_px, window_ratio=0.2,
                  label=f"How long after the first each rank came to each collective; {note}")  # fmt: skip
    return card(title, drawn, note=note)


def ranks_card(trace: Trace) -> Any:
    """A row for each rank: how long it was in collectives, waited there, and was waited for; None for one rank."""
    overlap = once(analysis.collective_overlap, trace)
    skew = once(analysis.collective_skew, trace).ranks
    inside = overlap.groupby("rank", sort=True)[["collective_ns", "exposed_ns"]].sum().reset_index()
    frame = inside.merge(skew, on="rank", how="outer").sort_values("rank", ignore_index=True)
    frame["overlap_ratio"] = 1 - frame["exposed_ns"] / frame["collective_ns"]
    frame["category"] = "collective"
    if len(frame) < 2:
        return None
    columns = [
        number_column("rank", "Rank", "count", width=88, sort="asc"),
        number_column("collective_ns", "In collectives", "duration", "ns", flex=1, minWidth=104),
        number_column("exposed_ns", "Exposed", "duration", "ns", flex=1, minWidth=92,
                      about="In collectives while the device computed nothing"),
        share_column("overlap_ratio", "Under compute", width=164),
        number_column("wait_ns", "Waited", "duration", "ns", flex=1, minWidth=92,
                      about="For the last rank, once all ranks were recorded"),
        number_column("caused_wait_ns", "Waited for", "duration", "ns", flex=1, minWidth=96,
                      about="What the others waited in collectives that this rank came to last, each their mean"),
        number_column("times_last", "Came last", "count", width=92),
        number_column("clock_residual_ns", "Clock", "duration", "ns", width=84,
                      about="How far its clock is from the others' after they are aligned"),
    ]  # fmt: skip
    body = html.Div(
        grid(GRID, columns, rows=rows_of(frame), empty="No rank was in a collective.", label="Ranks in collectives"),
        style={"height": f"min({grid_height_px(len(frame))}px, {_HEIGHT_PX}px)"},
    )
    return card("Ranks", body, note=copy_button(GRID), flush=True)


def _strongest_ns(told: pd.DataFrame) -> float:
    """The lateness of the strongest colour: no less than what is usual for the rank that is latest."""
    late = told["late_ns"].to_numpy()
    if not (late > 0).any():
        return 1.0
    return float(max(np.quantile(late[late > 0], _STRONGEST), told.groupby("rank")["late_ns"].median().max()))


def _latest(told: pd.DataFrame, row: np.ndarray, column: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """The position in `told` of the latest arrival in each cell, -1 for a cell without one."""
    out = np.full(shape, -1, np.int64)
    order = np.argsort(told["late_ns"].to_numpy(), kind="stable")
    out[row[order], column[order]] = order  # of several the last stands, which is the latest
    return out


def _shown(view: View, told: pd.DataFrame, cells: np.ndarray) -> dict[int, tuple[str, str]]:
    """By position in `told`, of those in cells: its tooltip and its address."""
    rows = told.iloc[cells]
    kinds = {key: plain(kind_text(*key)) for key in set(zip(rows["op"], rows["message_bytes"], strict=True))}
    return {
        at: (f"rank {rank}: {fmt.duration(late)} after the first<br>{kinds[op, size]}", slice_href(view, row))
        for at, rank, late, op, size, row in zip(
            cells.tolist(), rows["rank"].tolist(), rows["late_ns"].tolist(), rows["op"],
            rows["message_bytes"].tolist(), rows["slice"].tolist(), strict=True,
        )
    }  # fmt: skip
