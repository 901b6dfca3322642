"""Columns of text that pandas takes as they are.

pandas 3 keeps text as UTF-8 where it may, and names in traces may hold what UTF-8 cannot write: lone surrogates.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd


def text(values: Iterable[str]) -> pd.Series:
    """The texts as a column of objects."""
    return pd.Series(list(values), dtype=object)


def same_text(value: str, frame: pd.DataFrame) -> pd.Series:
    """One text for each row of a frame, as a column of objects that fits into it."""
    return pd.Series([value] * len(frame), index=frame.index, dtype=object)


def table(rows: Sequence[Sequence[Any]], columns: Sequence[str]) -> pd.DataFrame:
    """A frame of these rows, its texts as objects."""
    if not rows:
        return pd.DataFrame(columns=list(columns))
    values = zip(columns, zip(*rows, strict=True), strict=True)
    return pd.DataFrame({name: text(of) if isinstance(of[0], str) else pd.Series(list(of)) for name, of in values})


def to_group_by(frame: pd.DataFrame, *names: str) -> pd.DataFrame:
    """The frame with these columns of text as categories in order of the text, for `groupby(…, observed=True)`.

    `as_text` gives the texts back.
    """
    return frame.assign(**{name: _categories(frame[name]) for name in names})


def as_text(frame: pd.DataFrame, *names: str) -> pd.DataFrame:
    """The frame with these columns, categories of text, as text again."""
    return frame.assign(**{name: frame[name].astype(object) for name in names})


def order_of(values: Iterable[str]) -> np.ndarray:
    """The place of each text in the order of them all, the same for equal ones; `(n,) int64`."""
    every = list(values)
    place = {value: number for number, value in enumerate(sorted(set(every)))}
    return np.array([place[value] for value in every], np.int64)


def _categories(values: pd.Series) -> pd.Series:
    every = values.tolist()
    kinds = sorted(set(every))
    return pd.Series(
        pd.Categorical.from_codes(order_of(every), categories=pd.Index(kinds, dtype=object)), index=values.index
    )
