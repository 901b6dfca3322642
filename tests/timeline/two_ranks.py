"""A step of two ranks made by hand: devices, a thread that works, one that only waits, and a collective."""

from __future__ import annotations

from trace_format import CATEGORIES, Trace, TraceBuilder

START_NS = 1_700_000_000_000_000_000
MS = 1_000_000
ACQUIRE = "<built-in method acquire of _thread.lock object at 0x7f00>"


def two_ranks() -> Trace:
    """Ranks 0 and 1, in ms from the start:

    trainer <rank>
      main thread      ProfilerStep#0 [0, 10)
                         nn.Module: Net_0 [1, 5)
                           nn.Module: Linear_0 [1.5, 3)
                             aten::linear [1.6, 2.8)       with a stack
                               cudaLaunchKernel [2, 2.5)   launches gemm
      waiting thread   threading.py(973): _bootstrap [0, 10) > threading.py(312): wait > acquire
    GPU <rank>
      stream 7         gemm [3, 6), gemm [6.1, 6.2), all_reduce [8, 9) of rank 0, [8.5, 9) of rank 1

    The step is 10 ms long, so gaps of 0.2 ms and more are told: [6.2, 8) of rank 0, [6.2, 8.5) of rank 1.
    """
    builder = TraceBuilder()

    def add(track: int, name: str, category: str, start_ms: float, end_ms: float, **columns: int) -> int:
        start, end = (START_NS + round(at * MS) for at in (start_ms, end_ms))
        return builder["slices"].append(
            1, ts_ns=start, dur_ns=end - start, track=track, name=builder.string(name),
            category=CATEGORIES.index(category), **columns,
        )  # fmt: skip

    for rank in (0, 1):
        trainer = builder.track(f"trainer {rank}", pid=100 + rank, rank=rank)
        main = builder.track("main thread", kind="host_thread", parent=trainer, pid=100 + rank, tid=1, rank=rank)
        waits = builder.track("waiting thread", kind="host_thread", parent=trainer, pid=100 + rank, tid=2, rank=rank)
        gpu = builder.track(f"GPU {rank}", pid=rank, device=rank, rank=rank)
        stream = builder.track("stream 7", kind="stream", parent=gpu, device=rank, rank=rank)
        add(main, "ProfilerStep#0", "annotation", 0, 10)
        add(main, "nn.Module: Net_0", "python", 1, 5)
        add(main, "nn.Module: Linear_0", "python", 1.5, 3)
        stack = builder.pool.stack_id(["train.py(3): step", "model.py(7): forward"])
        add(main, "aten::linear", "host_op", 1.6, 2.8, stack=stack)
        add(main, "cudaLaunchKernel", "runtime", 2, 2.5, correlation=42)
        for name in ("threading.py(973): _bootstrap", "threading.py(312): wait", ACQUIRE):
            add(waits, name, "python", 0, 10)
        add(stream, "gemm", "compute", 3, 6, correlation=42)
        add(stream, "gemm", "compute", 6.1, 6.2)
        add(stream, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "collective", 8 + rank / 2, 9)
    return builder.finish()


def row_at(trace: Trace, name: str, start_ms: float, rank: int) -> int:
    """The row of the slice of a rank with this name and start."""
    slices = trace.slices
    return next(
        row
        for row in range(len(slices))
        if trace.pool.strings[int(slices.name[row])] == name
        and slices.ts_ns[row] == START_NS + round(start_ms * MS)
        and trace.tracks.rank[slices.track[row]] == rank
    )
