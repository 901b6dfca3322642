"""A training step made by hand, small enough to work out every number on its timeline."""

from __future__ import annotations

from trace_format import CATEGORIES, Trace, TraceBuilder

START_NS = 1_700_000_000_000_000_000
MS = 1_000_000

HOSTILE_NAMES = (
    "<script>window.broken = 1</script>",
    "<img src=x onerror='window.broken = 2'>",
    "\"quotes\" 'and' `backticks`",
    "\u202eevil\u202c שלום",
    "long " + "x" * 10_000,
    "half a pair \ud800",
)


def one_step() -> Trace:
    """A step of 10 ms, in ms from the start:

    trainer (pid 100)
      main thread   train_step#0 [0, 10)          annotation
                      aten::linear [1, 4)         host_op
                        cudaLaunchKernel [2, 2.5) runtime, leads to gemm
                      aten::relu [6, 7)           host_op
      loader thread waiting [8, ...               did not finish: drawn to 10
      warnings      an instant at 9
      allocated     1 MB from 0, 3 MB from 5      counter
    GPU 0
      stream 7      gemm [3, 6)                   compute
                    Memcpy HtoD [7, 8)            memcpy, 4 MB: 4.00 GB/s
    """
    builder = TraceBuilder()
    trainer = builder.track("trainer", pid=100)
    main = builder.track("main thread", kind="host_thread", parent=trainer, pid=100, tid=100)
    loader = builder.track("loader thread", kind="host_thread", parent=trainer, pid=100, tid=101)
    warnings = builder.track("warnings", parent=trainer, pid=100)
    allocated = builder.track("allocated", kind="counter", parent=trainer, unit="bytes")
    gpu = builder.track("GPU 0", pid=0, device=0)
    stream = builder.track("stream 7", kind="stream", parent=gpu, device=0)

    def add(track: int, name: str, category: str, start_ms: float, end_ms: float | None, **columns: int) -> int:
        start = START_NS + round(start_ms * MS)
        dur = -1 if end_ms is None else START_NS + round(end_ms * MS) - start
        return builder["slices"].append(
            1, ts_ns=start, dur_ns=dur, track=track, name=builder.string(name),
            category=CATEGORIES.index(category), **columns,
        )  # fmt: skip

    add(main, "train_step#0", "annotation", 0, 10)
    args = builder.pool.arg_sets.id(b'{"Input Dims":[[8,16],[16,4]],"note":"<b>bold</b>"}')
    add(main, "aten::linear", "host_op", 1, 4, args=args, stack=builder.pool.stack_id(["train.py(3)", "model.py(7)"]))
    launch = add(main, "cudaLaunchKernel", "runtime", 2, 2.5, correlation=42)
    add(main, "aten::relu", "host_op", 6, 7)
    add(loader, "waiting", "host_op", 8, None)
    gemm = add(stream, "gemm", "compute", 3, 6, correlation=42)
    add(stream, "Memcpy HtoD", "memcpy", 7, 8, bytes=4_000_000)
    builder["flows"].append(1, from_slice=launch, to_slice=gemm, kind=builder.string("ac2g"))
    builder["instants"].append(1, ts_ns=START_NS + 9 * MS, track=warnings, name=builder.string("out of memory soon"))
    builder["counters"].append(2, ts_ns=[START_NS, START_NS + 5 * MS], track=allocated, value=[1e6, 3e6])
    return builder.finish()


def row_of(trace: Trace, name: str) -> int:
    """The row of the first slice with a name."""
    return trace.slices.text("name").index(name)


def hostile() -> Trace:
    """One slice of 1 ms after the other, each named to break something, on a track and in a process so named."""
    builder = TraceBuilder()
    process = builder.track(HOSTILE_NAMES[1], pid=1)
    track = builder.track(HOSTILE_NAMES[0], kind="host_thread", parent=process, pid=1, tid=1)
    for number, name in enumerate(HOSTILE_NAMES):
        builder["slices"].append(1, track=track, ts_ns=START_NS + number * MS, dur_ns=MS, name=builder.string(name))
    return builder.finish()
