"""The steps of several ranks: which rank is slow, without a colour for each rank to be told apart by."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pandas as pd

from explorer_app import format as fmt
from explorer_app.web.card import card
from explorer_app.web.chart import chart, plain

# More bars in a step than these cannot be told from each other; a strip of colour then shows the ranks.
MOST_RANK_BARS: Final = 8
_MOST_COLUMNS: Final = 400
_MOST_LABELLED: Final = 32  # bars that are broad enough for a number in them
_SLOWEST: Final = "var(--np-accent)"
_OTHERS: Final = "var(--np-dim) 45%"


def tooltip(step: str, dur_ns: float, rank: int = -1) -> str:
    """What is said of a step where the pointer is on it."""
    where = f"rank {rank}, " if rank >= 0 else ""
    return f"<b>{plain(step)}</b><br>{where}{fmt.duration(dur_ns)} ({fmt.exact(dur_ns, 'ns')})"


def rank_bars(steps: pd.DataFrame) -> list[dict[str, Any]]:
    """For each rank its bars, beside those of the other ranks; the slowest of each step is in the accent colour."""
    slowest = steps.groupby("step")["dur_ns"].transform("max")
    ranks_of_step = steps.groupby("step")["rank"].transform("nunique")
    is_slowest = (steps["dur_ns"] == slowest) & (ranks_of_step > 1)
    bars = []
    for rank in np.unique(steps["rank"]).tolist():
        rows = steps[steps["rank"] == rank]
        slow = is_slowest[rows.index]
        texts = [
            tooltip(step, dur_ns, rank) + (", the slowest rank" if is_slow else "")
            for step, dur_ns, is_slow in zip(rows["name"], rows["dur_ns"], slow, strict=True)
        ]
        bars.append(
            {
                "type": "bar", "name": f"rank {rank}", "x": rows["step"].tolist(), "y": rows["dur_ns"].tolist(),
                "marker": {"color": [_SLOWEST if is_slow else _OTHERS for is_slow in slow]},
                "customdata": texts, "hovertemplate": "%{customdata}<extra></extra>",
                **(_label(rank, slow.tolist()) if len(steps) <= _MOST_LABELLED else {}),
            }
        )  # fmt: skip
    return bars


def _label(rank: int, slow: list[bool]) -> dict[str, Any]:
    """The number of a rank at the foot of its bars."""
    colors = ["var(--np-panel)" if is_slow else "var(--np-text)" for is_slow in slow]
    return {
        "text": [str(rank)] * len(slow), "textposition": "inside", "insidetextanchor": "start", "textangle": 0,
        "insidetextfont": {"color": colors, "size": 11}, "constraintext": "none",
    }  # fmt: skip


def rank_strip_card(steps: pd.DataFrame, median_ns: float) -> Any:
    """The steps as a strip for each rank, the longer a step the stronger its colour; names the slowest rank."""
    ranks = np.unique(steps["rank"])
    first, last = int(steps["step"].min()), int(steps["step"].max())
    merged = -(-(last - first + 1) // _MOST_COLUMNS)
    longest = np.full((len(ranks), (last - first) // merged + 1), -1, np.int64)
    at = np.searchsorted(ranks, steps["rank"]), (steps["step"].to_numpy() - first) // merged
    np.maximum.at(longest, at, steps["dur_ns"].to_numpy())
    strip = {
        "type": "heatmap", "x0": first, "dx": merged, "y": [f"rank {rank}" for rank in ranks],
        "z": [[None if value < 0 else value for value in row] for row in longest.tolist()],
        "customdata": [[fmt.duration(value) for value in row] for row in longest.tolist()],
        "colorscale": [[0, "var(--np-accent) 8%"], [1, "var(--np-accent)"]], "showscale": False, "xgap": 1, "ygap": 1,
        "hovertemplate": "%{y}, step %{x}: %{customdata}<extra></extra>",
    }  # fmt: skip
    layout = {
        "xaxis": {"title": {"text": "step"}, "tickformat": "d", "showgrid": False},
        "yaxis": {"type": "category", "autorange": "reversed", "showgrid": False, "fixedrange": True},
    }
    medians = steps.groupby("rank")["dur_ns"].median()
    note = (
        f"median {fmt.duration(median_ns)}; slowest: rank {medians.idxmax()}, {fmt.duration(medians.max())}; "
        f"the longer, the stronger{f', each mark the longest of {merged} steps' if merged > 1 else ''}"
    )
    drawn = chart(
        "steps", {"data": [strip], "layout": layout}, height_px=240, window_ratio=0.24,
        label=f"Duration of each step on each rank; {note}",
    )  # fmt: skip
    return card("Step times", drawn, note=note, area="steps")
