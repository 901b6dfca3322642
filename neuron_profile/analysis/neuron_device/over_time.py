"""What the engines and DMA did over the time of a run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuron_profile.analysis.bandwidth.spreading import spread
from neuron_profile.analysis.intervals import covered
from neuron_profile.analysis.neuron_device.queues import dma_queues
from neuron_profile.analysis.neuron_device.runs import Rows, Run
from neuron_profile.analysis.neuron_device.sums import DMA_CLASSES, ENGINES, dma_class_of, engine_of
from neuron_profile.analysis.neuron_device.waits import is_wait, waits
from trace_format import Trace
from trace_format.importers.neuron_device.engines import ENGINES as NAMES

Array = np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class OverTime:
    """A run cut into bins of equal time.

    - `edges_ps`: `(bins + 1,) int64` since the run began. They reach to the end of its last row, which for old
      profiles lies behind the run's.
    - `active_ratio`: the share of each bin in which an engine did work, by (physical core, engine); `(bins,) float64`.
    - `waiting_ratio`: the share in which it did no work while an instruction of it waited, of those that waited at all.
    - `queue_ratio`: the share in which any packet of a DMA queue was under way, by (physical core, queue), most bytes
      first.
    - `dma_bytes_per_s`: by class of DMA ("static", "software_dynamic", "hardware_dynamic"), those that moved anything.
    """

    edges_ps: Array
    active_ratio: dict[tuple[int, str], Array]
    waiting_ratio: dict[tuple[int, str], Array]
    queue_ratio: dict[tuple[int, str], Array]
    dma_bytes_per_s: dict[str, Array]


def over_time(trace: Trace, run: Run, bins: int = 400) -> OverTime:
    """A run in `bins` parts, fewer where it has fewer picoseconds. Raises ValueError for fewer than one."""
    if bins < 1:
        raise ValueError(f"a run is cut into at least one bin, not {bins}")
    rows, packets = run.instructions, run.packets
    end = max(run.total_ps, int(rows.end_ps.max(initial=0)), int(packets.end_ps.max(initial=0)) + 1)
    edges = _edges(end, min(bins, end))
    width = np.diff(edges)
    engine, core = engine_of(trace, rows), run.track_core[rows.track]
    works, waited = ~is_wait(trace, rows), waits(trace, run)
    active, waiting = {}, {}
    for number in np.unique(core[engine >= 0]).tolist():
        for name in NAMES:
            mine = (core == number) & (engine == ENGINES.index(name.lower()))
            busy = rows.where(mine & works)
            inside = covered(edges, busy.start_ps, busy.end_ps)
            active[number, name] = inside / width
            either = covered(
                edges, np.r_[busy.start_ps, waited.start_ps[mine]], np.r_[busy.end_ps, waited.end_ps[mine]]
            )  # fmt: skip
            if (either > inside).any():
                waiting[number, name] = (either - inside) / width
    of_class, rates = dma_class_of(trace, packets), {}
    for place, name in enumerate(DMA_CLASSES):
        mine = packets.where(of_class == place)
        if len(mine):
            rates[name] = _moved(trace, mine, edges) / width * 1e12
    return OverTime(edges, active, waiting, _queues(trace, run, edges), rates)


def _queues(trace: Trace, run: Run, edges: Array) -> dict[tuple[int, str], Array]:
    found: dict[tuple[int, str], Array] = {}
    frame, name, core = dma_queues(trace, run), trace.slices.name[run.packets.slice], run.track_core[run.packets.track]
    for number, queue in zip(frame["core"].tolist(), frame["queue"].tolist(), strict=True):
        mine = run.packets.where((core == number) & (name == trace.pool.strings.find(queue)))
        found[number, queue] = covered(edges, mine.start_ps, mine.end_ps) / np.diff(edges)
    return found


def _edges(end: int, bins: int) -> Array:
    return np.array([end * number // bins for number in range(bins + 1)], np.int64)


def _moved(trace: Trace, packets: Rows, edges: Array) -> Array:
    return spread(edges, packets.start_ps, packets.dur_ps, np.maximum(trace.slices.bytes[packets.slice], 0))
