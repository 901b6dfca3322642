"""Flows between the parts of a session: from the framework's calls to the runtime's, from executions to their runs."""

from __future__ import annotations

import numpy as np

from trace_format.importers.neuron_system.activity import SEQUENCE
from trace_format.tables import CATEGORIES
from trace_format.trace import Trace

Array = np.ndarray

RUN = "execution"  # the kind of a flow from where the host saw an execution to the device's own slice of it
REQUEST = SEQUENCE
_RUNTIME = CATEGORIES.index("runtime")
_IN_ORDER_RATIO = 0.9  # two numberings that have nothing to do with each other are in order half of the time


def request_links(host: Trace, system: Trace, moved_by_ns: int = 0) -> tuple[Array, Array] | None:
    """The rows of the framework's calls in `host` and of the runtime's in `system` that answer them, `(n,) int64`.

    A call of category `runtime` hands over under its correlation, the runtime works under nrta_seq_id. That both
    number alike is told nowhere. None where they seem not to: fewer than nine of ten answers begin after their calls.
    """
    causes, cause_ids = _first_of_each(host, host.slices.category == _RUNTIME)
    effects, effect_ids = _first_of_each(system, np.ones(len(system.slices), bool))
    _, of_cause, of_effect = np.intersect1d(cause_ids, effect_ids, assume_unique=True, return_indices=True)
    causes, effects = causes[of_cause], effects[of_effect]
    in_order = system.slices.ts_ns[effects] + moved_by_ns >= host.slices.ts_ns[causes]
    if len(causes) and in_order.mean() < _IN_ORDER_RATIO:
        return None
    return causes[in_order], effects[in_order]


def _first_of_each(trace: Trace, wanted: Array) -> tuple[Array, Array]:
    """The first slice with each correlation, and these correlations in order."""
    slices = trace.slices
    rows = np.flatnonzero(wanted & (slices.correlation > 0))
    rows = rows[np.argsort(slices.ts_ns[rows], kind="stable")]
    ids, first = np.unique(slices.correlation[rows], return_index=True)
    return rows[first], ids
