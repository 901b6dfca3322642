"""The work of a window as a graph: what had to be done before what."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuron_profile.analysis.critical_path.window import Window

Array = np.ndarray

# Of edges that are ready at the same moment the first of these is taken for the cause.
SYNC, EVENT, STREAM, LAUNCH, THREAD, ORDER, GUESS = range(7)


@dataclass(frozen=True, slots=True)
class Pieces:
    """Pieces of the host's threads, in order of (thread, time), then the work of the devices; columns `(n,) int64`.

    `work_ns` is how long each takes where nothing makes it wait: its length, 0 for a wait.
    """

    start_ns: Array
    end_ns: Array
    row: Array
    kind: Array
    work_ns: Array


@dataclass(frozen=True, slots=True)
class Graph:
    """Moments (nodes) and what each had to wait for (edges); all columns are int64.

    - `at_ns` `(nodes,)`: a moment of a thread, or the start of a device's work. `order` puts each behind its causes.
    - `source`, `target`, `label` `(edges,)`: the target comes no earlier than the source and `lag_ns` and the work of
      the pieces [`first`, `last`). `binding` `(nodes,)`: the edge that was ready last, -1 where nothing was before.
    - `ends`, `end_piece` `(ends,)`: where a thread ended (its last node, -1), and where each work of a device did (its
      node and its piece). `counts`: whether the window lasts until then; `weights`: of what ends at one moment, the
      work of a device is taken for what the window ended with, then the thread with most pieces.
    - `works`: how many works of devices there are; they are the last nodes and the last pieces, in the same order.
    - `notes`: how many of what is not in the graph.
    """

    window: Window
    pieces: Pieces
    at_ns: Array
    order: Array
    source: Array
    target: Array
    label: Array
    lag_ns: Array
    first: Array
    last: Array
    binding: Array
    ends: Array
    end_piece: Array
    counts: Array
    weights: Array
    works: int
    notes: dict[str, int]
