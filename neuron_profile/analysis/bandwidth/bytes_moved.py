"""Bytes moved: by slice, and by operator."""

from __future__ import annotations

import numpy as np
import pandas as pd

from neuron_profile.analysis.arguments import top_rows
from neuron_profile.analysis.bandwidth.movement import Movement, movement
from neuron_profile.analysis.grouping import group
from neuron_profile.analysis.sides import HOST, SIDES, side_of_slices
from trace_format import Trace


def bytes_moved(trace: Trace) -> pd.DataFrame:
    """The bytes that each slice moved, in row order, for all slices of which the trace tells.

    From records where they exist (copies, transfers), from the shapes and types of an operator's arguments where
    not: every byte moved once. An operator with a formula counts whole and what it calls does not; one that is
    made of others counts only where those were not recorded; views move nothing. The bytes of an operator that
    launched work on a device are divided among that work, by duration.

    Columns: slice (row of the slice during which the bytes moved), name (of the operator, or of the slice where
    the record is its own), bytes, estimated (from shapes), side ("device" or "host").
    `attrs`: estimated_bytes, generic_bytes (of those, by the rule for operators without a formula, or with assumed
    element types), unplaced_bytes (of operators whose work on the device was not recorded; not in the rows),
    implausible_bytes (not in the rows: the rule for unknown operators asks for more than the memory moves).
    A trace that tells of no bytes gives an empty frame with the same columns.
    """
    moved = movement(trace)
    names = np.array(trace.pool.strings.values, dtype=object)
    frame = pd.DataFrame(
        {
            "slice": moved.slice,
            "name": pd.Series(names[moved.name], dtype=object),
            "bytes": moved.bytes,
            "estimated": moved.estimated,
            "side": np.array((*SIDES, ""), dtype=object)[side_of_slices(trace)[moved.slice]],
        }
    )
    frame.attrs.update(coverage(moved))
    return frame


def movers(trace: Trace, top: int | None = 20) -> pd.DataFrame:
    """The operators that moved most bytes, most first; the same slices and attrs as `bytes_moved`.

    Columns: name, count (of slices that moved bytes), bytes, dur_ns (sum of their durations), bytes_per_s (NaN
    where they took no time), estimated_ratio (share of the bytes worked out from shapes), side ("device" or
    "host"; a name seen on both has two rows), share_ratio (of all bytes that were moved on its side, those of rows
    beyond `top` too). `top` keeps the first so many rows.
    Raises ValueError for a `top` below 0.
    """
    top = top_rows(top)
    moved, slices = movement(trace), trace.slices
    groups = group((side_of_slices(trace)[moved.slice], moved.name), (HOST + 1, len(trace.pool.strings)))
    side, name = groups.values
    nbytes = groups.sum(moved.bytes)
    dur_ns = groups.sum(np.maximum(slices.dur_ns[moved.slice], 0))
    estimated = groups.sum(np.where(moved.estimated, moved.bytes, 0))
    whole = np.array([nbytes[side == number].sum() for number in range(len(SIDES))], np.int64)
    order = np.lexsort((name, side, -dur_ns, -nbytes))[:top]
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = np.where(dur_ns > 0, nbytes / dur_ns * 1e9, np.nan)
        estimated_ratio = np.where(nbytes > 0, estimated / nbytes, np.nan)
        share_ratio = np.where(whole[side] > 0, nbytes / whole[side], np.nan)
    frame = pd.DataFrame(
        {
            "name": pd.Series([trace.pool.strings[i] for i in name[order].tolist()], dtype=object),
            "count": groups.count()[order],
            "bytes": nbytes[order],
            "dur_ns": dur_ns[order],
            "bytes_per_s": rate[order],
            "estimated_ratio": estimated_ratio[order],
            "side": pd.Series([SIDES[i] for i in side[order].tolist()], dtype=object),
            "share_ratio": share_ratio[order],
        }
    )
    frame.attrs.update(coverage(moved))
    return frame


def coverage(moved: Movement) -> dict[str, int]:
    """How much of what moved was worked out rather than recorded, and how much has no place."""
    return {
        "estimated_bytes": int(moved.bytes[moved.estimated].sum()),
        "generic_bytes": int(moved.bytes[moved.generic].sum()),
        "unplaced_bytes": moved.unplaced_bytes,
        "implausible_bytes": moved.implausible_bytes,
    }
