"""The figure that says how much of what the device can do is used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pandas as pd
from dash import html

from explorer_app import format as fmt
from explorer_app.web.card import figure
from explorer_app.web.names import label
from explorer_app.web.numbers import once
from explorer_app.web.sparkline import sparkline
from neuron_profile import analysis
from trace_format import Trace

_RATIOS: Final = ("mfu", "hfu", "mbu")
_LONGEST_SOURCE: Final = 80


def utilisation_figure(trace: Trace) -> Any:
    """The first that is known of MFU, HFU and MBU of the device that computes most; None where none is.

    Over the whole window, else of the longest run of a NEFF.
    """
    frame = once(analysis.utilisation, trace)
    known = frame[frame[[f"{name}_ratio" for name in _RATIOS]].notna().any(axis=1)]
    whole = known[(known["kind"] == "step") & (known["step"] == known["step"].min())]
    rows = whole if len(whole) else known[known["kind"] == "execution"]
    if not len(rows):
        return None
    row = rows.to_dict("records")[int(rows["device_ns"].to_numpy().argmax())]
    first = next(name for name in _RATIOS if row[f"{name}_ratio"] == row[f"{name}_ratio"])
    others = [f"{name.upper()} {fmt.ratio(row[f'{name}_ratio'])}" for name in _RATIOS if name != first]
    coverage = row["flops_coverage_ratio"]
    covered = f"FLOPs known of {fmt.ratio(coverage)} of the work" if coverage == coverage and coverage < 1 else ""
    title = f"{first.upper()}{', of one run' if row['kind'] == 'execution' else ''}"
    value = row[f"{first}_ratio"]
    exact = f"{value:.6g} of the {label(str(row['peak_source']), longest=_LONGEST_SOURCE)}"
    made = figure(title, fmt.ratio(value), exact=exact, note=", ".join(filter(None, (*others, covered))))
    course = sparkline(_course(frame, row, first), label=f"{first.upper()} of each step")
    return made if course is None else html.Div([made, course], className="np-figure-with-course")


def _course(frame: pd.DataFrame, row: Mapping[Any, Any], name: str) -> list[float]:
    mine = frame[(frame["kind"] == "step") & (frame["step"] >= 0)]
    mine = mine[(mine["rank"] == row["rank"]) & (mine["device"] == row["device"])]
    return mine[f"{name}_ratio"].fillna(-1.0).tolist()
