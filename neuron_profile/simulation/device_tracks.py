"""Writes simulated runs as the tracks of a Neuron device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from neuron_profile.hardware.core import CoreModel
from neuron_profile.simulation.layout import EXECUTIONS, LOADS, STORES, layout
from neuron_profile.simulation.neffs import Neff, Runs
from neuron_profile.simulation.recorded_ops import RecordedOps
from neuron_profile.simulation.settings import UNCERTAINTY, Settings
from trace_format import CATEGORIES, TraceBuilder
from trace_format.importers.neuron_device.activity import Steps
from trace_format.importers.neuron_device.engines import ENGINES
from trace_format.importers.neuron_device.tracks import DeviceTracks

Array = np.ndarray

_COMPUTE, _DMA, _RUN = (CATEGORIES.index(name) for name in ("compute", "dma", "annotation"))
FLOW = "simulated"  # from a recorded operator to its simulated run
CORE = 0


@dataclass(frozen=True, slots=True, eq=False)
class _Templates:
    """The intervals of all NEFFs as columns, those of a NEFF together; `sizes` says how many each has."""

    sizes: Array
    line: Array
    start_ns: Array
    dur_ns: Array
    nbytes: Array
    name: Array
    args: Array


_LINES = (EXECUTIONS, *ENGINES, LOADS, STORES)


def add_runs(
    builder: TraceBuilder, tracks: DeviceTracks, ops: RecordedOps, runs: Runs, start_ns: Array,
    core: CoreModel, settings: Settings,
) -> Array:  # fmt: skip
    """Add slices, flows to the runs, and the bandwidth of HBM; the slice that caused each flow, `(n,) int64`."""
    joined = _templates(builder, runs.neffs, core, settings)
    sizes = joined.sizes
    count = sizes[runs.neff]
    first_row = np.cumsum(count) - count  # of each run, among all intervals
    run_of = np.repeat(np.arange(len(runs)), count)
    source = (np.cumsum(sizes) - sizes)[runs.neff][run_of] + np.arange(int(count.sum())) - first_row[run_of]
    line = joined.line[source]
    ts_ns = start_ns[run_of] + joined.start_ns[source]
    row = np.full(len(line), -1, np.int64)
    for number, name in enumerate(_LINES):
        mine = np.flatnonzero(line == number)
        if len(mine):
            at = source[mine]
            added = builder["slices"].append(
                ts_ns=ts_ns[mine], dur_ns=joined.dur_ns[at], track=_track(tracks, name),
                name=joined.name[at], category=_category(name), args=joined.args[at], bytes=joined.nbytes[at],
            )  # fmt: skip
            row[mine] = added + np.arange(len(mine))
    moved = np.flatnonzero(joined.nbytes[source] > 0)
    _add_bandwidth(builder, tracks, ts_ns[moved], joined.dur_ns[source[moved]], joined.nbytes[source[moved]])
    builder["flows"].append(to_slice=row[first_row], kind=builder.string(FLOW))
    # the operator itself outside of graphs, else the call of the graph: what is in it the host did later, if at all
    caused_by: Array = np.where(runs.in_graph, ops.graph[runs.op], ops.slice[runs.op])
    return caused_by


def _track(tracks: DeviceTracks, line: str) -> int:
    if line == EXECUTIONS:
        return tracks.executions()
    return tracks.engine(CORE, line) if line in ENGINES else tracks.queue(CORE, line, -1)


def _category(line: str) -> int:
    return _RUN if line == EXECUTIONS else _COMPUTE if line in ENGINES else _DMA


def _templates(builder: TraceBuilder, neffs: Sequence[Neff], core: CoreModel, settings: Settings) -> _Templates:
    sizes: list[int] = []
    rows: list[tuple[int, int, int, int, int, int]] = []
    for neff in neffs:
        intervals = layout(neff, core, settings.neff_fixed_ns)
        sizes.append(len(intervals))
        # the run itself is the last of its parts
        names = [*(builder.string(part.name) for part in neff.parts), builder.string(neff.name)]
        facts = [builder.pool.arg_sets.id(msgspec.json.encode(_facts(neff, at))) for at in range(len(names))]
        rows += [
            (
                _LINES.index(one.line), one.start_ns, one.dur_ns, one.nbytes, names[one.part],
                facts[one.part] if one.line == EXECUTIONS else 0,
            )
            for one in intervals
        ]  # fmt: skip
    return _Templates(np.array(sizes, np.int64), *np.array(rows, np.int64).reshape(-1, 6).T)


def _facts(neff: Neff, position: int) -> dict[str, object]:
    """What the slice of a run (beyond the last part) or of an operator in it says."""
    parts = neff.parts if position == len(neff.parts) else neff.parts[position : position + 1]
    longest = max(parts, key=lambda part: part.time.ns)
    return {
        "neff": neff.key,
        "estimate": UNCERTAINTY,
        "bound": longest.time.bound,
        "rule": longest.work.rule,
        "generic_rule": any(part.work.generic for part in parts),
        "read_bytes": sum(part.work.read_bytes for part in parts),
        "written_bytes": sum(part.work.written_bytes for part in parts),
        "operators": sum(len(part.members) for part in parts),
    }


def _add_bandwidth(builder: TraceBuilder, tracks: DeviceTracks, ts_ns: Array, dur_ns: Array, nbytes: Array) -> None:
    if len(ts_ns):
        steps = Steps(int(ts_ns.min()), int((ts_ns + dur_ns).max()))
        steps.add(ts_ns, dur_ns, nbytes)
        times, level = steps.points()
        track = tracks.counter(CORE, "HBM throughput", "B/s")
        builder["counters"].append(ts_ns=times, track=track, value=level * 1e9)
