"""The critical path of a window, and what shortening its parts would return."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from neuron_profile.analysis.arguments import whole_number
from neuron_profile.analysis.critical_path.building import built
from neuron_profile.analysis.critical_path.graph import Graph
from neuron_profile.analysis.critical_path.kinds import KINDS
from neuron_profile.analysis.critical_path.resimulation import resimulated, window_end_ns
from neuron_profile.analysis.critical_path.walk import walked
from neuron_profile.analysis.critical_path.window import Window, chosen_window
from neuron_profile.analysis.texts import as_text, order_of, table, to_group_by
from trace_format import NeuronProfileError, Trace

Array = np.ndarray

_LONGEST_NS = float(1 << 62)  # in sum, so that no moment is beyond what its column holds
_ATTRS = ("start_ns", "end_ns", "rank", "step", "name", "chosen_by")


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The window if something took another time.

    `window_ns` is its new length, `returned_ns` how much shorter that is (negative: longer), `changed_ns` by how much
    the pieces that were changed are shorter in sum, on the path or not, and `slices` how many slices they are of.
    """

    window_ns: int
    returned_ns: int
    changed_ns: int
    slices: int


@dataclass(frozen=True, slots=True)
class CriticalPath:
    """The chain of work that the window's length came from, in segments that fill it.

    - `window`: which stretch of time, of which rank, and why this one.
    - `segments`: a row for each in order of time: start_ns, end_ns, dur_ns, slice (row, -1 for none), kind, name. Each
      ends where the next begins; their sum is the window exactly.

    The `attrs` of all frames: start_ns, end_ns, rank, step, name, chosen_by of the window.
    """

    window: Window
    segments: pd.DataFrame
    trace: Trace
    graph: Graph

    @property
    def notes(self) -> dict[str, int]:
        """What the graph knows and does not know, as counts.

        work (of devices, in the window), work_without_launch, event_waits_untold (records that do not say what was
        waited for), guessed_waits (work taken to have waited for what ended last on its device), contradicting_edges
        (causes that ended after their effect began; left out), threads_left_out (only where times are years apart).
        """
        return dict(self.graph.notes)

    @property
    def totals(self) -> pd.DataFrame:
        """The path by kind, a row for each of `KINDS`: kind, count, total_ns, share_ratio (of the window).

        The share is NaN for an empty window.
        """
        grouped = self.segments.groupby("kind", observed=False)["dur_ns"].agg(["count", "sum"]).reindex(list(KINDS))
        return self._shares(
            pd.DataFrame({
                "kind": list(KINDS), "count": grouped["count"].to_numpy(np.int64),
                "total_ns": grouped["sum"].to_numpy(np.int64),
            })
        )  # fmt: skip

    @property
    def by_name(self) -> pd.DataFrame:
        """The path by kind and name, longest first: kind, name, count, total_ns, share_ratio (of the window)."""
        by_kind = to_group_by(self.segments, "name").groupby(["kind", "name"], observed=True)["dur_ns"]
        grouped = as_text(by_kind.agg(["count", "sum"]).reset_index(), "kind", "name")
        frame = pd.DataFrame({
            "kind": grouped["kind"], "name": grouped["name"],
            "count": grouped["count"].astype(np.int64), "total_ns": grouped["sum"].astype(np.int64),
        })  # fmt: skip
        order = np.lexsort((order_of(frame["name"]), order_of(frame["kind"]), -frame["total_ns"].to_numpy()))
        frame = frame.iloc[order].reset_index(drop=True)
        return self._shares(frame)

    def what_if(
        self, *, name: str | None = None, slices: Sequence[int] | None = None,
        factor: float | None = None, less_ns: int | None = None,
    ) -> WhatIf:  # fmt: skip
        """The window if slices took `factor` times as long, or each of them `less_ns` less, but never less than 0.

        The slices are those of a name, on the host or a device, or rows; what of them lies in the window is changed. Of
        a slice of the host it is the time outside of what it calls, and without waiting for others. Everything else
        takes as long as it did, starts as soon as all that it waited for is done, and waits for what it waited for:
        another chain may become the critical one. A loop over the window's edges: about 1 s per million.

        Raises NeuronProfileError where not exactly one of name and slices, or of factor and less_ns, is given, for
        a factor below 0, for what makes work longer than a time can be, and for a name that no slice of the trace has.
        """
        if (name is None) == (slices is None) or (factor is None) == (less_ns is None):
            raise NeuronProfileError("what_if: give one of name= or slices=, and one of factor= or less_ns=")
        if factor is not None and not (np.isfinite(factor) and factor >= 0):
            raise NeuronProfileError(f"what_if: factor is {factor}: give a number from 0 up, 0.5 for half the time")
        rows = self.graph.pieces.row
        if name is not None:
            chosen = np.flatnonzero(rows >= 0)
            number = self._number_of(name)
            is_known = number >= 0 and bool((self.trace.slices.name == number).any())
            if not is_known and name not in set(self.segments["name"]):  # what is no work of a slice has a name, too
                raise NeuronProfileError(f"what_if: no slice is called {name!r}; the names are those of by_name")
            chosen = chosen[self.trace.slices.name[rows[chosen]] == number]
        else:
            chosen = np.flatnonzero(np.isin(rows, np.asarray(slices, np.int64)) & (rows >= 0))
        return self._with(chosen, factor, less_ns)

    def returns(self, top: int = 10) -> pd.DataFrame:
        """What halving and removing the work of each of the longest names on the path would return.

        Columns: kind (its longest), name, path_ns (what of the path it is), halved_ns, removed_ns (how much shorter the
        window gets where all slices of this name take half as long, or no time). What is no work of a slice is left
        out: gaps and launch delays. Longest on the path first. Raises ValueError for a `top` below 0.
        """
        top = whole_number("top", top, least=0)
        work = self.by_name
        work = work[~work["kind"].isin(["gap", "launch delay"])]
        by_name = to_group_by(work, "name").groupby("name", sort=False, observed=True)
        work = as_text(by_name.agg(kind=("kind", "first"), total_ns=("total_ns", "sum")).reset_index(), "name")
        order = np.lexsort((order_of(work["name"]), -work["total_ns"].to_numpy()))
        found = []
        for row in work.iloc[order[:top]].to_dict("records"):
            halved, removed = (self.what_if(name=row["name"], factor=factor).returned_ns for factor in (0.5, 0.0))
            found.append((row["kind"], row["name"], int(row["total_ns"]), halved, removed))
        frame = table(found, ["kind", "name", "path_ns", "halved_ns", "removed_ns"])
        return _of_window(frame, self.window)

    def _with(self, pieces: Array, factor: float | None, less_ns: int | None) -> WhatIf:
        work_ns = self.graph.pieces.work_ns.copy()
        before = work_ns[pieces]
        if factor is not None:
            longest = float(before.sum()) * factor
        else:
            longest = float(before.sum()) + max(-int(less_ns or 0), 0) * len(before)
        if not longest < _LONGEST_NS:
            raise NeuronProfileError(
                f"what_if: {f'factor={factor}' if factor is not None else f'less_ns={less_ns}'} makes the work longer "
                "than a century: give a smaller change"
            )
        if factor is not None:
            work_ns[pieces] = np.rint(before * factor).astype(np.int64)
        else:
            work_ns[pieces] = before - _taken(self.graph.pieces.row[pieces], before, int(less_ns or 0))
        end_ns = window_end_ns(self.graph, resimulated(self.graph, work_ns), work_ns)
        length = end_ns - self.window.start_ns
        changed = int((before - work_ns[pieces]).sum())
        count = len(np.unique(self.graph.pieces.row[pieces]))
        return WhatIf(length, self.window.total_ns - length, changed, count)

    def _number_of(self, name: str) -> int:
        strings = self.trace.pool.strings.values
        return strings.index(name) if name in strings else -1

    def _shares(self, frame: pd.DataFrame) -> pd.DataFrame:
        return _of_window(frame.assign(share_ratio=frame["total_ns"] / (self.window.total_ns or np.nan)), self.window)


