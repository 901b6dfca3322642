"""A large training trace of known shape: nested host work, kernels, copies and collectives, memory, steps."""

from __future__ import annotations

import json

import numpy as np

from trace_format import Trace, TraceBuilder
from trace_format.tables import CATEGORIES

Array = np.ndarray

CALLS_PER_STEP = 1000
_BASE_NS = 1_700_000_000_000_000_000
_MODULES, _OPERATORS, _SHAPES, _KERNELS = 200, 120, 220, 180
_ONCE_A_STEP = 5  # operators, as those of a loss are
_EVENTS_PER_CALL = 8.5  # the backward thread has no Python frames
_MAIN, _BACKWARD = 0, 1


def large_training_trace(events: int, seed: int = 0, *, marked: bool = True) -> Trace:
    """A trace of about `events` slices and memory records, shaped as `kineto_json.py` has it; the same for a seed.

    `marked`: with the annotations of torch.profiler's steps.
    """
    rng = np.random.default_rng(seed)
    steps = max(2, int(events / _EVENTS_PER_CALL) // CALLS_PER_STEP)
    calls = _Calls(rng, steps)
    builder = TraceBuilder()
    process = builder.track("python", pid=4711, rank=0)
    thread = [
        builder.track(f"thread {tid}", kind="host_thread", parent=process, pid=4711, tid=tid, rank=0)
        for tid in (4711, 4799)
    ]
    stream = [
        builder.track(f"stream {number}", kind="stream", pid=0, tid=number, rank=0, device=0) for number in (7, 20)
    ]
    _host(builder, calls, thread)
    _device(builder, calls, stream)
    if marked:
        names = [builder.string(f"ProfilerStep#{step}") for step in range(steps)]
        builder["slices"].append(
            steps, track=thread[_MAIN], name=np.array(names), category=CATEGORIES.index("annotation"),
            ts_ns=calls.step_ns, dur_ns=calls.step_dur_ns,
        )  # fmt: skip
    _memory(builder, calls, thread)
    return builder.finish(metadata={"created_by": "benchmark", "rank": 0, "world_size": 8})


class _Calls:
    """The calls of all steps, in order: when each starts on its thread, how long it lasts, what it is."""

    def __init__(self, rng: np.random.Generator, steps: int) -> None:
        n = CALLS_PER_STEP
        self.steps, self.rows = steps, steps * n
        self.thread = np.tile(np.where(np.arange(n) % 4 == 3, _BACKWARD, _MAIN), steps)
        operator = rng.integers(_ONCE_A_STEP, _OPERATORS, n)
        operator[:_ONCE_A_STEP] = np.arange(_ONCE_A_STEP)
        self.operator = np.tile(operator, steps)
        self.shape = np.tile(rng.integers(0, _SHAPES, n), steps)
        self.kernel = np.tile(rng.integers(0, _KERNELS, n), steps)
        self.module = np.tile(np.sort(rng.integers(0, _MODULES, n)), steps)
        self.lane = np.tile(rng.choice([0, 0, 0, 1], n), steps)
        kind = rng.random(n)
        self.copies, self.communicates = np.tile(kind < 0.08, steps), np.tile(kind > 0.99, steps)
        mean = np.tile(rng.uniform(12_000, 68_000, n), steps)
        self.whole_ns = (mean * rng.uniform(0.8, 1.2, self.rows)).astype(np.int64)
        of_thread = np.zeros((2, steps, n), np.int64)
        for thread in (_MAIN, _BACKWARD):
            of_thread[thread] = np.where(self.thread == thread, self.whole_ns + 1_500, 0).reshape(steps, n)
        self.step_dur_ns = of_thread.sum(axis=2).max(axis=0)
        self.step_ns = _BASE_NS + np.r_[0, np.cumsum(self.step_dur_ns + 2_000)[:-1]]
        since_step = np.take_along_axis(np.cumsum(of_thread, axis=2) - of_thread, self.thread.reshape(1, steps, n), 0)
        self.at_ns = (self.step_ns[:, None] + since_step[0]).reshape(-1)
        self.correlation = 2 * np.arange(self.rows) + 1
        self.external_id = 3 * np.arange(self.rows) + 1
        self.bytes = 2 ** (10 + self.shape % 12)


def _host(builder: TraceBuilder, calls: _Calls, thread: list[int]) -> None:
    lines = np.array([builder.string(f"train.py({10 + i}): part_{i}") for i in range(_MODULES // 10)])
    modules = np.array([builder.string(f"nn.Module: Linear_{i}") for i in range(_MODULES)])
    operators = np.array([builder.string(f"aten::op_{i}") for i in range(_OPERATORS)])
    inner = np.array([builder.string(f"aten::op_{i}_out") for i in range(_OPERATORS)])
    empty, launch, copy = map(builder.string, ("aten::empty", "cudaLaunchKernel", "cudaMemcpyAsync"))
    shapes = [{"Input Dims": [[8 * i + 8, 64], [64, 32]], "Input type": ["float", "float"]} for i in range(_SHAPES)]
    arguments = np.array([builder.pool.arg_sets.id(json.dumps(shape).encode()) for shape in shapes])
    tracks = np.array(thread)[calls.thread]
    python, host_op, runtime = (CATEGORIES.index(c) for c in ("python", "host_op", "runtime"))
    framed = np.flatnonzero(calls.thread == _MAIN)
    for inside, names, category in (
        (0, lines[calls.module // 10], python), (200, modules[calls.module], python),
        (400, operators[calls.operator], host_op), (1_200, inner[calls.operator], host_op),
        (1_600, np.full(calls.rows, empty), host_op),
        (3_200, np.where(calls.copies, copy, launch), runtime),
    ):  # fmt: skip
        rows = framed if category == python else np.arange(calls.rows)
        dur_ns = calls.whole_ns[rows] - 2 * inside
        if inside >= 1_600:
            dur_ns = np.full(len(rows), 1_000 if category == host_op else 2_500)
        columns = {"external_id": calls.external_id[rows] + (inside > 400)}
        if category == host_op:
            columns["args"] = arguments[calls.shape[rows]]
        if category == runtime:
            columns["correlation"] = calls.correlation
        builder["slices"].append(
            len(rows), track=tracks[rows], name=names[rows], category=category, ts_ns=calls.at_ns[rows] + inside,
            dur_ns=dur_ns, **columns,
        )  # fmt: skip


def _device(builder: TraceBuilder, calls: _Calls, stream: list[int]) -> None:
    kernels = np.array([builder.string(f"void gemm_kernel<float, {i}, Layout<RowMajor>>") for i in range(_KERNELS)])
    copy, reduce = map(builder.string, ("Memcpy HtoD (Pinned -> Device)", "ncclDevKernel_AllReduce_Sum_f32_RING_LL"))
    compute, memcpy, collective = (CATEGORIES.index(c) for c in ("compute", "memcpy", "collective"))
    for lane, track in enumerate(stream):
        rows = np.flatnonzero(calls.lane == lane)
        rows = rows[np.argsort(calls.at_ns[rows], kind="stable")]
        busy_ns = (0.7 * calls.whole_ns[rows]).astype(np.int64)
        # a kernel starts when it was launched, and when the one before it is done
        before = np.r_[0, np.cumsum(busy_ns + 800)[:-1]]
        ts_ns = np.maximum.accumulate(calls.at_ns[rows] + 8_000 - before) + before
        copies, communicates = calls.copies[rows], calls.communicates[rows]
        first = builder["slices"].append(
            len(rows), track=track, ts_ns=ts_ns, dur_ns=busy_ns, correlation=calls.correlation[rows],
            external_id=calls.external_id[rows] + 1,
            name=np.where(copies, copy, np.where(communicates, reduce, kernels[calls.kernel[rows]])),
            category=np.where(copies, memcpy, np.where(communicates, collective, compute)),
            bytes=np.where(copies, calls.bytes[rows], -1),
        )  # fmt: skip
        at = np.flatnonzero(communicates & ~copies)
        builder["collectives"].append(
            len(at), slice=first + at, op=builder.string("all_reduce"), dtype=builder.string("float32"), rank=0,
            in_bytes=calls.bytes[rows[at]], out_bytes=calls.bytes[rows[at]], group=builder.string("default"),
            group_ranks=builder.string("[0, 1, 2, 3, 4, 5, 6, 7]"), seq=np.arange(len(at)),
            source=builder.string("kineto"),
        )  # fmt: skip


def _memory(builder: TraceBuilder, calls: _Calls, thread: list[int]) -> None:
    ts_ns = np.concatenate([calls.at_ns + 2_100, calls.at_ns + calls.whole_ns])
    delta = np.concatenate([calls.bytes, -calls.bytes])
    order = np.argsort(ts_ns, kind="stable")
    builder["memory"].append(
        len(order), ts_ns=ts_ns[order], delta_bytes=delta[order], total_bytes=10**9 + np.cumsum(delta[order]),
        address=np.tile(0x7F00_0000_0000 + 4096 * np.arange(calls.rows), 2)[order],
        device=builder.string("cuda:0"), track=np.array(thread)[np.tile(calls.thread, 2)][order],
    )  # fmt: skip
