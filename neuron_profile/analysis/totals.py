"""Counts, total and self times of slices by what they are called: the table behind hotspots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from neuron_profile.analysis.grouping import group
from neuron_profile.analysis.outermost import Placing, slices_inside_their_like
from neuron_profile.analysis.sides import ANNOTATION, DEVICE, HOST, NEITHER
from trace_format import CATEGORIES

Array = np.ndarray

COLUMNS = ("name", "category", "count", "total_ns", "self_ns", "mean_ns", "max_ns", "share_ratio")


@dataclass(frozen=True, slots=True)
class Work:
    """Slices to be summed up, as columns of equal length.

    - `label`: index into `texts`, -1 for a slice that is not to be counted.
    - `category`, `side`: codes (see `CATEGORIES` and `sides`).
    - `dur_ns`, `self_ns`: -1 where the slice did not finish.
    """

    label: Array
    texts: Sequence[str]
    category: Array
    side: Array
    dur_ns: Array
    self_ns: Array


def totals(
    work: Work,
    *,
    split_categories: bool,
    annotations: bool = False,
    top: int | None = None,
    outermost_of: Placing | None = None,
) -> pd.DataFrame:
    """Count and times of each label, device work first, then host work, each by self time, largest first.

    With `split_categories` a label has one row for each of its categories; without, it has one row and
    the category that takes most of its self time. `annotations` keeps slices of that category.
    `top` keeps that many rows of all. With `outermost_of` a slice inside another of the same label adds nothing to
    `total_ns`; without, it does.

    Columns: those of `hotspots`. `attrs`: see `hotspots`. Empty input gives an empty frame with these columns.
    """
    # key 0 is the label -1
    groups = group(
        (work.label + 1, work.side, work.category), (len(work.texts) + 1, NEITHER + 1, len(CATEGORIES))
    )  # fmt: skip
    unfinished = np.flatnonzero(work.dur_ns < 0)
    dur_ns, self_ns = work.dur_ns, work.self_ns
    if len(unfinished):
        dur_ns, self_ns = np.maximum(dur_ns, 0), np.maximum(self_ns, 0)
    label, side, category = groups.values
    sums = {
        "count": groups.count(),
        "unfinished": groups.count(unfinished),
        "total_ns": groups.sum(dur_ns),
        "self_ns": groups.sum(self_ns),
        "max_ns": groups.max(work.dur_ns, least=-1),
    }
    sums["outermost_ns"] = sums["total_ns"]
    if outermost_of is not None:
        has_time = (work.label >= 0) & (work.dur_ns > 0) & (annotations | (work.category != ANNOTATION))
        inner = slices_inside_their_like(work.label, has_time, work.dur_ns, outermost_of)
        sums["outermost_ns"] = sums["total_ns"] - groups.sum(dur_ns, inner)
    counted = (label > 0) & (side != NEITHER)
    if not annotations:
        counted &= category != ANNOTATION
    label, side, category = label[counted] - 1, side[counted], category[counted]
    sums = {name: values[counted] for name, values in sums.items()}
    if not split_categories:
        label, side, category, sums = _merge_categories(label, side, category, sums, len(work.texts))
    return _frame(label, side, category, sums, work.texts, top)


def _merge_categories(
    label: Array, side: Array, category: Array, sums: dict[str, Array], labels: int
) -> tuple[Array, Array, Array, dict[str, Array]]:
    """The same sums with one row for each (label, side), and the category with most self time in it."""
    groups = group((label, side), (labels, NEITHER + 1))
    merged = {name: groups.sum(values) for name, values in sums.items() if name != "max_ns"}
    merged["max_ns"] = groups.max(sums["max_ns"], least=-1)
    ascending = np.lexsort((-category, sums["self_ns"]))
    main = np.zeros(len(groups), np.int64)
    main[groups.of_row[ascending]] = category[ascending]
    return groups.values[0], groups.values[1], main, merged


def _frame(
    label: Array, side: Array, category: Array, sums: dict[str, Array], texts: Sequence[str], top: int | None
) -> pd.DataFrame:
    # slices that overlap in part have each their own self time, which may exceed what lies around them
    total_ns = np.maximum(sums["outermost_ns"], sums["self_ns"])
    order = np.lexsort((label, -total_ns, -sums["self_ns"], side))
    is_work = category != ANNOTATION
    side_self_ns = np.array([int(sums["self_ns"][is_work & (side == s)].sum()) for s in (DEVICE, HOST)])
    device_rows, unfinished = int((side == DEVICE).sum()), int(sums["unfinished"].sum())
    if top is not None:
        order = order[:top]
        device_rows = min(device_rows, top)
    label, side, category = label[order], side[order], category[order]
    sums, total_ns = {name: values[order] for name, values in sums.items()}, total_ns[order]
    finished = sums["count"] - sums["unfinished"]
    whole = np.where(is_work[order], side_self_ns[side], 0).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean_ns = np.where(finished > 0, sums["total_ns"] / finished, np.nan)
        share_ratio = np.where(whole > 0, sums["self_ns"] / whole, np.nan)
    frame = pd.DataFrame(
        {
            "name": pd.Series([texts[i] for i in label.tolist()], dtype=object),
            "category": pd.Series([CATEGORIES[i] for i in category.tolist()], dtype=object),
            "count": sums["count"],
            "total_ns": total_ns,
            "self_ns": sums["self_ns"],
            "mean_ns": mean_ns,
            "max_ns": sums["max_ns"],
            "share_ratio": share_ratio,
        },
        columns=list(COLUMNS),
    )
    frame.attrs.update(
        device_rows=device_rows,
        device_self_ns=int(side_self_ns[DEVICE]),
        host_self_ns=int(side_self_ns[HOST]),
        unfinished=unfinished,
    )
    return frame
