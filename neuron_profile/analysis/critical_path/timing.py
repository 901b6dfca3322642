"""When what a graph waits for was ready: the lags with which all moments come out as they were recorded."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from neuron_profile.analysis.critical_path.graph import LAUNCH

Array = np.ndarray


@dataclass(frozen=True, slots=True)
class Edges:
    """Edges of a graph as columns `(n,) int64`, as in `Graph`."""

    source: Array
    target: Array
    label: Array
    first: Array
    last: Array
    lag_ns: Array


@dataclass(slots=True)
class EdgeList:
    """Collects edges."""

    _columns: list[tuple[Array, ...]] = field(default_factory=list)

    def add(
        self, source: Array, target: Array, label: int, first: Array | None = None, last: Array | None = None
    ) -> None:
        """Edges over the pieces [first, last), none without. Those from or to a node -1 are left out."""
        none = np.zeros(len(source), np.int64)
        columns = (source, target, none + label, none if first is None else first, none if last is None else last)
        good = (source >= 0) & (target >= 0)
        self._columns.append(tuple(np.asarray(one, np.int64)[good] for one in columns))

    def timed(self, at_ns: Array, order: Array, work_ns: Array, launch_ns: int) -> tuple[Edges, Array, int]:
        """The edges with their lags; for each node the edge that was ready last, -1 for none; how many contradict.

        `launch_ns` is the least that a launch takes. An edge contradicts what was recorded if its target came before it
        was ready, or is no later in `order`.
        """
        source, target, label, first, last = (np.concatenate(one) for one in zip(*self._columns, strict=True))
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        up_to = np.r_[0, np.cumsum(work_ns)]
        spare_ns = at_ns[target] - at_ns[source] - (up_to[last] - up_to[first])
        good = (spare_ns >= 0) & (place[source] < place[target])
        source, target, label, first, last, spare_ns = (
            one[good] for one in (source, target, label, first, last, spare_ns)
        )
        lag_ns = np.where(label == LAUNCH, np.minimum(launch_ns, spare_ns), 0)
        binding = np.full(len(at_ns), -1, np.int64)
        # ready last is what has the least to spare; what is written last stays
        by_ready = np.lexsort((-label, lag_ns - spare_ns))
        binding[target[by_ready]] = by_ready
        bound = binding[binding >= 0]
        lag_ns[bound] = spare_ns[bound]
        return Edges(source, target, label, first, last, lag_ns), binding, int((~good).sum())
