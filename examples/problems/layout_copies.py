"""Layout copies that nothing needs: the tensor is turned round, copied, and turned back.

python layout_copies.py             the fault: four transposed copies of 16 MB in each step
python layout_copies.py --healthy   the scale is applied to the other dimension, and nothing is copied
"""

import statistics
import sys
import time

import torch

from neuron_profile import NeuronConfig

HEALTHY = "--healthy" in sys.argv
torch.set_num_threads(1)  # steadier on a machine that others use too

weight = torch.randn(2048, 64)
scale = torch.rand(2048)
batch = torch.randn(2048, 2048)


def scaled(x):
    if HEALTHY:
        return x * scale[:, None]
    return (x.t().contiguous() * scale).t().contiguous()


seconds = []
cfg = NeuronConfig(device_model="none")
plan = torch.profiler.schedule(wait=0, warmup=2, active=7, repeat=1)
with torch.profiler.profile(experimental_config=cfg, schedule=plan) as profiler:
    for _ in range(9):
        start = time.perf_counter()
        rows = scaled(scaled(batch))
        seconds.append(time.perf_counter() - start)
        rows @ weight
        profiler.step()

print(f"by a stopwatch: {1000 * statistics.median(seconds[2:]):.1f} ms per step", file=sys.stderr)
print(cfg.trace_path)
