"""What the engines and DMA did over the time of a run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuron_profile.analysis.intervals import covered
from neuron_profile.analysis.neuron_device.runs import Rows, Run
from neuron_profile.analysis.neuron_device.sums import DMA_CLASSES, ENGINES, dma_class_of, engine_of
from neuron_profile.analysis.neuron_device.waits import is_wait
from neuron_profile.analysis.spreading import spread
from trace_format import Trace
from trace_format.importers.neuron_device.engines import ENGINES as NAMES

Array = np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class OverTime:
    """A run cut into bins of equal time.

    - `edges_ps`: `(bins + 1,) int64` since the run began. They reach to the end of its last row, which for old
      profiles lies behind the run's.
    - `active_ratio`: the share of each bin in which an engine did work, by (physical core, engine); `(bins,) float64`.
    - `dma_bytes_per_s`: by class of DMA ("static", "software_dynamic", "hardware_dynamic"), those that moved anything.
    """

    edges_ps: Array
    active_ratio: dict[tuple[int, str], Array]
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
    works = ~is_wait(trace, rows)
    active = {}
    for number in np.unique(core[engine >= 0]).tolist():
        for name in NAMES:
            mine = rows.where((core == number) & (engine == ENGINES.index(name.lower())) & works)
            active[number, name] = covered(edges, mine.start_ps, mine.end_ps) / width
    of_class, rates = dma_class_of(trace, packets), {}
    for place, name in enumerate(DMA_CLASSES):
        mine = packets.where(of_class == place)
        if len(mine):
            rates[name] = _moved(trace, mine, edges) / width * 1e12
    return OverTime(edges, active, rates)


def _edges(end: int, bins: int) -> Array:
    return np.array([end * number // bins for number in range(bins + 1)], np.int64)


def _moved(trace: Trace, packets: Rows, edges: Array) -> Array:
    return spread(edges, packets.start_ps, packets.dur_ps, np.maximum(trace.slices.bytes[packets.slice], 0))
