"""Results as plain values that any JSON encoder takes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

# -1 in these columns is a slice that did not finish
_DURATIONS = frozenset({"dur_ns", "max_ns", "p50_ns", "p95_ns"})


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows as dicts of str, bool, int, float or None (for unknown), columns in order. Empty for no rows."""
    columns = [
        [plain(value) if name not in _DURATIONS or value != -1 else None for value in frame[name].tolist()]
        for name in frame.columns
    ]
    return [dict(zip(frame.columns, row, strict=True)) for row in zip(*columns, strict=True)]


def plain(value: Any) -> Any:
    """A value of metadata or of a frame as str, bool, int, float, None, list or dict with string keys.

    NaN and the infinities, which JSON does not have, become None; anything else unknown becomes its text.
    """
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    return str(value)
