"""The answer of the Hotspots page in words."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pandas as pd

from explorer_app import format as fmt
from explorer_app.web.names import in_sentence
from explorer_app.web.numbers import once
from explorer_app.web.pages.hotspots.groupings import GROUPINGS
from explorer_app.web.pages.hotspots.rows import known_self_ns
from neuron_profile import analysis
from trace_format import Trace

_NOTHING: Final = "Nothing: this trace holds no work with a duration."


def answer(trace: Trace, by: str) -> Any:
    """What takes most time on each side, and how much of the device's work belongs to nothing known.

    Python frames are no answer where operators were recorded (see `analysis.operations`).
    """
    frame = once(analysis.operations, trace) if by == "name" else once(analysis.hotspots, trace, by=by)
    if frame.empty:
        if "why" in frame.attrs:
            return f"Unknown: this trace does not tell its {GROUPINGS[by].plural}."
        return _NOTHING
    without_frames = by == "name" and len(frame) < len(once(analysis.hotspots, trace, by=by))
    work = frame["category"] != "annotation"  # which is no work, and has no share of it
    on_device = np.arange(len(frame)) < frame.attrs["device_rows"]
    words: list[Any] = []
    for side, whole, rows in (
        ("device", "device's time", frame[work & on_device]),
        ("host", f"host's time{' without Python frames' if without_frames else ''}", frame[work & ~on_device]),
    ):
        words += _largest(side, whole, rows)
    return [*words, *_unknown(frame)] if words else _NOTHING


def _largest(side: str, whole: str, rows: pd.DataFrame) -> list[Any]:
    if rows.empty:
        return []
    row = rows.iloc[0]
    if known_self_ns(row) is None:
        return [f"No slice on the {side} finished, so how long they took is unknown. "]
    own, share = fmt.duration(row["self_ns"]), fmt.ratio(row["share_ratio"])
    return [f"On the {side}: ", in_sentence(row["name"]), f", {own} of its own, {share} of the {whole}. "]


def _unknown(frame: pd.DataFrame) -> list[str]:
    unknown_ns = frame.attrs.get("unattributed_ns", 0)
    if not unknown_ns:
        return []
    share = fmt.ratio(frame.attrs["unattributed_ratio"])
    return [f"{fmt.duration(unknown_ns)} of the device's work ({share}) belongs to nothing that is known."]
