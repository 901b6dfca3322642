"""The calls of a trace as a tree: which module called which operator, and what that launched on the device."""

from __future__ import annotations

import numpy as np
import pandas as pd

from neuron_profile.analysis.launches.host_slices import host_slice
from neuron_profile.analysis.operations.attribution import MODULE, NO_LAUNCH
from neuron_profile.analysis.operations.call_paths import Paths, call_paths
from neuron_profile.analysis.operations.folding import Folded, folded
from neuron_profile.analysis.operations.own_time import own_time_ns
from neuron_profile.analysis.sides import ANNOTATION, DEVICE, HOST, SIDES, side_of_slices
from trace_format import CATEGORIES, Trace

Array = np.ndarray

CALL_TREES = ("module", "call")
MOST_NODES = 2000
OTHER_CALLS = "(other)"
_PYTHON, _HOST_OP = CATEGORIES.index("python"), CATEGORIES.index("host_op")
_TIMES = ("total_ns", "self_ns", "device_total_ns", "device_self_ns")


def call_tree(
    trace: Trace,
    *,
    by: str = "module",
    rank: int | None = None,
    track: int | None = None,
    most_nodes: int = MOST_NODES,
) -> pd.DataFrame:
    """A row for each node of the call tree, for an icicle: calls that come by the same path are one node.

    `by` is one of `CALL_TREES`: module (nn.Modules, in them operators, in these what they launched on the device) or
    call (every call on the host, and what it launched). Annotations make no nodes. `rank` takes the threads of one
    rank alone, `track` those of one track. There are at most `most_nodes` rows, those of the smallest share of the
    host's and the device's time being added up in one row under their parent, called `OTHER_CALLS`.

    Columns: name; category; side ("device" for what was launched, else "host"); parent (a row, -1 for none); depth;
    count (slices); total_ns and self_ns of the host (the time of all calls by this path, and that of it outside the
    calls shown below; device rows have none of it); device_total_ns (of all work launched by this path) and
    device_self_ns (of this row; host rows have none); folded (how many nodes were added up, else 0). A parent's row
    comes before those of its children, larger shares first; the totals of the children of a row and its self time add
    up to its total, exactly. Where calls overlap in part, each has the time of its own. What did not finish counts in
    `count` alone. Work of the device is found as in `hotspots`; what is not known of lies under one root.

    `attrs`: host_ns and device_ns (the sums over all roots), outside_ns (time of the host in slices that no node
    shows, by module: Python outside of modules), unattributed_ns (device work under no call), nodes (all there are).
    A trace, rank or track without work gives an empty frame with the same columns.

    Raises ValueError for an unknown `by`, or where not even one row is allowed.
    """
    if by not in CALL_TREES:
        raise ValueError(f"cannot make a call tree by {by!r}: choose one of {', '.join(CALL_TREES)}")
    if most_nodes < 1:
        raise ValueError(f"a call tree of at most {most_nodes} nodes shows nothing: allow 1 or more")
    slices, strings = trace.slices, trace.pool.strings.values
    chosen = _chosen(trace, rank, track)
    own_ns = own_time_ns(trace)
    rows, names = np.flatnonzero(chosen & (side_of_slices(trace) == HOST)), len(strings)
    nodes, node_of, made = call_paths(slices, rows, _shown(trace, by), slices.name, names)
    on_host = len(nodes)
    launched, under = _launched(trace, chosen, node_of, whole_rank=track is None)
    known = under > _NO_LAUNCH
    if not known.all():
        nodes, _ = nodes.and_below(np.array([-1]), np.array([names]), names + 1)
        under = np.where(known, under, on_host)
    nodes, node_of_launched = nodes.and_below(under, slices.name[launched], names + 1)
    of_host = node_of[rows]
    time_ns, device_ns = np.zeros((2, len(nodes)), np.int64)
    in_node = of_host >= 0
    host_ns, launched_ns = np.maximum(own_ns[rows], 0), np.maximum(own_ns[launched], 0)
    np.add.at(time_ns, of_host[in_node], host_ns[in_node])
    np.add.at(device_ns, node_of_launched, launched_ns)
    count = np.bincount(node_of[made], minlength=len(nodes))
    count += np.bincount(node_of_launched, minlength=len(nodes))
    category = np.zeros(len(nodes), np.int64)
    category[node_of[made]] = slices.category[made]
    category[node_of_launched] = slices.category[launched]
    times = {
        "total_ns": nodes.with_all_below(time_ns), "self_ns": time_ns,
        "device_total_ns": nodes.with_all_below(device_ns), "device_self_ns": device_ns,
    }  # fmt: skip
    text = [*(strings if by == "call" else (name.removeprefix(MODULE) for name in strings)), NO_LAUNCH]
    frame = _frame(nodes, folded(nodes, times["total_ns"], times["device_total_ns"], most_nodes), on_host, text,
                   {"category": category, "count": count, **times})  # fmt: skip
    frame.attrs.update(
        host_ns=int(time_ns.sum()),
        device_ns=int(device_ns.sum()),
        outside_ns=int(host_ns[~in_node & (slices.category[rows] != ANNOTATION)].sum()),
        unattributed_ns=int(launched_ns[~known].sum()),
        nodes=len(nodes),
    )
    return frame


