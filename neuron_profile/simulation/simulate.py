"""A trace with the device timeline that its operators would have had on a NeuronCore: an estimate."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from types import MappingProxyType
from typing import Any

import numpy as np

from neuron_profile.hardware.core import CoreModel, core_model
from neuron_profile.simulation.collectives import Computed, add_collectives
from neuron_profile.simulation.device_tracks import add_runs
from neuron_profile.simulation.lowering import TRITON, Target
from neuron_profile.simulation.neffs import Runs, runs_of
from neuron_profile.simulation.recorded_ops import RecordedOps, recorded_ops
from neuron_profile.simulation.schedule import in_stream_order
from neuron_profile.simulation.settings import UNCERTAINTY, Settings
from trace_format import Trace, TraceBuilder
from trace_format.errors import NeuronProfileError
from trace_format.importers.neuron_device.tracks import DeviceTracks
from trace_format.limits import LATEST_NS
from trace_format.merge import with_tracks_of

Array = np.ndarray

_INDUCTOR = "## Call CompiledFxGraph"


class SimulationError(NeuronProfileError):
    """A trace tells nothing of which a device's time could be estimated."""


def simulate(trace: Trace, settings: Settings | None = None) -> Trace:
    """The trace with the tracks of a simulated NeuronCore for each rank; the trace itself stays as it is.

    Every track added has `simulated` set and says so in its name; `metadata["simulated"]` states what was assumed and
    `generic_share_ratio`, the share of the time by the rule for operators without one. Times are estimates, a factor
    of two either way.

    Raises SimulationError for a trace that was simulated already, tells no operators with shapes, or tells of some that
    would take longer than a trace can hold.
    """
    settings = settings or Settings()
    if trace.tracks.simulated.any():
        raise SimulationError("has a simulated device already; simulate the trace it was made from")
    core = core_model(settings.generation)
    ops = recorded_ops(trace, Target(core), Target(core, compiled=True))
    if not len(ops):
        raise SimulationError(
            f"no operators with shapes ({ops.without_shapes} without) to estimate a device's time from; record with "
            "record_shapes=True"
        )
    builder = TraceBuilder()
    told = [
        _simulate_rank(builder, trace, ops.of_rows(mine), mine, rank, core, settings) for rank, mine in _ranks(trace)
    ]
    caused_by = np.concatenate([one.caused_by for one in told])
    joined = with_tracks_of(trace, builder.finish(), {"flows": {"from_slice": caused_by}})
    metadata = {**trace.metadata, "simulated": {**_metadata(ops, told, settings), "notes": _notes(trace, ops)}}
    return dataclasses.replace(joined, metadata=MappingProxyType(metadata))


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Rank:
    """What was added for one rank: runs, collectives, and which slice caused each flow."""

    runs: Runs
    collectives: int
    caused_by: Array


def _simulate_rank(
    builder: TraceBuilder, trace: Trace, ops: RecordedOps, mine: Array, rank: int, core: CoreModel, settings: Settings
) -> _Rank:
    """Add one rank's core."""
    runs = runs_of(trace, ops, core, settings.lnc)
    tracks = DeviceTracks(
        builder, f"{settings.generation} NeuronCore", first_core=0, rank=rank, host=_host(trace, mine), simulated=True
    )
    caused_by = np.zeros(0, np.int64)
    computed = Computed(caused_by, caused_by)
    if len(runs):
        gap = np.where(ops.after_sync[runs.op], settings.sync_gap_ns, settings.eager_gap_ns)
        lasts = np.array([round(neff.ns) for neff in runs.neffs], np.int64)[runs.neff] + settings.neff_fixed_ns
        lasts_with_gap = np.maximum(lasts, settings.eager_gap_ns)
        asked_ns = ops.ts_ns[runs.op]
        if float(asked_ns.max()) + lasts_with_gap.sum(dtype=np.float64) > LATEST_NS:
            raise SimulationError("its operators would take longer than a trace can hold; are their shapes right?")
        start = in_stream_order(asked_ns + gap, lasts_with_gap)
        caused_by = add_runs(builder, tracks, ops, runs, start, core, settings)
        computed = Computed(asked_ns, start + lasts)
    collectives = add_collectives(builder, tracks, trace, mine, computed, settings)
    return _Rank(runs, len(collectives), np.concatenate([caused_by, collectives]))


def _ranks(trace: Trace) -> Iterator[tuple[int, Array]]:
    """Each rank of the trace, and which slices are its own."""
    rank_of = trace.tracks.rank[trace.slices.track]
    for rank in np.unique(rank_of).tolist():
        yield rank, rank_of == rank


def _host(trace: Trace, mine: Array) -> str:
    hosts = np.unique(trace.tracks.host[np.unique(trace.slices.track[mine])])
    return trace.pool.strings[int(hosts[-1])] if len(hosts) else ""


def _notes(trace: Trace, ops: RecordedOps) -> list[str]:
    """What the estimate leaves out, in words."""
    by_inductor = any(text.startswith(_INDUCTOR) for text in trace.pool.strings.values)
    if by_inductor and not any(name.startswith(TRITON) for name, _ in ops.calls):
        return ["the loops that inductor compiled for the CPU are not recorded: only what its graphs call is in here"]
    return []


def _metadata(ops: RecordedOps, told: list[_Rank], settings: Settings) -> dict[str, Any]:
    ns, generic, graphs, neffs, runs = 0.0, 0.0, 0, 0, 0
    for found in (rank.runs for rank in told):
        count = np.bincount(found.neff, minlength=len(found.neffs))
        for neff, times in zip(found.neffs, count.tolist(), strict=True):
            ns += neff.ns * times
            generic += sum(part.time.ns for part in neff.parts if part.work.generic) * times
        graphs += int(found.in_graph.sum())
        neffs += len(found.neffs)
        runs += len(found)
    names = {name for work, (name, _) in zip(ops.works, ops.calls, strict=True) if work.generic}
    mode = "eager" if not graphs else "compiled" if graphs == runs else "eager and compiled"
    return {
        **settings.to_dict(),
        "mode": mode,
        "uncertainty": UNCERTAINTY,
        "generic_share_ratio": generic / ns if ns else None,
        "generic_operators": sorted(names)[:50],
        "operators": len(ops),
        "operators_without_shapes": ops.without_shapes,
        "neffs": neffs,
        "neff_runs": runs,
        "graph_runs": graphs,
        "collectives": sum(rank.collectives for rank in told),
        "device_ns": round(ns) + runs * settings.neff_fixed_ns,
    }
