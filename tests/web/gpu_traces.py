"""A step on a GPU whose bytes, FLOPs and peaks are known; the numbers are worked out beside it."""

from __future__ import annotations

import json
from typing import Any

from trace_format import CATEGORIES, Trace, TraceBuilder

US = 1000
BF16, FP32 = "c10::BFloat16", "float"
A100 = {"id": 0, "name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 85_899_345_920, "numSms": 108}


def matmul_and_add() -> Trace:
    """1110 us on an A100 (312 TFLOP/s in bf16, 2039 GB/s).

    A product of [1024, 2048] and [2048, 4096] in bf16 runs in [1000, 1100) us: 2 * 1024 * 2048 * 4096 = 17.18 GFLOP,
    2 * (2 + 8 + 4 Mi) = 29,360,128 bytes: 294 GB/s, 585 FLOP/B, bound by compute.
    A sum of 1000 x 1000 fp32 in [1100, 1110) us: 1 MFLOP, 12 MB: 1.2 TB/s, bound by memory.
    From the first copy at 100 us on memory moves 41,360,128 bytes in 1010 us: 41.0 GB/s, 2.01 % of its peak, and at
    most 1.2 TB/s, 58.9 %. Ten copies of 1 KiB take 2 us each and one of 1 MiB 100 us, 10.5 GB/s: at that rate the ten
    would take 0.98 us of their 20.
    """
    builder = TraceBuilder()
    host = builder.track("main", kind="host_thread", pid=1)
    stream = builder.track("stream 7", kind="stream", device=0)

    def add(track: int, name: str, category: str, start_us: int, dur_us: int, args: Any = None, **columns: int) -> None:
        builder["slices"].append(
            1, track=track, name=builder.string(name), category=CATEGORIES.index(category), ts_ns=start_us * US,
            dur_ns=dur_us * US, args=builder.pool.arg_sets.id(json.dumps(args).encode()) if args else 0, **columns,
        )  # fmt: skip

    for correlation, (op, shapes, types, launch, start, dur) in enumerate(
        [("aten::mm", [[1024, 2048], [2048, 4096]], [BF16, BF16], 10, 1000, 100),
         ("aten::add", [[1000, 1000], [1000, 1000], []], [FP32, FP32, "Scalar"], 40, 1100, 10)], 1
    ):  # fmt: skip
        args = {"Input Dims": shapes, "Input type": types, "Concrete Inputs": [""] * len(shapes)}
        add(host, op, "host_op", launch - 10, 20, args)
        add(host, "cudaLaunchKernel", "runtime", launch, 1, correlation=correlation)
        add(stream, f"kernel {correlation}", "compute", start, dur, correlation=correlation)
    for number in range(10):
        add(stream, "Memcpy HtoD (Pageable -> Device)", "memcpy", 100 + 10 * number, 2, bytes=1 << 10)
    add(stream, "Memcpy HtoD (Pageable -> Device)", "memcpy", 300, 100, bytes=1 << 20)
    return builder.finish(metadata={"source_metadata": {"deviceProperties": [A100]}})
