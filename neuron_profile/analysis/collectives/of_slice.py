"""The collective that one slice is a rank's part of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuron_profile.analysis.arguments import slice_row
from neuron_profile.analysis.collectives.each import collective_spans
from neuron_profile.analysis.collectives.message import bus_factor
from trace_format import Trace

_NS_PER_S = 1e9


@dataclass(frozen=True, slots=True)
class SliceCollective:
    """A rank's part of a collective; "", -1 and NaN are unknown.

    - `op`, `message_bytes` (S of nccl-tests, the whole array), `group`, `ranks`: of the collective.
    - `exposed_ns`, `wait_ns` (how long it waited for the last rank), `late_ns` (how long after the first rank it came).
    - `busbw_bytes_per_s`: message / the shortest of its parts, which waited least, x the factor of nccl-tests.
    """

    op: str
    message_bytes: int
    group: str
    ranks: int
    exposed_ns: int
    wait_ns: int
    late_ns: int
    busbw_bytes_per_s: float


def slice_collective(trace: Trace, row: int) -> SliceCollective | None:
    """The collective of one slice by `collective_spans`; None for a slice that stands for none there.

    Raises ValueError for a row that there is not.
    """
    row = slice_row(trace, row)
    spans = collective_spans(trace)
    found = spans[spans["slice"] == row]
    if not len(found):
        return None
    own = found.iloc[0]
    took = spans["dur_ns"][(spans["collective"] == own["collective"]) & (spans["dur_ns"] > 0)]
    size, ranks = int(own["message_bytes"]), int(own["ranks"])
    rate = size / int(took.min()) * _NS_PER_S * bus_factor(own["op"], ranks) if len(took) and size > 0 else np.nan
    return SliceCollective(
        op=own["op"], message_bytes=size, group=own["group"], ranks=ranks, exposed_ns=int(own["exposed_ns"]),
        wait_ns=int(own["wait_ns"]), late_ns=int(own["late_ns"]), busbw_bytes_per_s=rate,
    )  # fmt: skip
