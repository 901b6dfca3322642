"""Slices merged by the path of calls that leads to them: the nodes of a call tree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuron_profile.analysis.grouping import group
from neuron_profile.analysis.launches.enclosing import Enclosing
from trace_format.tables import Slices

Array = np.ndarray

# A path longer than this is of a recursion that no chart shows; each level costs a look at its slices.
_MOST_LEVELS = 256


@dataclass(frozen=True, slots=True)
class Paths:
    """Nodes in an order in which a parent comes before its children; columns `(n,) int64`.

    `parent` is -1 for none, `depth` counts from 0, `label` is what the slices of a node have in common.
    """

    parent: Array
    depth: Array
    label: Array

    def __len__(self) -> int:
        return len(self.parent)

    def and_below(self, parent: Array, label: Array, labels: int) -> tuple[Paths, Array]:
        """These nodes with those that rows of these labels (below `labels`) make under the nodes `parent`.

        Also the node of each row. A row whose parent is -1 makes a root.
        """
        groups = group((parent + 1, label), (len(self) + 1, labels))
        above = groups.values[0] - 1
        depth = np.where(above >= 0, self.depth[above] + 1, 0) if len(self) else np.zeros(len(above), np.int64)
        more = Paths(
            np.concatenate([self.parent, above]), np.concatenate([self.depth, depth]),
            np.concatenate([self.label, groups.values[1]]),
        )  # fmt: skip
        return more, groups.of_row + len(self)

    def merged(self, labels: int) -> tuple[Paths, Array]:
        """The nodes with those made one that have the same parent and label, and which of these each node is."""
        out, new_of = NO_PATHS, np.full(len(self) + 1, -1, np.int32)  # its last entry is for -1
        for level in self._levels():
            out, new_of[level] = out.and_below(new_of[self.parent[level]], self.label[level], labels)
        return out, new_of

    def with_all_below(self, numbers: Array) -> Array:
        """For each node the sum of the int64 numbers of it and all nodes below it."""
        sums = numbers.astype(np.int64)
        for level in self._levels()[:0:-1]:
            np.add.at(sums, self.parent[level], sums[level])
        return sums

    def _levels(self) -> list[Array]:
        """The nodes of each depth."""
        # no deeper than the slices that make them, whose levels 16 bits hold
        order = np.argsort(self.depth.astype(np.uint16), kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.depth))[:-1])


NO_PATHS = Paths(*(np.zeros(0, np.int64) for _ in range(3)))


def call_paths(slices: Slices, rows: Array, shown: Array, label: Array, labels: int) -> tuple[Paths, Array, Array]:
    """The nodes of the slices `rows`, which are all those of some tracks; the node of each slice, -1 for none; and
    which of the rows made one.

    Slices that are not `shown` (one bool for each slice), and those too deep in a recursion, make no node: they have
    that of the slice around them.
    """
    made = rows[shown[rows]]
    node_of = np.full(len(slices), -1, np.int32)
    level = _levels(slices)[rows]
    deep = rows[level >= _MOST_LEVELS]
    if len(deep):
        rows, level = rows[level < _MOST_LEVELS], level[level < _MOST_LEVELS]
        made = rows[shown[rows]]
    order = np.argsort(level.astype(np.uint16), kind="stable")  # numpy sorts what 16 bits hold by counting
    nodes = NO_PATHS
    for places in np.split(order, np.cumsum(np.bincount(level))[:-1]):
        here = rows[places]
        around = slices.parent[here]
        above = np.where(around >= 0, node_of[around], -1)
        some = shown[here]
        node_of[here[~some]] = above[~some]
        here = here[some]
        nodes, node_of[here] = nodes.and_below(above[some], label[here], labels)
    # calls by one path are of several levels where slices between them make no node
    merged, new_of = nodes.merged(labels)
    if len(merged) < len(nodes):
        nodes, node_of = merged, new_of[node_of]
    if len(deep):
        shallow = np.zeros(len(slices), bool)
        shallow[rows] = True
        node_of[deep] = node_of[Enclosing(slices, np.flatnonzero(shallow)).innermost(deep)]
    return nodes, node_of, made


def _levels(slices: Slices) -> Array:
    """A number for each slice that is greater than that of its parent; where it reaches `_MOST_LEVELS`, its ancestors.

    The line it is drawn on does, and costs nothing, unless slices overlap so much that there are very many lines.
    """
    if len(slices) == 0 or int(slices.depth.max()) < _MOST_LEVELS:
        return slices.depth
    up, level = np.array(slices.parent), (slices.parent >= 0).astype(np.int64)
    while (inner := np.flatnonzero(up >= 0)).size:
        level[inner] += level[up[inner]]
        up[inner] = up[up[inner]]
    return level
