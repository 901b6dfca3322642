"""Every analysis takes every name: lone surrogates, NUL, escapes, names longer than any line."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest
from hostile_names import CALLS, ENDINGS, call, with_hostile_names

from neuron_profile import analysis, load
from trace_format import CATEGORIES, Trace, TraceBuilder
from trace_format.tables import CACHE_RESULTS

ANALYSES = [name for name in analysis.__all__ if inspect.isfunction(getattr(analysis, name))]
# Real traces that between them fill every table.
FILES = (
    "kineto/T001_mi250_minitoy_train_ROCm6_2_kineto.json.gz", "kineto/T018_nccl_data.json.gz",
    "neuron_json/T178_fused_exec_2_profile_full.json",
    "dynamo_tlparse/T117_dedicated_log_torch_trace_rank_0_6u3fubwl.log",
)  # fmt: skip


def hostile_trace() -> Trace:
    """Two ranks of four steps: Python, modules, operators, kernels, copies, collectives, memory, compiles."""
    builder = TraceBuilder()
    pool, string = builder.pool, builder.string
    stack = pool.stack_id(["train.py(12): go", "nn.Module: Linear_0"])
    args = pool.arg_sets.id(
        json.dumps(
            {"reason": "\ud800", "place": "a\udfff.py:1", "function": "f\ud800", "cache_key": "k\udfff"}
        ).encode()
    )
    for rank in (0, 1):
        host = builder.track("python", kind="host_thread", pid=rank, tid=1, rank=rank)
        device = builder.track("stream 7", kind="stream", device=0, rank=rank)

        def add(track: int, name: str, category: str, start: int, dur: int, **columns: int) -> int:
            return builder["slices"].append(
                1, track=track, name=string(name), category=CATEGORIES.index(category), ts_ns=start, dur_ns=dur,
                stack=stack, **columns,
            )  # fmt: skip

        shapes = pool.arg_sets.id(json.dumps({"Input Dims": [[8, 8], [8, 8]], "Input type": ["float"] * 2}).encode())
        for number in range(4):
            at, link = 1000 * number, 10 * rank + number + 1
            add(host, f"ProfilerStep#{number}", "annotation", at, 1000)
            add(host, "train.py(12): go", "python", at + 1, 900)
            add(host, "nn.Module: Linear_0", "python", at + 2, 800)
            add(host, "aten::mm", "host_op", at + 10, 100, args=shapes)
            add(host, "cudaLaunchKernel", "runtime", at + 20, 5, correlation=link)
            add(device, "gemm", "compute", at + 60, 400, correlation=link)
            add(device, "Memcpy HtoD", "memcpy", at + 500, 50, bytes=4096)
            row = add(device, "ncclDevKernel_AllReduce", "collective", at + 600, 100)
            builder["collectives"].append(
                1, slice=row, op=string("all_reduce"), dtype=string("float"), in_bytes=64, out_bytes=64,
                group=string("group"), group_ranks=string("[0, 1]"), rank=rank,
            )  # fmt: skip
            builder["memory"].append(
                ts_ns=[at + 15], device=string("cuda:0"), delta_bytes=[64], total_bytes=[64 * number + 64], track=host,
                address=[link],
            )  # fmt: skip
            compiled = add(host, "compile f", "compile", at + 910, 50, args=args)
            builder["compiles"].append(1, slice=compiled, what=string("graph"), cache=CACHE_RESULTS.index("miss"))
            builder["instants"].append(
                1, ts_ns=at + 920, track=host, name=string("dynamo_graph_break_reason"), args=args
            )
    return with_hostile_names(builder.finish())


@pytest.fixture(scope="module")
def hostile() -> Trace:
    return hostile_trace()


@pytest.mark.parametrize("name", ANALYSES)
def test_an_analysis_takes_hostile_names(name: str, hostile: Trace) -> None:
    call(name, hostile)


@pytest.mark.parametrize("path", FILES)
def test_every_analysis_takes_a_real_trace_with_hostile_names(path: str, corpus: Path) -> None:
    trace = with_hostile_names(load(corpus / path))
    for name in ANALYSES:
        call(name, trace)


def test_names_come_back_as_they_were(hostile: Trace) -> None:
    found = analysis.hotspots(hostile)["name"].tolist()
    assert any(name.startswith("gemm") and name.endswith(ENDINGS) for name in found)
    assert sorted(found) == sorted(set(found))
    half = analysis.cut(hostile, 0, 2000).trace
    changed = analysis.diff(hostile, half).operations
    assert all(name.endswith(ENDINGS) for name in changed["name"] if not name.startswith("aten::mm"))
    assert len(analysis.diff(hostile, hostile).operations) == 0


def test_every_analysis_that_takes_more_than_a_trace_is_called_with_it() -> None:
    for name in set(ANALYSES) - CALLS.keys():
        needed = [one for one in inspect.signature(getattr(analysis, name)).parameters.values()
                  if one.default is inspect.Parameter.empty]  # fmt: skip
        assert [one.name for one in needed] == ["trace"], name
