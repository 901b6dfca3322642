"""Capture a compiled model: the first call, which compiles, and a later one, which runs what was compiled.

Run `python examples/compile.py`, or `python examples/compile.py inductor` where there is a C++ compiler.
"""

import sys

import torch

from neuron_profile import NeuronConfig, NeuronProfiler, analysis, load


def gelu_mlp(x: torch.Tensor, up: torch.Tensor, down: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.gelu(x @ up) @ down


backend = sys.argv[1] if len(sys.argv) > 1 else "aot_eager"
compiled = torch.compile(gelu_mlp, backend=backend)
inputs = (torch.randn(64, 128), torch.randn(128, 512), torch.randn(512, 128))

for what in ("first call", "later call"):
    cfg = NeuronConfig()
    with NeuronProfiler(cfg), torch.profiler.record_function(what):
        compiled(*inputs)
    print(what, cfg.trace_path)
    for compile_ in analysis.compiles(load(cfg.trace_path)).itertuples():
        print(f"  {compile_.what} by {compile_.backend}, {compile_.dur_ns / 1e6:.1f} ms, cache: {compile_.cache}")
