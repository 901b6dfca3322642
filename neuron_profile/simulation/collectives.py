"""Collectives on a lane of their own, as long as a model of the links says."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuron_profile.hardware.links import collective_ns
from neuron_profile.simulation.device_tracks import FLOW
from neuron_profile.simulation.schedule import in_stream_order
from neuron_profile.simulation.settings import Settings
from trace_format import CATEGORIES, Trace, TraceBuilder
from trace_format.importers.neuron_device.tracks import DeviceTracks

Array = np.ndarray

_COLLECTIVE = CATEGORIES.index("collective")
NAME = "Collectives"


@dataclass(frozen=True, slots=True, eq=False)
class Computed:
    """When runs were asked for, and when they end; both ascending, `(n,) int64`."""

    asked_ns: Array
    end_ns: Array

    def by(self, asked_ns: Array) -> Array:
        """When all that was asked for before each moment is done; 0 where nothing was."""
        before = np.searchsorted(self.asked_ns, asked_ns)
        out: Array = np.append(self.end_ns, 0)[before - 1]
        return out


def add_collectives(
    builder: TraceBuilder, tracks: DeviceTracks, trace: Trace, mine: Array, computed: Computed, settings: Settings
) -> Array:
    """Add the collectives whose slices are in `mine`; the slice that caused each, `(n,) int64`.

    In order, none over another; each waits for what the host had asked for before it. What is asked for after it does
    not wait for it: where a program waits is not recorded.
    """
    table, slices = trace.collectives, trace.slices
    rows = np.flatnonzero((table.slice >= 0) & mine[np.maximum(table.slice, 0)])
    if not len(rows):
        return rows
    rows = rows[np.argsort(slices.ts_ns[table.slice[rows]], kind="stable")]
    ops, members = table.text("op"), table.text("group_ranks")
    world = trace.metadata.get("world_size")
    lasts = [
        collective_ns(
            settings.generation, ops[row], max(int(table.in_bytes[row]), int(table.out_bytes[row]), 0),
            _ranks(members[row], world), lnc=settings.lnc,
        )
        for row in rows.tolist()
    ]  # fmt: skip
    lasts_ns = np.maximum(np.array(lasts, np.float64).astype(np.int64), 1)
    asked_ns = slices.ts_ns[table.slice[rows]]
    ready_ns = np.maximum(asked_ns + settings.eager_gap_ns, computed.by(asked_ns))
    start = in_stream_order(ready_ns, lasts_ns)
    first = builder["slices"].append(
        ts_ns=start, dur_ns=lasts_ns, track=tracks.collectives(), category=_COLLECTIVE,
        name=[builder.string(ops[row]) for row in rows.tolist()],
        bytes=np.maximum(table.in_bytes[rows], table.out_bytes[rows]),
    )  # fmt: skip
    builder["flows"].append(to_slice=first + np.arange(len(rows)), kind=builder.string(FLOW))
    caused_by: Array = table.slice[rows]
    return caused_by


def _ranks(members: str, world: object) -> int:
    """How many take part: the commas of a JSON list tell, else the whole world."""
    if members.startswith("[") and members != "[]":
        return members.count(",") + 1
    return world if isinstance(world, int) else 2
