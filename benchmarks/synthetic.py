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
# A job of eight ranks: each with two host threads and eight tracks of its device. Calls lie in each other five deep.
_RANKS, _HOST_TRACKS, _DEVICE_TRACKS = 8, 2, 8
_FAN_OUT = (2, 3, 1, 2)  # how many calls each one makes, from the outermost level to the last but one
_SKEWED_TRACKS, _SKEWED_SHARE = 4, 0.96
_SLACK_NS = 150  # how much earlier a call begins than the first one it makes, and how much later it ends


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


def job_trace(events: int, *, skewed: bool = False, seed: int = 0) -> Trace:
    """A trace of about `events` slices on 80 tracks, nested five deep, durations log-normal.

    `skewed`: 96 % of the slices lie on four of the tracks.
    """
    rng = np.random.default_rng(seed)
    builder = TraceBuilder()
    names = np.array([builder.string(f"operation_{i}") for i in range(_NAMES)])
    tracks = _RANKS * (_HOST_TRACKS + _DEVICE_TRACKS)
    share = np.full(tracks, 1 / tracks)
    if skewed:
        share[:] = (1 - _SKEWED_SHARE) / (tracks - _SKEWED_TRACKS)
        share[:: tracks // _SKEWED_TRACKS] = _SKEWED_SHARE / _SKEWED_TRACKS
    for rank in range(_RANKS):
        process = builder.track("python", pid=rank + 1, rank=rank)
        for number in range(_HOST_TRACKS + _DEVICE_TRACKS):
            kind, category = ("host_thread", "host_op") if number < _HOST_TRACKS else ("stream", "compute")
            ts, dur = _calls(int(events * share[rank * (_HOST_TRACKS + _DEVICE_TRACKS) + number]), rng)
            track = builder.track(f"{kind} {number}", kind=kind, parent=process, pid=rank + 1, tid=number, rank=rank)
            builder["slices"].append(
                ts_ns=1_700_000_000_000_000_000 + ts,
                dur_ns=dur,
                track=track,
                name=names[rng.integers(0, _NAMES, len(ts))],
                category=CATEGORIES.index(category),
            )
    return builder.finish(metadata={"created_by": "benchmark", "world_size": _RANKS})


def _calls(rows: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Start and duration of about `rows` calls in order of (start, longer first), over the same time for any number."""
    leaves = int(np.prod(_FAN_OUT))
    per_group = sum(int(np.prod(_FAN_OUT[:level])) for level in range(len(_FAN_OUT) + 1))
    groups = max(1, rows // per_group)
    dur = rng.lognormal(8, 1.2, groups * leaves)
    gap = 2 * _SLACK_NS * len(_FAN_OUT) + rng.lognormal(6, 1.0, groups * leaves)
    end = np.cumsum(dur + gap)
    start = end - dur
    starts, ends = [start], [end]
    for fan_out in reversed(_FAN_OUT):
        start, end = start[::fan_out] - _SLACK_NS, end[fan_out - 1 :: fan_out] + _SLACK_NS
        starts.append(start)
        ends.append(end)
    stretch = 100e9 / ends[-1][-1]  # a job of 100 s
    ts = (np.concatenate(starts) * stretch).astype(np.int64)
    length = (np.concatenate(ends) * stretch).astype(np.int64) - ts
    order = np.lexsort((-length, ts))
    return ts[order], length[order]
