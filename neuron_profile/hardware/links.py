"""How long a collective takes between NeuronCores: a model of links, far less sure than that of a core."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

_MB: Final = 10**6
# AWS Neuron docs, "Intra-node collective communications": messages below 1 MB go by Mesh, to 56 MB by RDH
_MESH_BELOW, _RDH_UP_TO = 1 * _MB, 56 * _MB
_STEP_NS = 1500.0  # AWS Neuron docs, the same page: 1 to 2 us a step inside a node
_EFA_STEP_NS = 15_000.0  # AWS Neuron docs, "Inter-node collective communications": about 15 us across EFA
# Inferred: the documents show 24 us (all_gather, 32 ranks), 58 us (all_reduce, 2 ranks) and more.
_OP_NS = 20_000.0
# Worked out from AWS's nccom-test example (all_reduce, 2 ranks): 57 GB/s where a chip's links have 384.
_PAIR_EFFICIENCY, _RING_EFFICIENCY = 0.15, 0.5


@dataclass(frozen=True, slots=True)
class Links:
    """What connects a chip: bytes per ns one way, physical cores of a chip, chips of an instance; EFA per instance."""

    chip_rate: float
    cores_per_chip: int
    chips: int
    efa_rate: float


# AWS Neuron docs, the architecture page of each: NeuronLink per chip, of which half is taken to be one direction
# (inferred); EFA in Gb/s. Trainium3's pages disagree: its table's 2048 GB/s is taken.
_LINKS: Final = {
    "trn1": Links(384 / 2, 2, 16, 800 / 8),
    "inf2": Links(192 / 2, 2, 12, 100 / 8),
    "trn2": Links(1024 / 2, 8, 16, 3200 / 8),
    "trn3": Links(2048 / 2, 8, 16, 3200 / 8),
}
_ALL_REDUCE = frozenset({"all_reduce"})
_PARTS = frozenset({"all_gather", "reduce_scatter", "all_to_all", "gather", "scatter"})
_NO_DATA = frozenset({"barrier"})


def collective_ns(generation: str, op: str, nbytes: int, ranks: int, *, lnc: int = 1) -> float:
    """Estimated ns of a collective of `ranks` logical cores; `nbytes` is the larger of what goes in and comes out.

    latency + share x bytes / bandwidth, the share as in nccl-tests: 2(N-1)/N for all_reduce, (N-1)/N for gathers and
    scatters, 1 otherwise. Beyond one instance the slower link holds.
    """
    links = _LINKS[generation]
    ranks = max(ranks, 2)
    per_chip = max(links.cores_per_chip // lnc, 1)
    across = ranks > per_chip * links.chips
    share = 2 * (ranks - 1) / ranks if op in _ALL_REDUCE else (ranks - 1) / ranks if op in _PARTS else 1.0
    if op in _NO_DATA:
        nbytes, share = 0, 0.0
    efficiency = _PAIR_EFFICIENCY if ranks == 2 else _RING_EFFICIENCY
    chips = math.ceil(ranks / per_chip)
    rate = links.chip_rate * efficiency / math.ceil(ranks / chips)  # shared by the ranks of a chip
    if ranks == 2:
        rate = links.chip_rate * 2 * efficiency
    steps = _steps(op, nbytes, ranks)
    latency = _OP_NS + steps * _STEP_NS
    if across:
        instances = math.ceil(ranks / (per_chip * links.chips))
        rate = min(rate, links.efa_rate / (per_chip * links.chips))
        latency += (instances - 1) * _EFA_STEP_NS
    return latency + share * nbytes / rate


def link_bytes_per_s(generation: str, ranks: int, *, lnc: int = 1) -> float | None:
    """Bytes per second that the slowest link between `ranks` logical cores carries one way.

    What a bus bandwidth is a share of: that of a chip's links; beyond one instance that of its EFA, if it is less. None
    within a chip, for less than two ranks and for a generation that is not known.
    """
    links = _LINKS.get(generation)
    per_chip = max(links.cores_per_chip // lnc, 1) if links else 1
    if links is None or ranks <= per_chip:
        return None
    across = ranks > per_chip * links.chips
    return (min(links.chip_rate, links.efa_rate) if across else links.chip_rate) * 1e9


def _steps(op: str, nbytes: int, ranks: int) -> float:
    """Messages that wait for each other: Mesh, RDH or KangaRing by the size of the message."""
    if nbytes < _MESH_BELOW:
        return 2.0 if op in _ALL_REDUCE else 1.0
    return math.log2(ranks) if nbytes <= _RDH_UP_TO else ranks / 2
