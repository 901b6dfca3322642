"""Small traces made by hand, whose numbers are worked out beside them."""

from __future__ import annotations

import numpy as np

from trace_format import CATEGORIES, Trace, TraceBuilder

START_NS = 1_700_000_000_000_000_000
MS = 1_000_000

HOSTILE = (
    "<script>alert(1)</script>",
    "</style><img src=x onerror=alert(2)>",
    "javascript:alert(3)",
    '"><svg onload=alert(4)>',
    "<a href='https://example.com'>link</a>",
    "{{7*7}} ${7*7} %{x}",
)


def _category(name: str) -> int:
    return CATEGORIES.index(name)


def three_steps() -> Trace:
    """Three training steps of 10, 12 and 11 ms: median 11 ms.

    Host, each step: linear 4 ms with addmm 2 ms in it, relu 1 ms. So of their own: linear 2, addmm 2, relu 1 ms;
    over three steps 6, 6 and 3: 15 ms, all host_op.
    Device: gemm 5, 7 and 5 ms (17), all_reduce 3 x 1.5 (4.5), Memcpy HtoD 3 x 0.5 (1.5): 23 ms;
    shares 17/23 = 73.9 %, 4.5/23 = 19.6 %, 1.5/23 = 6.52 %.
    Memory on the cpu: 1, 3, 2 MB allocated at 1, 12 and 23 ms: the peak is 3.00 MB.
    Each copy moves 4 MB: 12.0 MB in 1.5 ms, 8.00 GB/s, all recorded.
    The trace ends with the third step at 33 ms.
    """
    builder = TraceBuilder()
    builder.metadata.update(host="trainer-1", pid=100, rank=0, world_size=2, device_model="H100", created_by="by hand")
    main = builder.track("main thread", kind="host_thread", pid=100, tid=100, rank=0)
    compute, copies, comms = (
        builder.track(f"stream {number}", kind="stream", pid=100, device=0, rank=0) for number in (7, 8, 9)
    )

    def add(track: int, name: str, category: str, start_ms: float, dur_ms: float, **columns: int) -> None:
        builder["slices"].append(
            ts_ns=[START_NS + round(start_ms * MS)], dur_ns=[round(dur_ms * MS)], track=track,
            name=builder.string(name), category=_category(category), **columns,
        )  # fmt: skip

    for number, (start_ms, step_ms, gemm_ms) in enumerate([(0, 10, 5), (10, 12, 7), (22, 11, 5)]):
        add(main, f"ProfilerStep#{number}", "annotation", start_ms, step_ms)
        add(main, "aten::linear", "host_op", start_ms + 1, 4)
        add(main, "aten::addmm", "host_op", start_ms + 2, 2)
        add(main, "aten::relu", "host_op", start_ms + 6, 1)
        add(compute, "gemm_kernel", "compute", start_ms + 3, gemm_ms)
        add(comms, "ncclDevKernel_AllReduce", "collective", start_ms + 8, 1.5)
        add(copies, "Memcpy HtoD", "memcpy", start_ms + 0.5, 0.5, bytes=4_000_000)
    builder["memory"].append(
        ts_ns=[START_NS + t * MS for t in (1, 12, 23)], device=builder.string("cpu"),
        delta_bytes=[1_000_000, 2_000_000, -1_000_000], total_bytes=[1_000_000, 3_000_000, 2_000_000],
    )  # fmt: skip
    builder.report.source_events = 30
    builder.report.left_out["has no name"] = 2
    builder.report.repaired["end before start"] = 1
    return builder.finish()


def hostile() -> Trace:
    """A trace whose every text tries to be more than text: names, tracks, devices, metadata, causes."""
    builder = TraceBuilder()
    builder.metadata.update(host=HOSTILE[0], device_model=HOSTILE[1], created_by=HOSTILE[3])
    builder.metadata["note"] = {HOSTILE[4]: HOSTILE[0]}
    main = builder.track(HOSTILE[0], kind="host_thread", pid=1, tid=1)
    stream = builder.track(HOSTILE[1], kind="stream", pid=1, device=0)
    for number, name in enumerate(HOSTILE):
        for track, category in ((main, "host_op"), (stream, "memcpy")):
            builder["slices"].append(
                ts_ns=[START_NS + number * MS], dur_ns=[MS], track=track, name=builder.string(name),
                category=_category(category), bytes=1000 * (number + 1),
            )  # fmt: skip
    builder["memory"].append(
        ts_ns=[START_NS, START_NS + MS], device=builder.string(HOSTILE[4]), delta_bytes=[5, 5], total_bytes=[5, 10]
    )
    builder.report.source_events = 13
    builder.report.left_out[HOSTILE[0]] = 1
    return builder.finish()


def empty() -> Trace:
    """A trace in which nothing happened."""
    return TraceBuilder().finish()


def many_names(names: int) -> Trace:
    """A trace of `names` operations that each ran once, number i for i + 1 microseconds."""
    builder = TraceBuilder()
    main = builder.track("main", kind="host_thread")
    dur_ns = (np.arange(names, dtype=np.int64) + 1) * 1000
    builder["slices"].append(
        ts_ns=START_NS + np.r_[0, np.cumsum(dur_ns)[:-1]], dur_ns=dur_ns, track=main,
        name=builder.pool.strings.ids(f"operation {number}" for number in range(names)), category=_category("host_op"),
    )  # fmt: skip
    return builder.finish()