def critical_path(
    trace: Trace, *, step: int | None = None, rank: int | None = None, window_ns: tuple[int, int] | None = None
) -> CriticalPath:
    """The critical path of the given window, else of the given step, else of the step of median duration.

    A trace without steps is one window from its first to its last moment. `rank`: the one to look at, else the lowest
    with steps. The path ends with the device's work that is under way at the window's end, else with what ended last,
    and goes from there back to whatever was the last to be ready, until the window's start.

    Simulated tracks are not looked at. Raises NeuronProfileError for a step or a rank that is not there.
    """
    window = chosen_window(trace, step, rank, window_ns)
    graph = built(trace, window)
    return CriticalPath(window, _of_window(walked(trace, graph), window), trace, graph)


def _of_window(frame: pd.DataFrame, window: Window) -> pd.DataFrame:
    frame.attrs.update({name: getattr(window, name) for name in _ATTRS})
    return frame


def _taken(row: Array, before: Array, less_ns: int) -> Array:
    """How much of `less_ns` is taken from each piece, from the first of its slice on; added where it is negative."""
    first = np.unique(row, return_index=True)[1]
    if less_ns < 0:
        taken = np.zeros(len(row), np.int64)
        taken[first] = less_ns
        return taken
    order = np.argsort(row, kind="stable")
    begins = np.searchsorted(row[order], row[order])
    up_to = np.r_[0, np.cumsum(before[order])]
    already = up_to[:-1] - up_to[begins]
    taken = np.empty(len(row), np.int64)
    taken[order] = np.clip(less_ns - already, 0, before[order])
    return taken
