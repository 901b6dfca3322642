"""What the links between the ranks of a group can carry."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from neuron_profile.hardware.links import link_bytes_per_s
from neuron_profile.hardware.peaks import peaks_of
from trace_format import Trace

# Operations that go around a ring, each link of which carries the bus bandwidth.
_IN_RINGS: Final = ("all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce")
_UNKNOWN = math.nan


def link_rates(trace: Trace, ops: Sequence[str], ranks: Sequence[int]) -> list[float]:
    """The rate one way of the slowest link between the ranks of each operation, in bytes per second; NaN: unknown.

    Known for Neuron devices and for what goes around a ring. A group is taken to fill chips before it takes the next.
    """
    model = trace.metadata.get("device_model")
    peaks = peaks_of(model) if isinstance(model, str) else None
    if peaks is None:
        return [_UNKNOWN] * len(ops)
    # AWS Neuron docs, "Logical NeuronCore configuration": Trainium2 and later join two physical cores, or do not
    may_be = {1} if peaks.family in ("trn1", "inf2") else {1, 2}
    told = {lnc for lnc in trace.neffs.lnc.tolist() if lnc > 0} or may_be
    rates = {n: {link_bytes_per_s(peaks.family, n, lnc=lnc) for lnc in told} for n in set(ranks)}
    return [
        _UNKNOWN if op not in _IN_RINGS or len(rates[n]) > 1 else next(iter(rates[n])) or _UNKNOWN
        for op, n in zip(ops, ranks, strict=True)
    ]
