"""Writes a synthetic torch.profiler trace of any size: `python benchmarks/kineto_json.py EVENTS PATH`.

It has what Kineto writes for a training step: Python frames, operators with shapes and External ids, launches joined
to kernels on streams by correlation ids and flows, copies, memory records, and step annotations; about 270 bytes
per event. Names, shapes and call sites repeat from step to step, ids and times do not.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

_CALLS_PER_STEP = 1000
_BASE_NS = 1_700_000_000_000_000_000
_FRAMES, _OPERATORS, _SHAPES, _KERNELS = 200, 120, 220, 180

_HEAD = """{
  "schemaVersion": 1,
  "deviceProperties": [
    {"id": 0, "name": "NVIDIA A100-SXM4-40GB", "totalGlobalMem": 42298834944, "computeMajor": 8, "computeMinor": 0}
  ],
  "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 1},
  "displayTimeUnit": "ms",
  "baseTimeNanoseconds": %d,
  "traceEvents": [
  {
    "name": "process_name", "ph": "M", "ts": 0, "pid": 4711, "tid": 0,
    "args": {"name": "python"}
  },
  {
    "name": "process_labels", "ph": "M", "ts": 0, "pid": 0, "tid": 0,
    "args": {"labels": "GPU 0"}
  }"""
_STEP = """,
  {
    "ph": "X", "cat": "user_annotation", "name": "ProfilerStep#%d", "pid": 4711, "tid": 4711,
    "ts": %.3f, "dur": %.3f,
    "args": {
      "External id": %d, "Ev Idx": %d
    }
  }"""
_PYTHON = """,
  {
    "ph": "X", "cat": "python_function", "name": "%s", "pid": 4711, "tid": 4711,
    "ts": %.3f, "dur": %.3f,
    "args": {
      "Python parent id": %d, "Python id": %d, "Ev Idx": %d
    }
  }"""
_OPERATOR = """,
  {
    "ph": "X", "cat": "cpu_op", "name": "%s", "pid": 4711, "tid": %d,
    "ts": %.3f, "dur": %.3f,
    "args": {
      "External id": %d, "Record function id": 0, "Concrete Inputs": ["", "", ""], "Input type": ["float", "float", ""]\
, "Input Dims": [[%d, %d], [%d, %d], []], "Ev Idx": %d
    }
  }"""
_LAUNCH = """,
  {
    "ph": "X", "cat": "cuda_runtime", "name": "%s", "pid": 4711, "tid": %d,
    "ts": %.3f, "dur": %.3f,
    "args": {
      "External id": %d, "cbid": %d, "correlation": %d
    }
  },
  {
    "ph": "s", "id": %d, "pid": 4711, "tid": %d, "ts": %.3f,
    "cat": "ac2g", "name": "ac2g"
  }"""
_KERNEL = """,
  {
    "ph": "X", "cat": "kernel", "name": "%s", "pid": 0, "tid": %d,
    "ts": %.3f, "dur": %.3f,
    "args": {
      "External id": %d, "queued": 0, "device": 0, "context": 1, "stream": %d, "correlation": %d, \
"registers per thread": 128, "shared memory": 32768, "blocks per SM": %.6f, "warps per SM": %.6f, \
"grid": [%d, 8, 1], "block": [128, 1, 1], "est. achieved occupancy %%": 24
    }
  },
  {
    "ph": "f", "id": %d, "pid": 0, "tid": %d, "ts": %.3f,
    "cat": "ac2g", "name": "ac2g", "bp": "e"
  }"""
_COPY = """,
  {
    "ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)", "pid": 0, "tid": %d,
    "ts": %.3f, "dur": %.3f,
    "args": {
      "External id": %d, "device": 0, "context": 1, "stream": %d, "correlation": %d, "bytes": %d, \
"memory bandwidth (GB/s)": %.6f
    }
  },
  {
    "ph": "f", "id": %d, "pid": 0, "tid": %d, "ts": %.3f,
    "cat": "ac2g", "name": "ac2g", "bp": "e"
  }"""
_MEMORY = """,
  {
    "ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 4711, "tid": %d,
    "ts": %.3f,
    "args": {
      "Total Reserved": 2629828608, "Total Allocated": %d, "Bytes": %d, "Addr": %d, "Device Id": 0, \
"Device Type": 1, "Ev Idx": %d
    }
  }"""
_TAIL = """
  ],
  "traceName": "synthetic.pt.trace.json"
}
"""


def write_kineto_json(path: Path, events: int, seed: int = 0) -> int:
    """Write a trace of `events` events, or up to a dozen more; returns how many there are."""
    rng = random.Random(seed)
    frames = [f"torch/nn/modules/module.py({1400 + i}): _wrapped_call_impl_{i}" for i in range(_FRAMES)]
    operators = [f"aten::op_{i}" for i in range(_OPERATORS)]
    kernels = [
        f"void gemm_kernel<float, {i}, Layout<RowMajor, {i % 7}>>(Params const*, int, int)" for i in range(_KERNELS)
    ]
    shapes = [(2 ** rng.randint(5, 11), 8 * rng.randint(8, 512), 8 * rng.randint(8, 512)) for _ in range(_SHAPES)]
    calls = [
        (rng.randrange(_FRAMES), rng.choice(operators), rng.randrange(_SHAPES), rng.choice(kernels),
         rng.uniform(12, 68), rng.random() < 0.08, rng.choice((7, 7, 7, 20)), rng.choice((4711, 4711, 4799)))
        for _ in range(_CALLS_PER_STEP)
    ]  # fmt: skip
    host, stream = {4711: 0.0, 4799: 0.0}, {7: 0.0, 20: 0.0}
    written, index, allocated, call = 2, 0, 10**9, 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(_HEAD % _BASE_NS)
        while written < events:
            parts: list[str] = []
            step, start = call // _CALLS_PER_STEP, max(host.values())
            host = dict.fromkeys(host, start + 1)
            for frame, operator, shape, kernel, mean, is_copy, lane, thread in calls:
                rows, inner, columns = shapes[shape]
                jitter = 0.8 + 0.4 * rng.random()
                at, whole, identity, correlation = host[thread], mean * jitter, 3 * call + 1, 2 * call + 1
                if thread == 4711:
                    for depth in (0, 1):
                        parts.append(_PYTHON % (frames[frame - depth], at + 0.2 * depth, whole - 0.4 * depth, 2 * call,
                                                2 * call + depth, index + depth))  # fmt: skip
                    written += 2
                for depth, name in ((2, operator), (3, operator + "_out"), (4, "aten::empty")):
                    dur = 1.0 if depth == 4 else whole - 0.8 * depth
                    parts.append(_OPERATOR % (name, thread, at + 0.4 * depth, dur, identity + depth - 2, rows, inner,
                                              inner, columns, index + depth))  # fmt: skip
                launched = at + 3.2
                api, cbid = ("cudaMemcpyAsync", 41) if is_copy else ("cudaLaunchKernel", 211)
                parts.append(_LAUNCH % (api, thread, launched, 2.5 * jitter, identity + 1, cbid, correlation,
                                        correlation, thread, launched))  # fmt: skip
                begin, busy = max(stream[lane], launched + 5), 0.7 * whole
                if is_copy:
                    size = rows * inner * 4
                    parts.append(_COPY % (lane, begin, busy, identity + 1, lane, correlation, size, size / busy / 1000,
                                          correlation, lane, begin))  # fmt: skip
                else:
                    parts.append(_KERNEL % (kernel, lane, begin, busy, identity + 1, lane, correlation,
                                            rows / 108, rows / 27, rows, correlation, lane, begin))  # fmt: skip
                size = rows * columns * 4
                for sign in (1, -1):
                    allocated += sign * size
                    parts.append(_MEMORY % (thread, at + (2.1 if sign > 0 else whole), allocated, sign * size,
                                            139_000_000_000_000 + 512 * shape, index + 6 - sign))  # fmt: skip
                host[thread], stream[lane] = at + whole + 1.5, begin + busy + 0.8
                index, written, call = index + 8, written + 9, call + 1
                if written >= events - 1:
                    break
            parts.append(_STEP % (step, start, max(host.values()) - start - 0.5, 3 * call, index))
            written, index = written + 1, index + 1
            file.write("".join(parts))
        file.write(_TAIL)
    return written


if __name__ == "__main__":
    print(f"{write_kineto_json(Path(sys.argv[2]), int(sys.argv[1])):,} events")
