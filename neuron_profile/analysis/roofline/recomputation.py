"""Which operators only repeat, during the backward pass, what the forward pass had worked out."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from neuron_profile.analysis.launches.enclosing import Enclosing
from neuron_profile.analysis.sides import HOST, side_of_slices
from trace_format import CATEGORIES, Trace

Array = np.ndarray

_HOST_OP = CATEGORIES.index("host_op")
# torch/csrc/autograd/engine.cpp; the node of a graph that torch.compile made: torch/_functorch/_aot_autograd
_NODE = "autograd::engine::evaluate_function: "
_COMPILED = re.compile(r"CompiledFunctionBackward|CompiledAutograd")


@dataclass(frozen=True, slots=True)
class Recomputation:
    """Flags of every slice, `(n,) bool`, and of every rank.

    - `repeats`: operators of a forward pass that ran inside the backward pass.
    - `untold`: for ranks of which this cannot be told, why.
    """

    repeats: Array
    untold: dict[int, str]


def recomputation(trace: Trace) -> Recomputation:
    """What of the recorded work is recomputation, as activation checkpointing does it.

    Autograd gives a sequence number to an operator only while it records the graph (at::sequence_number, set by torch's
    dispatcher). The backward pass records none, so an operator that has a number inside one of its nodes is a forward
    pass again (or a derivative of a derivative, which looks the same). A backward pass that torch.compile made, or one
    without any sequence numbers, does not tell.
    """
    slices, strings = trace.slices, trace.pool.strings.values
    is_node, is_compiled = np.zeros(len(strings), bool), np.zeros(len(strings), bool)
    for number, text in enumerate(strings):
        if text.startswith(_NODE):
            is_node[number], is_compiled[number] = True, _COMPILED.search(text) is not None
    repeats = np.zeros(len(slices), bool)
    if not is_node.any():
        return Recomputation(repeats, {})
    operators = (slices.category == _HOST_OP) & (side_of_slices(trace) == HOST)
    nodes = np.flatnonzero(is_node[slices.name] & operators)
    untold: dict[int, str] = {}
    if len(nodes) == 0:
        return Recomputation(repeats, untold)
    numbered = np.flatnonzero(operators & (slices.sequence_number >= 0))
    inside = numbered[Enclosing(slices, nodes).innermost(numbered) >= 0]
    aten = np.array([text.startswith("aten::") for text in strings], bool)
    repeats[inside[aten[slices.name[inside]]]] = True
    rank = trace.tracks.rank[slices.track].astype(np.int64)
    with_numbers = set(np.unique(rank[numbered]).tolist())
    compiled = set(np.unique(rank[nodes[is_compiled[slices.name[nodes]]]]).tolist())
    for one in np.unique(rank[nodes]).tolist():
        if one in compiled:
            untold[one] = "a compiled backward pass does not tell what it recomputes"
        elif one not in with_numbers:
            untold[one] = "its operators have no sequence numbers, which tell what the backward pass recomputes"
    return Recomputation(repeats, untold)
