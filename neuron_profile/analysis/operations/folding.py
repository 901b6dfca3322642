"""The largest nodes of a tree, and the rest of them added up under their parents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuron_profile.analysis.operations.call_paths import Paths

Array = np.ndarray


@dataclass(frozen=True, slots=True)
class Folded:
    """Which nodes of a tree are kept, and under which the others are added up.

    - `nodes`: those that are kept, a parent before its children, larger ones first.
    - `parent`, `depth`: of each sum of others: the kept node it lies under (-1: none), and where that places it.
    - `sizes`: of each node of the tree, it and all below it.
    - `folded`: nodes that are not kept and whose parent is; `sum_of` tells which of the sums each goes into.
    """

    nodes: Array
    parent: Array
    depth: Array
    sizes: Array
    folded: Array
    sum_of: Array

    def added(self, values: Array) -> Array:
        """Of each sum of others the sum of the values, which nodes have, of those that it stands for."""
        out = np.zeros(len(self.parent), np.int64)
        np.add.at(out, self.sum_of, values[self.folded])
        return out


def folded(nodes: Paths, host_ns: Array, device_ns: Array, most: int) -> Folded:
    """The nodes with the largest share of the one time or the other, so many that with the sums there are `most`.

    Neither time of a node exceeds that of its parent.
    """
    share = host_ns / max(int(host_ns.max(initial=0)), 1) + device_ns / max(int(device_ns.max(initial=0)), 1)
    order = np.argsort(-share, kind="stable")  # of equal nodes the parent is first, as in `nodes`
    rank = np.empty(len(nodes), np.int64)
    rank[order] = np.arange(len(nodes))
    above = nodes.parent + 1  # 0: the root of roots
    last_child = np.full(len(nodes) + 1, -1, np.int64)
    np.maximum.at(last_child, above, rank)
    # keeping one more node adds it, adds the sum of its children, and takes away that of its siblings with the last
    rows = 1 + (last_child[1:] >= 0) - (last_child[above] == rank)
    together = np.cumsum(rows[order]) + 1
    kept = int(np.searchsorted(together, most, "right"))
    is_kept = rank < kept
    rest = np.flatnonzero(~is_kept & ((nodes.parent < 0) | is_kept[nodes.parent])) if len(nodes) else order
    parent, sum_of = np.unique(nodes.parent[rest], return_inverse=True)
    depth = np.where(parent >= 0, nodes.depth[parent] + 1, 0) if len(nodes) else parent
    sizes = nodes.with_all_below(np.ones(len(nodes), np.int64))
    return Folded(order[:kept], parent, depth, sizes, rest, sum_of)
