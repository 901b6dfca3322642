"""The card with the NEFFs of a trace and their tensors."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pandas as pd
from dash import html

from explorer_app import format as fmt
from explorer_app.web.card import card
from explorer_app.web.grid import copy_button, grid, grid_height_px, name_column, number_column, rows_of, text_column
from explorer_app.web.names import label
from explorer_app.web.numbers import once
from trace_format import Trace

GRID: Final = "np-tensors"
_HEIGHT_PX: Final = 360
_MOST_ROWS: Final = 5_000


def tensors_card(trace: Trace) -> Any:
    """The tensors by size; None for a trace without any."""
    if not len(trace.tensors):
        return None
    frame = once(tensors, trace)
    several = frame["neff"].nunique() > 1
    columns = [
        name_column("name", "Tensor", flex=1, minWidth=220, cellClass="np-mono-cell"),
        *([name_column("neff", "NEFF", flex=1, minWidth=140)] if several else []),
        text_column("kind", "Kind", width=120),
        text_column("shape", "Shape", width=180, cellClass="np-mono-cell"),
        text_column("dtype", "Type", width=100),
        number_column("bytes", "Bytes", "size", "bytes", width=120),
    ]
    shown = frame.head(_MOST_ROWS)
    body = html.Div(
        grid(GRID, columns, rows=rows_of(shown), empty="No tensors.", label="Tensors by their size"),
        style={"height": f"min({grid_height_px(len(shown))}px, {_HEIGHT_PX}px)"},
    )
    known = frame["bytes"].dropna()
    said = f"{fmt.counted(len(frame), 'tensor')} of {fmt.counted(len(trace.neffs), 'NEFF')}, {fmt.size(known.sum())} "
    return card("Tensors of the NEFF", body, note=html.Span([said, copy_button(GRID)]), flush=True)


def tensors(trace: Trace) -> pd.DataFrame:
    """Name, NEFF, kind, shape, type and bytes (NaN: unknown) of each tensor, largest first."""
    table, names = trace.tensors.to_pandas(), trace.neffs.to_pandas()["name"].astype(str).tolist()
    owner = table["neff"].to_numpy(np.int64)
    frame = pd.DataFrame(
        {
            "name": table["name"].astype(str), "kind": table["kind"].astype(str).map(label),
            "neff": [names[row] if 0 <= row < len(names) else "" for row in owner.tolist()],
            "shape": table["shape"].astype(str).map(label), "dtype": table["dtype"].astype(str).map(label),
            "bytes": table["bytes"].astype(float).where(table["bytes"] >= 0),
        }
    )  # fmt: skip
    return frame.sort_values("bytes", ascending=False, kind="stable", ignore_index=True)
