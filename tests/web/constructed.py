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


LONG_NAME = "void_kernel_" + "k" * 20_000


def long_names() -> Trace:
    """A step in which every name that a page could print is long and without a place to break, or empty."""
    builder = TraceBuilder()
    builder.metadata.update(host=LONG_NAME, device_model=LONG_NAME, created_by=LONG_NAME)
    main = builder.track(LONG_NAME, kind="host_thread", pid=1, tid=1)
    stream = builder.track("", kind="stream", pid=1, device=0)
    for track, name, category, start_ms, dur_ms in (
        (main, f"{LONG_NAME}_step", "annotation", 0, 10), (main, LONG_NAME, "host_op", 1, 2),
        (main, "", "host_op", 4, 1), (stream, LONG_NAME, "compute", 1, 5), (stream, "", "compute", 7, 1),
    ):  # fmt: skip
        builder["slices"].append(
            ts_ns=[START_NS + start_ms * MS], dur_ns=[dur_ms * MS], track=track, name=builder.string(name),
            category=_category(category), bytes=1000 if category != "annotation" else -1,
        )  # fmt: skip
    builder["memory"].append(
        ts_ns=[START_NS, START_NS + MS], device=builder.string(LONG_NAME), delta_bytes=[5, 5], total_bytes=[5, 10]
    )
    builder.report.source_events = 1
    builder.report.left_out[LONG_NAME] = 1
    return builder.finish()


def unfinished() -> Trace:
    """One operation on the host that did not finish: how long it took is unknown."""
    builder = TraceBuilder()
    track = builder.track("main", kind="host_thread", pid=1)
    builder["slices"].append(
        ts_ns=[START_NS], dur_ns=[-1], track=track, name=builder.string("wait"), category=_category("host_op")
    )
    builder["instants"].append(ts_ns=[START_NS + MS], track=track, name=builder.string("end"))
    return builder.finish()


def ranks(number: int, *, steps: int = 3) -> Trace:
    """A job of so many ranks: step s of rank r takes 10 + (7 * r + s) % number ms, 100 ms apart; rank r starts at r ms.

    For 4 ranks and 3 steps, in ms: rank 0 10 11 12; rank 1 13 10 11; rank 2 12 13 10; rank 3 11 12 13.
    Each has allocated 1 MB for each of its rank and one more.
    """
    builder = TraceBuilder()
    for rank in range(number):
        track = builder.track("main", kind="host_thread", pid=rank, rank=rank)
        for step in range(steps):
            builder["slices"].append(
                ts_ns=[START_NS + (rank + 100 * step) * MS], dur_ns=[(10 + (7 * rank + step) % number) * MS],
                track=track, name=builder.string(f"ProfilerStep#{step}"), category=_category("annotation"),
            )  # fmt: skip
        builder["memory"].append(
            ts_ns=[START_NS + rank * MS], device=builder.string("cpu"), delta_bytes=[(rank + 1) * 10**6],
            total_bytes=[(rank + 1) * 10**6], track=track,
        )  # fmt: skip
    return builder.finish()