_NO_LAUNCH = -2  # -1 is a call outside of all nodes


def _chosen(trace: Trace, rank: int | None, track: int | None) -> Array:
    """Whether each slice lies on a track that is asked for."""
    tracks = trace.tracks
    chosen = np.ones(len(tracks), bool)
    if rank is not None:
        chosen &= tracks.rank == rank
    if track is not None:
        chosen &= np.arange(len(tracks)) == track
    return chosen[trace.slices.track]


def _shown(trace: Trace, by: str) -> Array:
    """Whether each slice, if it is of the host, makes a node."""
    slices = trace.slices
    if by == "call":
        return slices.category != ANNOTATION
    is_module = np.array([name.startswith(MODULE) for name in trace.pool.strings.values], bool)
    return (slices.category == _HOST_OP) | ((slices.category == _PYTHON) & is_module[slices.name])


def _launched(trace: Trace, chosen: Array, node_of: Array, *, whole_rank: bool) -> tuple[Array, Array]:
    """The device work of the chosen threads, and the node that launched each: -1 outside of nodes, or `_NO_LAUNCH`.

    Where no single thread is asked for, work of unknown launch belongs to those of its rank.
    """
    slices = trace.slices
    device = np.flatnonzero((side_of_slices(trace) == DEVICE) & (slices.category != ANNOTATION))
    host = host_slice(trace)[device]
    mine = np.where(host >= 0, chosen[host], chosen[device] & whole_rank)
    device, host = device[mine], host[mine]
    return device, np.where(host >= 0, node_of[host], _NO_LAUNCH)


def _frame(nodes: Paths, kept: Folded, on_host: int, text: list[str], columns: dict[str, Array]) -> pd.DataFrame:
    """The rows of the nodes that are kept and of the others added up; nodes from `on_host` on are of the device."""
    side = (np.arange(len(nodes)) < on_host).astype(np.int64)  # as in SIDES
    added = {name: kept.added(values) for name, values in columns.items() if name not in ("category", "side")}
    for own, whole in (("self_ns", "total_ns"), ("device_self_ns", "device_total_ns")):
        added[own] = added[whole]
    names = [text[label] for label in nodes.label[kept.nodes].tolist()] + [OTHER_CALLS] * len(kept.parent)
    categories = [CATEGORIES[number] for number in columns["category"][kept.nodes].tolist()]
    place = np.full(len(nodes) + 1, -1, np.int64)  # its last entry is for -1
    place[kept.nodes] = np.arange(len(kept.nodes))
    of_host = kept.added(side) > 0
    depth = np.concatenate([nodes.depth[kept.nodes], kept.depth])
    numbers = {n: np.concatenate([columns[n][kept.nodes], added[n]]) for n in ("count", *_TIMES)}
    return pd.DataFrame(
        {
            "name": pd.Series(names, dtype=object),
            "category": pd.Series(categories + ["other"] * len(kept.parent), dtype=object),
            "side": pd.Series([SIDES[s] for s in np.concatenate([side[kept.nodes], of_host]).tolist()], dtype=object),
            "parent": np.concatenate([place[nodes.parent[kept.nodes]], place[kept.parent]]),
            "depth": depth,
            **numbers,
            "folded": np.concatenate([np.zeros(len(kept.nodes), np.int64), kept.added(kept.sizes)]),
        }
    )
