"""A made-up training job on GPUs, for pictures: four ranks, a transformer, buckets of gradients, one rank that is late.

Every number is made up; nothing here was measured.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from trace_format import CATEGORIES, Trace, TraceBuilder
from trace_format.tables import CACHE_RESULTS
from trace_format.trace_pb.writer import write_trace

RANKS, STEPS, LAYERS, BUCKET = 4, 8, 12, 3
HIDDEN, TOKENS = 1024, 4096
US, MS = 1_000, 1_000_000
BASE_NS = 1_790_000_000 * 10**9
BF16 = "c10::BFloat16"
GPU = {"id": 0, "name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 85_899_345_920, "numSms": 108}
FRAMES = ("train.py(61): <module>", "train.py(38): train")


@dataclass(frozen=True)
class Op:
    """An operator: its name, the line that calls it, the shapes it gets, its kernel and how long that runs."""

    name: str
    line: str
    shapes: Sequence[Sequence[int]]
    kernel: str
    dur_us: float
    holds_mb: float = 0.0


def _product(line: str, rows: int, inner: int, columns: int) -> Op:
    # at some 70 % of what the device can do
    dur_us = 2 * rows * inner * columns / 218e12 * 1e6
    shapes, held = ((rows, inner), (inner, columns)), 2 * rows * columns / 1e6
    return Op("aten::mm", line, shapes, "ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn", dur_us, held)


_ROW = (TOKENS, HIDDEN)
_NORM = Op("aten::native_layer_norm", "model.py(21): forward", (_ROW,),
           "void at::native::vectorized_layer_norm_kernel<c10::BFloat16, float>(int, float)", 14, 8.4)  # fmt: skip
_SUM = Op(
    "aten::add",
    "model.py(33): forward",
    (_ROW, _ROW),
    "void at::native::vectorized_elementwise_kernel<8, at::native::CUDAFunctor_add<c10::BFloat16>>(int)",
    17,
    8.4,
)
BLOCK = (
    _NORM, _product("model.py(23): forward", TOKENS, HIDDEN, 3 * HIDDEN),
    Op("aten::_flash_attention_forward", "model.py(25): forward", ((4, 1024, 16, 64),) * 3,
       "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4>>(Flash_fwd_params)", 118, 8.5),
    _product("model.py(27): forward", TOKENS, HIDDEN, HIDDEN), _SUM, _NORM,
    _product("model.py(30): forward", TOKENS, HIDDEN, 4 * HIDDEN),
    Op("aten::gelu", "model.py(31): forward", ((TOKENS, 4 * HIDDEN),),
       "void at::native::vectorized_elementwise_kernel<8, at::native::GeluCUDAKernelImpl>(int)", 52, 33.6),
    _product("model.py(32): forward", TOKENS, 4 * HIDDEN, HIDDEN), _SUM,
)  # fmt: skip


@dataclass
class Rank:
    """One process being recorded: where its threads and streams are in time. Without a GPU only its host is."""

    number: int
    slow_loader: bool
    has_gpu: bool = True
    builder: TraceBuilder = field(default_factory=TraceBuilder)
    host_ns: int = BASE_NS
    device_ns: int = BASE_NS
    held_bytes: int = 1_600_000_000
    correlation: int = 0

    def __post_init__(self) -> None:
        same: Any = {"pid": 4000 + self.number, "rank": self.number}
        process = self.builder.track("python", **same)
        self.main = self.builder.track("thread 4000 (python)", kind="host_thread", parent=process, tid=1, **same)
        self.autograd = self.builder.track(
            "thread 4077 (pt_autograd_0)", kind="host_thread", parent=process, tid=2, **same
        )
        of_device: Any = {"parent": self.builder.track("python (GPU 0)", **same), "rank": self.number, "device": 0}
        self.stream = self.builder.track("stream 7", kind="stream", tid=7, **of_device)
        self.links = self.builder.track("stream 20", kind="stream", tid=20, **of_device)
        self.rng = np.random.default_rng(self.number)

    def add(self, track: int, name: str, category: str, start_ns: int, dur_ns: float, **columns: Any) -> int:
        if not self.has_gpu and track in (self.stream, self.links):
            return -1
        self.builder.report.source_events += 1
        return self.builder["slices"].append(
            1, track=track, name=self.builder.string(name), category=CATEGORIES.index(category), ts_ns=start_ns,
            dur_ns=round(dur_ns), **columns,
        )  # fmt: skip

    def hold(self, at_ns: int, megabytes: float) -> None:
        delta = round(megabytes * 1e6)
        self.held_bytes += delta
        self.builder.report.source_events += 1
        self.builder["memory"].append(
            1, ts_ns=at_ns, device=self.builder.string("cuda:0"), delta_bytes=delta, total_bytes=self.held_bytes,
            track=self.main,
        )  # fmt: skip

    def run(self, op: Op, thread: int, module: str, *, factor: float = 1.0, backward: bool = False) -> None:
        """The host calls an operator, which launches its kernel; the device runs it when it is free."""
        pool, start, dur = self.builder.pool, self.host_ns, round(26 * US * self.rng.uniform(0.8, 1.5))
        told = {
            "Input Dims": op.shapes,
            "Input type": [BF16] * len(op.shapes),
            "Concrete Inputs": [""] * len(op.shapes),
        }
        frames = [] if backward else [*FRAMES, op.line, f"nn.Module: {module}"]
        self.add(thread, op.name, "host_op", start, dur, stack=pool.stack_id(frames),
                 args=pool.arg_sets.id(json.dumps(told).encode()))  # fmt: skip
        self.correlation += 1
        self.add(thread, "cudaLaunchKernel", "runtime", start + dur // 2, 6 * US, correlation=self.correlation,
                 stack=pool.stack_id(frames))  # fmt: skip
        begin = max(self.device_ns, start + dur // 2 + 4 * US)
        length = op.dur_us * factor * self.rng.uniform(0.98, 1.04) * US
        self.add(self.stream, op.kernel, "compute", begin, length, correlation=self.correlation)
        self.host_ns, self.device_ns = start + dur + 2 * US, begin + round(length) + 800
        if op.holds_mb:
            self.hold(start + 3 * US, -op.holds_mb if backward else op.holds_mb)

    def compile(self, function: str, graph: str, dur_ms: float, *, cache: str, trigger: str = "") -> None:
        """torch.compile compiles a graph while the step waits."""
        pool, text, dur = self.builder.pool, self.builder.string, round(dur_ms * MS)
        told = {
            "function": function, "compile_id": graph, "direction": "forward", "backend": "inductor", "cache": cache,
            "cache_key": f"f{function[:4]}{graph}", "operators": 214,
        }  # fmt: skip
        track = self.builder.track("torch.compile", kind="compile", rank=self.number, pid=4000 + self.number)
        row = self.add(track, f"compile {function} {graph}", "compile", self.host_ns, dur,
                       args=pool.arg_sets.id(json.dumps(told).encode()))  # fmt: skip
        self.builder["compiles"].append(
            1, slice=row, what=text(function), backend=text("inductor"), cache=CACHE_RESULTS.index(cache),
            trigger=text(trigger or f"model.py:18 {function}"), exit_status=0,
        )  # fmt: skip
        self.host_ns += dur + 200 * US

    def load(self) -> None:
        """The data loader, and the copy of its batch."""
        wait_ns = round((7.5 if self.slow_loader else 1.2) * MS * self.rng.uniform(0.9, 1.1))
        name = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
        self.add(self.main, name, "annotation", self.host_ns, wait_ns)
        self.host_ns += wait_ns + 20 * US
        self.correlation += 1
        self.add(self.main, "cudaMemcpyAsync", "runtime", self.host_ns, 12 * US, correlation=self.correlation)
        begin = max(self.device_ns, self.host_ns + 5 * US)
        self.add(self.stream, "Memcpy HtoD (Pinned -> Device)", "memcpy", begin, 610 * US, bytes=16 << 20,
                 correlation=self.correlation)  # fmt: skip
        self.host_ns, self.device_ns = self.host_ns + 15 * US, begin + 611 * US

    def forward(self) -> None:
        for layer in range(LAYERS):
            start = self.host_ns
            for op in BLOCK:
                self.run(op, self.main, f"Block_{layer}")
            self.add(self.main, f"nn.Module: Block_{layer}", "python", start, self.host_ns - start)

    def backward(self, layers: Sequence[int]) -> int:
        """Run some layers backwards; the time at which their gradients are there."""
        for layer in layers:
            for op in reversed(BLOCK):
                twice = Op(
                    op.name.replace("forward", "backward"), op.line, op.shapes, op.kernel, op.dur_us, op.holds_mb
                )
                self.run(twice, self.autograd, f"Block_{layer}", factor=2.05, backward=True)
        return self.device_ns

    def reduce(self, ready_ns: int, end_ns: int, seq: int) -> None:
        """The collective of a bucket, from when this rank is ready until all have its sum."""
        row = self.add(self.links, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                       "collective", ready_ns, end_ns - ready_ns)  # fmt: skip
        text, nbytes = self.builder.string, 2 * 12 * HIDDEN * HIDDEN * BUCKET
        self.builder["collectives"].append(
            1, slice=row, op=text("all_reduce"), dtype=text("BFloat16"), in_bytes=nbytes, out_bytes=nbytes,
            group=text("0"), group_ranks=text(json.dumps(list(range(RANKS)))), rank=self.number, seq=seq,
            source=text("kernel"),
        )  # fmt: skip

    def optimize(self) -> None:
        start = self.host_ns
        adam = Op("aten::_fused_adamw_", "train.py(49): train", ((HIDDEN, HIDDEN),) * 4,
                  "void at::native::multi_tensor_apply_kernel<FusedAdamMathFunctor<float>>(float)", 310)  # fmt: skip
        for _ in range(6):
            self.run(adam, self.main, "GPT_0")
        self.add(self.main, "Optimizer.step#AdamW.step", "annotation", start, self.host_ns - start)

    def trace(self) -> Trace:
        return self.builder.finish(
            metadata={
                "host": f"node-{self.number}", "pid": 4000 + self.number, "rank": self.number, "world_size": RANKS,
                "created_by": "docs/made_training.py", "sources": [{"format": "made up", "clock": "unix"}],
                "source_metadata": {
                    "deviceProperties": [GPU], "record_shapes": 1, "profile_memory": 1, "with_stack": 1,
                },
            }
        )  # fmt: skip


MODEL = """\
\"\"\"A transformer's block.\"\"\"

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, hidden, heads):
        super().__init__()
        self.heads = heads
        self.norm, self.norm2 = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.qkv = nn.Linear(hidden, 3 * hidden, bias=False)
        self.out = nn.Linear(hidden, hidden, bias=False)
        self.up = nn.Linear(hidden, 4 * hidden, bias=False)
        self.down = nn.Linear(4 * hidden, hidden, bias=False)

    def forward(self, x):
        batch, length, hidden = x.shape
        # attention
        y = self.norm(x)
        shape = (batch, length, self.heads, hidden // self.heads)
        q, k, v = self.qkv(y).split(hidden, dim=2)
        q, k, v = (part.view(shape).transpose(1, 2) for part in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        y = y.transpose(1, 2).reshape(x.shape)
        y = self.out(y)
        x = x + y
        # and what each position does with it
        y = self.up(self.norm2(x))
        y = F.gelu(y)
        y = self.down(y)
        return x + y
"""


def write_job(folder: Path, *, slow_loader: bool) -> None:
    """Write a trace of each rank; with `slow_loader` rank 2 is late in every step."""
    ranks = [Rank(number, slow_loader and number == 2) for number in range(RANKS)]
    seq = 0
    for step in range(STEPS):
        starts = [rank.host_ns for rank in ranks]
        for rank in ranks:
            rank.load()
            rank.forward()
            rank.host_ns += 30 * US
        done_ns = 0
        for first in range(LAYERS, 0, -BUCKET):
            ready = [rank.backward(range(first - 1, first - 1 - BUCKET, -1)) for rank in ranks]
            end_ns = max(*ready, done_ns) + round(1.9 * MS)
            for rank, ready_ns in zip(ranks, ready, strict=True):
                rank.reduce(max(ready_ns, done_ns) + 5 * US, end_ns, seq)
            seq, done_ns = seq + 1, end_ns
        for rank, start in zip(ranks, starts, strict=True):
            rank.device_ns = done_ns + 10 * US
            rank.optimize()
            waited_ns = max(rank.device_ns - rank.host_ns, 0)
            rank.add(rank.main, "cudaStreamSynchronize", "runtime", rank.host_ns, waited_ns)
            rank.host_ns += waited_ns + 40 * US
            rank.add(rank.main, f"ProfilerStep#{step + 10}", "annotation", start, rank.host_ns - start)
    folder.mkdir(parents=True)
    for rank in ranks:
        write_trace(rank.trace(), folder / f"rank{rank.number}.pb")
    model = folder.parent / "model.py"  # where the explorer looks for the lines that the traces name
    model.write_text(MODEL)
    os.utime(model, ns=(BASE_NS, BASE_NS))


def write_host(path: Path) -> None:
    """Write a trace of the host of one process, whose operators are all that it tells of."""
    rank = Rank(0, slow_loader=False, has_gpu=False)
    for step in range(STEPS):
        start = rank.host_ns
        rank.load()
        rank.forward()
        rank.backward(range(LAYERS - 1, -1, -1))
        rank.optimize()
        rank.add(rank.main, f"ProfilerStep#{step + 10}", "annotation", start, rank.host_ns - start)
        rank.host_ns += 12 * MS
    write_trace(rank.trace(), path)


def write_compiled(path: Path) -> None:
    """Write a trace of one process that compiles its model in the first step, and again in the fourth."""
    rank = Rank(0, slow_loader=False)
    for step in range(STEPS):
        start = rank.host_ns
        rank.load()
        if step == 0:
            rank.compile("forward", "0/0", 410, cache="miss")
            rank.compile("loss", "1/0", 95, cache="miss")
        if step == 3:
            why = "recompile: 0/0: tensor 'x' size mismatch at index 1. expected 1024, actual 960"
            rank.compile("forward", "0/1", 520, cache="miss", trigger=why)
        if step == 5:
            rank.compile("sample", "2/0", 12, cache="hit")
        rank.forward()
        rank.backward(range(LAYERS - 1, -1, -1))
        rank.optimize()
        rank.host_ns = max(rank.host_ns, rank.device_ns) + 40 * US
        rank.add(rank.main, f"ProfilerStep#{step + 10}", "annotation", start, rank.host_ns - start)
    write_trace(rank.trace(), path)
