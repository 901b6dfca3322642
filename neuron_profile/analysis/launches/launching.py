"""Which host slice launched which device slice."""

from __future__ import annotations

import numpy as np

from neuron_profile.analysis.derived import kept_with_the_trace
from neuron_profile.analysis.sides import DEVICE, HOST, side_of_slices
from trace_format import CATEGORIES, Trace

Array = np.ndarray

_RUNTIME, _HOST_OP = CATEGORIES.index("runtime"), CATEGORIES.index("host_op")
# Keys may span this many times as many numbers as there are slices to be joined by a table of all of them.
_SPARSEST = 8


@kept_with_the_trace
def launching_slice(trace: Trace) -> Array:
    """For each slice of the device the row of the host slice that launched it, shape `(n,) int64`; else -1.

    By correlation with a runtime call first, then by the external id it shares with a host op. Ids are compared
    within one rank.
    """
    slices = trace.slices
    launched_by = np.full(len(slices), -1, np.int64)
    side = side_of_slices(trace)
    device, host = np.flatnonzero(side == DEVICE), side == HOST
    if len(device) == 0:
        return launched_by
    rank = trace.tracks.rank.astype(np.int64)
    for ids, category in ((slices.correlation, _RUNTIME), (slices.external_id, _HOST_OP)):
        effects = device[(launched_by[device] < 0) & (ids[device] > 0)]
        if len(effects) == 0:
            continue
        causes = np.flatnonzero(host & (slices.category == category))
        causes = causes[ids[causes] > 0]
        cause_of = _match(
            (rank[slices.track[causes]], ids[causes]), (rank[slices.track[effects]], ids[effects])
        )  # fmt: skip
        known = cause_of >= 0
        launched_by[effects[known]] = causes[cause_of[known]]
    return launched_by


def _match(causes: tuple[Array, Array], effects: tuple[Array, Array]) -> Array:
    """For each effect the first cause with the same rank and id, -1 for none; ids are positive."""
    if len(causes[0]) == 0 or len(effects[0]) == 0:
        return np.full(len(effects[0]), -1, np.int64)
    least = min(int(causes[0].min()), int(effects[0].min()))
    ranks = max(int(causes[0].max()), int(effects[0].max())) - least + 1
    smallest = min(int(causes[1].min()), int(effects[1].min()))
    ids = max(int(causes[1].max()), int(effects[1].max())) - smallest + 1
    if ranks * ids <= _SPARSEST * (len(causes[0]) + len(effects[0])):
        first = np.full(ranks * ids, -1, np.int32 if len(causes[0]) < 1 << 31 else np.int64)
        key = (causes[0] - least) * ids + (causes[1] - smallest)
        first[key[::-1]] = np.arange(len(key) - 1, -1, -1)  # of several the last one written stays: the first cause
        return first[(effects[0] - least) * ids + (effects[1] - smallest)]
    rank = np.unique(np.concatenate([causes[0], effects[0]]), return_inverse=True)[1]
    distinct, number = np.unique(np.concatenate([causes[1], effects[1]]), return_inverse=True)
    both = rank * len(distinct) + number
    cause_keys, effect_keys = both[: len(causes[0])], both[len(causes[0]) :]
    order = np.argsort(cause_keys, kind="stable")
    at = np.minimum(np.searchsorted(cause_keys[order], effect_keys), len(order) - 1)
    return np.where(cause_keys[order][at] == effect_keys, order[at], -1)
