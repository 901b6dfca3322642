"""The moments of a graph anew, with other durations of its pieces."""

from __future__ import annotations

import numpy as np

from neuron_profile.analysis.critical_path.graph import Graph

Array = np.ndarray


def resimulated(graph: Graph, work_ns: Array) -> Array:
    """When each node comes if the pieces take `work_ns` `(pieces,) int64`; `(nodes,) int64`.

    A node comes when all its edges are ready; one that waits for nothing recorded comes when it did. With the
    durations of the graph itself every node comes when it did. One step of a loop for each edge of the window.
    """
    up_to = np.r_[0, np.cumsum(work_ns)]
    weight = graph.lag_ns + up_to[graph.last] - up_to[graph.first]
    by_target = np.argsort(graph.target, kind="stable")
    begins = np.searchsorted(graph.target[by_target], np.arange(len(graph.at_ns) + 1)).tolist()
    sources, weights = graph.source[by_target].tolist(), weight[by_target].tolist()
    at = graph.at_ns.tolist()
    for node in graph.order.tolist():
        first, last = begins[node], begins[node + 1]
        if last - first == 1:
            at[node] = at[sources[first]] + weights[first]
        elif last > first:
            at[node] = max(at[sources[i]] + weights[i] for i in range(first, last))
    return np.array(at, np.int64)


def window_end_ns(graph: Graph, at_ns: Array, work_ns: Array) -> int:
    """When the window ends if its nodes come at `at_ns`: what was recorded after the last of them is added."""
    counts = np.flatnonzero(graph.counts & (graph.ends >= 0))
    if len(counts) == 0:
        return graph.window.end_ns
    piece = graph.end_piece[counts]
    of_work = np.r_[work_ns, 0][piece]  # of a thread's end: nothing beyond its node
    own = np.r_[graph.pieces.work_ns, 0][piece]
    before = int((graph.at_ns[graph.ends[counts]] + own).max())
    return int((at_ns[graph.ends[counts]] + of_work).max()) + graph.window.end_ns - before
