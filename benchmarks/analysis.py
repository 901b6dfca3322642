"""What each analysis takes: `python benchmarks/analysis.py [MILLIONS] [MILLIONS_FOR_HTA]` (default 10 and 1).

CPU seconds of one process (`time.process_time`), each analysis run once on the same synthetic trace
(`large_training.py`), as if it were the first to be asked: nothing that analyses share is known yet but depth, parent
and self time, which loading works out. The targets are 1 s for each on 10 million events, for `diff` 1 s a side, and
5 s for `summarize`; one that is missed is marked.

HTA runs in the Python that NPROF_HTA_PYTHON names (`pip install traceinsight==0.6.1` in an environment of its own), on
a smaller file (`kineto_json.py`), which it has read before it is measured, as have we; where it is not there it is left
out, and said so. It has the same analyses where the table says which of its own.
"""

from __future__ import annotations

import gc
import inspect
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

# This folder has files of the names of packages that are measured; it must come last on the path.
sys.path.append(sys.path.pop(0))

HTA_PYTHON = os.environ.get("NPROF_HTA_PYTHON", "")
TARGET_S = 1.0
_TARGETS_S = {"diff": 2.0, "summarize": 5.0}  # a comparison is of two traces

# Of HTA's the ones that answer what one of ours answers.
_HTA = {
    "get_temporal_breakdown": "breakdown",
    "get_idle_time_breakdown": "breakdown",
    "get_comm_comp_overlap": "collective_overlap",
    "get_gpu_kernel_breakdown": "hotspots, by name",
    "get_memory_bw_time_series": "bandwidth",
}
_MEASURE_HTA = """
import json, os, sys, time
from hta.trace_analysis import TraceAnalysis
path, names = sys.argv[1], sys.argv[2:]
analysis = TraceAnalysis(trace_files={0: path}, trace_dir=os.path.dirname(path))
took = {}
for name in names:
    options = {} if name == "get_memory_bw_time_series" else {"visualize": False}
    started = time.process_time()
    getattr(analysis, name)(**options)
    took[name] = time.process_time() - started
print("\\n" + json.dumps(took))
"""


def cpu_seconds(action: Callable[[], object]) -> float:
    gc.collect()
    started = time.process_time()
    action()
    return time.process_time() - started


def calls(trace: Any) -> dict[str, Callable[[Any], object]]:
    """Every public analysis by name, as what it does to a trace; those that have several ways, once for each."""
    from neuron_profile import analysis

    several_ways = {
        "hotspots": ("by", analysis.GROUPINGS), "call_tree": ("by", analysis.CALL_TREES),
        "regions": ("kind", analysis.REGIONS),
    }  # fmt: skip
    first, last = trace.time_range_ns
    middle = first + (last - first) // 2, first + (last - first) * 6 // 10
    some_name = trace.pool.strings[int(trace.slices.name[0])]
    copy = int(np.argmax(trace.slices.bytes >= 0))  # on the device, launched from the host
    given: dict[str, Callable[[Any], object]] = {
        "range_summary": lambda t: analysis.range_summary(t, *middle),
        "cut": lambda t: analysis.cut(t, *middle),
        "slowest": lambda t: analysis.slowest(t, some_name, by="name", side="host"),
        "diff": lambda t: analysis.diff(t, t),
        "causes": lambda t: analysis.causes(t, copy),
        "duration_distribution": lambda t: analysis.duration_distribution(t, copy),
        "same_on_ranks": lambda t: analysis.same_on_ranks(t, copy),
        "slices_of_line": lambda t: analysis.slices_of_line(t, "train.py", 10),
    }
    out: dict[str, Callable[[Any], object]] = {}
    for name in analysis.__all__:
        function = getattr(analysis, name)
        if not inspect.isfunction(function) or name in ("records", "summarize"):
            continue
        parameter, ways = several_ways.get(name, ("", ()))
        for way in ways:
            out[f"{name}, by {way}"] = lambda t, f=function, given={parameter: way}: f(t, **given)
        if not ways:
            out[name] = given.get(name, function)
    out["summarize"] = analysis.summarize
    return out


def report_ours(trace: Any) -> None:
    started = time.process_time()
    trace.slices.self_ns  # noqa: B018
    print(f"{'depth, parent and self time':32}{time.process_time() - started:8.2f}{'':>8}")
    for name, call in calls(trace).items():
        one = replace(trace)  # the same tables, of which no analysis knows anything
        took = cpu_seconds(lambda: call(one))  # noqa: B023
        target = _TARGETS_S.get(name, TARGET_S)
        print(f"{name:32}{took:8.2f}{target:8.0f}{'' if took <= target else '   missed'}", flush=True)


def report_beside_hta(path: Path) -> None:
    from trace_format.importers import load_file

    print(f"\n{'on one file':26}{'ours':>8}{'HTA':>8}{'ratio':>8}   of HTA")
    argv = [HTA_PYTHON, "-c", _MEASURE_HTA, str(path), *_HTA]
    output = subprocess.run(argv, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    theirs = json.loads(output.strip().splitlines()[-1])
    trace = load_file(path)
    trace.slices.self_ns  # noqa: B018
    ours = calls(trace)
    for name, own_name in _HTA.items():
        one = replace(trace)
        took = cpu_seconds(lambda: ours[own_name](one))  # noqa: B023
        print(f"{own_name:26}{took:8.3f}{theirs[name]:8.3f}{theirs[name] / took:7.0f}x   {name}", flush=True)


def main() -> None:
    from kineto_json import write_kineto_json
    from large_training import large_training_trace

    sizes = [float(argument) for argument in sys.argv[1:]]
    millions, millions_for_hta = [*sizes, *[10.0, 1.0][len(sizes) :]][:2]
    trace = large_training_trace(int(millions * 1e6))
    events = len(trace.slices) + len(trace.memory)
    print(f"{events:,} events, {time.strftime('%Y-%m-%d')}\n\n{'':32}{'CPU s':>8}{'target':>8}")
    report_ours(trace)
    if not HTA_PYTHON:
        print("HTA: left out, NPROF_HTA_PYTHON names no Python that has traceinsight", file=sys.stderr)
        return
    del trace
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "synthetic.pt.trace.json"
        print(f"\n{write_kineto_json(path, int(millions_for_hta * 1e6)):,} events for HTA")
        report_beside_hta(path)


if __name__ == "__main__":
    main()
