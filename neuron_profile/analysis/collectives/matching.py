"""Which spans of several ranks are one collective."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuron_profile.analysis.collectives.spans import Spans

Array = np.ndarray

# In these no rank is done before the last has come. Others have a root, which the trace does not name.
ALL_WAIT_FOR_ALL = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "barrier")
_POINT_TO_POINT = ("send", "recv", "send_recv")  # not one call of all ranks, and numbered apart


@dataclass(frozen=True, slots=True, eq=False)
class Matches:
    """The collectives that spans are of.

    - `of_span` `(n,) int64`: the instance; a span that is matched with none is one of its own.
    - `ranks` `(m,) int64`: how many ranks of it are in the trace.
    - `complete` `(m,) bool`: the trace has the work of all its ranks, several, and none is done before the last comes.
    - `unmatched`: how many spans have no numbers to be matched by, and ranks that made more or fewer of them.
    """

    of_span: Array
    ranks: Array
    complete: Array
    unmatched: int

    def __len__(self) -> int:
        return len(self.ranks)


def matches(spans: Spans) -> Matches:
    """The spans matched by group, operation and sequence number.

    Where there are no numbers, by their order within group and operation, if all ranks made as many of them. Calls
    from one rank to another are not matched.
    """
    kind = _number(spans.groups.of_row, spans.op)
    key = _number(kind, spans.seq)
    place = _place_in_order(_number(key, spans.rank), spans.order_ns)
    uneven = _uneven(spans, kind)
    alone = uneven | np.isin(spans.op, _codes(spans, _POINT_TO_POINT)) | (spans.rank < 0)
    of_span = _number(key, place)
    of_span[alone] = len(spans) + np.arange(int(alone.sum()))
    _, of_span = np.unique(of_span, return_inverse=True)
    ranks = np.bincount(of_span)
    return Matches(of_span, ranks, _complete(spans, of_span, ranks), int(uneven.sum()))


def _number(*columns: Array) -> Array:
    """Rows that agree in all columns get the same number, `(n,) int64`."""
    out = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        _, code = np.unique(column, return_inverse=True)
        _, out = np.unique(out * (int(code.max(initial=0)) + 1) + code, return_inverse=True)
    return out


def _place_in_order(key: Array, order_ns: Array) -> Array:
    """The place of each row among those of its key, from 0, by time."""
    order = np.lexsort((order_ns, key))
    in_order = key[order]
    first = np.flatnonzero(np.r_[True, in_order[1:] != in_order[:-1]][: len(key)])
    lengths = np.diff(np.r_[first, len(key)])
    place = np.zeros(len(key), np.int64)
    place[order] = np.arange(len(key)) - np.repeat(first, lengths)
    return place


def _uneven(spans: Spans, kind: Array) -> Array:
    """Whether each span has no number and other ranks made more or fewer of its kind without one."""
    unnumbered = np.flatnonzero(spans.seq < 0)
    out = np.zeros(len(spans), bool)
    if not len(unnumbered):
        return out
    pairs, count = np.unique(
        np.stack([kind[unnumbered], spans.rank[unnumbered]], axis=1), axis=0, return_counts=True
    )  # fmt: skip
    kinds = int(pairs[:, 0].max()) + 1
    fewest, most = np.full(kinds, np.iinfo(np.int64).max), np.zeros(kinds, np.int64)
    np.minimum.at(fewest, pairs[:, 0], count)
    np.maximum.at(most, pairs[:, 0], count)
    out[unnumbered] = (fewest != most)[kind[unnumbered]]
    return out


def _complete(spans: Spans, of_span: Array, ranks: Array) -> Array:
    """Of each instance, whether all its ranks are there with their work and wait for each other."""
    wanted = np.zeros(len(ranks), np.int64)
    np.maximum.at(wanted, of_span, spans.ranks)
    in_trace = len(np.unique(spans.rank))
    good = spans.timed & np.isin(spans.op, _codes(spans, ALL_WAIT_FOR_ALL))
    bad = np.bincount(of_span[~good], minlength=len(ranks)) > 0
    complete: Array = ~bad & (ranks > 1) & (ranks == np.where(wanted > 0, wanted, in_trace))
    return complete


def _codes(spans: Spans, names: tuple[str, ...]) -> list[int]:
    return [code for code, text in enumerate(spans.ops) if text in names]
