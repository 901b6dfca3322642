"""Collects flow events, and slices that say they take part in a flow, until all slices are there to join."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from trace_format.builder import TraceBuilder
from trace_format.trace_events.batch import Arrow, Key
from trace_format.trace_events.flows import END, START, STEP, FlowEvents, link
from trace_format.trace_events.view import BatchView

Array = np.ndarray

_ROLES = {"s": START, "t": STEP, "f": END}


class FlowCollector:
    """Flow events (s, t, f) and arrows (`bind_id`, `flow_in`, `flow_out`) become rows of the flows table."""

    def __init__(self, builder: TraceBuilder) -> None:
        self._builder = builder
        self._groups: dict[tuple[str, str], int] = {}
        self._other_ids: dict[Key | None, int] = {}
        self._events = builder.scratch(FlowEvents)
        self._arrows = builder.scratch(FlowEvents)

    def add(self, view: BatchView, phases: Array, lines: Array, args: Array) -> None:
        """Add flow events; `lines` and `args` `(n,)` are their lines and argument sets."""
        ids = view.ids()
        role = np.zeros(len(view), np.int64)
        for letter, value in _ROLES.items():
            role[phases == ord(letter)] = value
        binding = view.pick(view.batch.bp) if view.batch.bp is not None else [""] * len(view)
        identity, groups = self._identities(ids), self._groups
        names = zip(view.pick(view.batch.cat), view.pick(view.batch.name), strict=True)
        self._events.append(
            len(view),
            line=lines,
            ts_ns=view.ts_ns,
            role=role,
            group=[groups.setdefault(key, len(groups) + 1) for key in names],
            identity=identity,
            flow_id=identity if identity.min() >= 0 else [_number(one) for one in ids],
            kind=view.source_category,
            name=view.name,
            args=args,
            next_slice=(role == END) & np.array([point != "e" for point in binding], bool),
        )

    def note_arrows(self, view: BatchView, lines_of: Callable[[BatchView], Array]) -> None:
        """Remember which of these slices say by themselves that they are one end of a flow, or both."""
        given = view.pick(view.batch.arrows or ())
        taking_part = np.array([arrow is not None and (arrow.incoming or arrow.outgoing) for arrow in given], bool)
        if not taking_part.any():
            return
        chosen = view.where(taking_part)
        arrows = [arrow for arrow in chosen.pick(view.batch.arrows or ()) if arrow is not None]
        self._arrows.append(
            len(arrows),
            line=lines_of(chosen),
            ts_ns=chosen.ts_ns,
            role=[_role(arrow) for arrow in arrows],
            identity=self._identities([arrow.bind_id for arrow in arrows]),
            flow_id=[_number(arrow.bind_id) for arrow in arrows],
            kind=chosen.source_category,
            name=chosen.name,
        )

    def finish(self, tracks_of: Callable[[int], list[int]]) -> None:
        """Add the flows to the builder, and flow events that could not be joined to its report."""
        builder = self._builder
        # the slices that arrows belong to are kept, so an arrow into nowhere loses no event
        for rows, lost in ((self._events, builder.report.left_out), (self._arrows, Counter[str]())):
            if rows.rows:
                slices = builder.collected(builder["slices"], "track", "ts_ns", "dur_ns", "correlation")
                link(builder.collected(rows), slices, tracks_of, builder, lost)
                rows.cut(0)

    def _identities(self, ids: Sequence[Key | None]) -> Array:
        """A number for each id, `(n,) int64`: itself where it is one that fits, else one below zero."""
        numbers = np.array(ids) if ids and type(ids[0]) is int else np.zeros(0)
        if numbers.dtype.kind == "i" and numbers.min() >= 0:
            return numbers
        known = self._other_ids
        return np.array(
            [
                one if isinstance(one, int) and 0 <= one < 2**63 else known.setdefault(one, -1 - len(known))
                for one in ids
            ],
            np.int64,
        )


def _role(arrow: Arrow) -> int:
    return END if not arrow.outgoing else STEP if arrow.incoming else START


def _number(identity: Key | None) -> int:
    """A flow's id as a number; -1 where it is none, or none that fits."""
    if isinstance(identity, str):
        try:
            identity = int(identity, 0)
        except ValueError:
            return -1
    return identity if identity is not None and 0 <= identity < 2**63 else -1
