"""A synthetic training trace of any size, shaped like a real one, without repeated times."""

from __future__ import annotations

import numpy as np

from trace_format import Trace, TraceBuilder
from trace_format.tables import CATEGORIES

# Share of the events, kind, and category of each track: two host threads, four streams, six DMA queues.
_TRACKS = [(0.22, "host_thread", "host_op"), (0.18, "host_thread", "host_op")]
_TRACKS += [(0.10, "stream", "compute")] * 4
_TRACKS += [(0.20 / 6, "dma_queue", "dma")] * 6
_NAMES, _ARG_SETS, _STACKS = 600, 3_000, 200


def training_trace(events: int, seed: int = 0) -> Trace:
    """A trace of about `events` slices: nested host ops, device work with correlation ids, DMA packets."""
    rng = np.random.default_rng(seed)
    builder = TraceBuilder()
    names = np.array([builder.string(f"operation_{i}") for i in range(_NAMES)])
    arg_sets = np.array([builder.pool.arg_sets.id(b'{"Input Dims": [[%d]]}' % i) for i in range(_ARG_SETS)])
    stacks = np.array([builder.pool.stack_id([f"file_{i}.py", f"line {i}"]) for i in range(_STACKS)])
    process = builder.track("python", pid=1)
    launched = 0
    for number, (share, kind, category) in enumerate(_TRACKS):
        rows = int(events * share)
        track = builder.track(f"{kind} {number}", kind=kind, parent=process, pid=1, tid=number)
        kinds = rng.integers(0, _NAMES, 4096)  # the operations of a step, the same in every step
        which = np.resize(kinds, rows)
        mean = rng.lognormal(9, 1.2, _NAMES)[which]
        dur = np.maximum(mean * rng.lognormal(0, 0.15, rows), 100).astype(np.int64)
        gap = rng.lognormal(6, 1.0, rows).astype(np.int64)
        columns = {"name": names[which], "category": CATEGORIES.index(category), "args": arg_sets[which % _ARG_SETS]}
        if kind == "host_thread":
            ts, dur = _nested(dur, gap)
            columns["external_id"] = launched + np.arange(rows) + (rng.random(rows) < 0.3).cumsum()
            columns["stack"] = stacks[which % _STACKS]
            columns["flops"] = np.where(which % 20 == 0, which * 1e6, np.nan)
            columns["correlation"] = np.where(which % 5 == 0, launched + np.arange(rows), -1)
        else:
            ts = np.cumsum(dur + gap) - dur
            columns["correlation"] = launched + np.arange(rows) + (rng.random(rows) < 0.5).cumsum()
        launched += rows
        builder["slices"].append(ts_ns=1_700_000_000_000_000_000 + ts, dur_ns=dur, track=track, **columns)
    return builder.finish(metadata={"created_by": "benchmark"})


def _nested(dur: np.ndarray, gap: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Start and duration of ops in groups of four, each inside the one before."""
    rows = len(dur) // 4 * 4
    inner = np.sort(dur[:rows].reshape(-1, 4), axis=1)[:, ::-1]
    inner = inner + (np.arange(4)[::-1] * 400)
    first = np.cumsum(inner[:, 0] + gap[:rows:4]) - inner[:, 0]
    ts = (first[:, None] + np.arange(4) * 200).reshape(-1)
    tail = np.arange(len(dur) - rows) * 1_000_000 + (ts[-1] if rows else 0) + int(inner[-1, 0] if rows else 0)
    return np.r_[ts, tail], np.r_[inner.reshape(-1), np.minimum(dur[rows:], 900_000)]
