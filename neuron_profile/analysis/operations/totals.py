"""Counts, total and self times of slices by what they are called: the table behind hotspots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from neuron_profile.analysis.grouping import Groups, group, percentiles
from neuron_profile.analysis.operations.outermost import Placing, slices_inside_their_like
from neuron_profile.analysis.sides import ANNOTATION, DEVICE, HOST, NEITHER
from trace_format import CATEGORIES

Array = np.ndarray

COLUMNS = (
    "name", "category", "count", "total_ns", "self_ns", "mean_ns", "p50_ns", "p95_ns", "max_ns",
    "share_ratio",
)  # fmt: skip


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
    row_of_group = np.full(len(groups), -1, np.int64)
    row_of_group[counted] = np.arange(len(label))
    if not split_categories:
        merged, category, sums = _merge_categories(label, side, category, sums, len(work.texts))
        label, side = merged.values
        row_of_group[counted] = merged.of_row
    # slices that overlap in part have each their own self time, which may exceed what lies around them
    sums["outermost_ns"] = np.maximum(sums["outermost_ns"], sums["self_ns"])
    rows = _Rows(label, side, category, sums)
    order = np.lexsort((label, -sums["outermost_ns"], -sums["self_ns"], side))[:top]
    place = np.full(len(label) + 1, -1, np.int64)  # its last entry is for -1
    place[order] = np.arange(len(order))
    of_row = place[row_of_group][groups.of_row]
    p50_ns, p95_ns = percentiles(of_row, len(order), work.dur_ns, (50, 95))
    return _frame(rows, order, {"p50_ns": p50_ns, "p95_ns": p95_ns}, work.texts)


@dataclass(frozen=True, slots=True)
class _Rows:
    """All rows of the table, in no order: columns of equal length."""

    label: Array
    side: Array
    category: Array
    sums: dict[str, Array]


def _merge_categories(
    label: Array, side: Array, category: Array, sums: dict[str, Array], labels: int
) -> tuple[Groups, Array, dict[str, Array]]:
    """The same rows grouped by (label, side), with the category that has most self time in each, and the sums."""
    groups = group((label, side), (labels, NEITHER + 1))
    merged = {name: groups.sum(values) for name, values in sums.items() if name != "max_ns"}
    merged["max_ns"] = groups.max(sums["max_ns"], least=-1)
    ascending = np.lexsort((-category, sums["self_ns"]))
    main = np.zeros(len(groups), np.int64)
    main[groups.of_row[ascending]] = category[ascending]
    return groups, main, merged


def _frame(rows: _Rows, order: Array, more: dict[str, Array], texts: Sequence[str]) -> pd.DataFrame:
    """The table of the rows `order`, with the columns `more` that are in this order already."""
    is_work = rows.category != ANNOTATION
    side_self_ns = np.array([int(rows.sums["self_ns"][is_work & (rows.side == s)].sum()) for s in (DEVICE, HOST)])
    side, category = rows.side[order], rows.category[order]
    sums = {name: values[order] for name, values in rows.sums.items()}
    finished = sums["count"] - sums["unfinished"]
    whole = np.where(is_work[order], side_self_ns[side], 0).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean_ns = np.where(finished > 0, sums["total_ns"] / finished, np.nan)
        share_ratio = np.where(whole > 0, sums["self_ns"] / whole, np.nan)
    frame = pd.DataFrame(
        {
            "name": pd.Series([texts[i] for i in rows.label[order].tolist()], dtype=object),
            "category": pd.Series([CATEGORIES[i] for i in category.tolist()], dtype=object),
            "count": sums["count"],
            "total_ns": sums["outermost_ns"],
            "self_ns": sums["self_ns"],
            "mean_ns": mean_ns,
            **more,
            "max_ns": sums["max_ns"],
            "share_ratio": share_ratio,
        },
        columns=list(COLUMNS),
    )
    frame.attrs.update(
        device_rows=int((side == DEVICE).sum()),
        device_self_ns=int(side_self_ns[DEVICE]),
        host_self_ns=int(side_self_ns[HOST]),
        unfinished=int(rows.sums["unfinished"].sum()),
    )
    return frame
