"""torch.profiler's results by way of its JSON file: for torch before 2.13, which offers no quicker complete way."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from collectors.torch_profiler.flops import flops_column
from trace_format import TraceBuilder
from trace_format.importers import load_file
from trace_format.merge import append_trace


def add_saved_results(builder: TraceBuilder, results: Any, *, with_flops: bool, host: str, rank: int) -> None:
    """Add what `results.save()` writes, and the FLOPs, which it does not write."""
    with tempfile.TemporaryDirectory(prefix="neuron_profile_") as folder:
        path = Path(folder, "trace.json")
        results.save(str(path))
        trace = load_file(path)
    instead: dict[str, dict[str, Any]] = {"tracks": {"rank": rank, "host": builder.string(host)}}
    if with_flops:
        slices = trace.slices
        instead["slices"] = {"flops": flops_column(slices.text("name"), trace.pool.arg_sets.values, slices.args)}
    append_trace(builder, trace, instead)
