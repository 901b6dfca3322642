"""Thousands of tiny operators: a Python loop does what one operator could.

python tiny_ops.py             the fault: 1,500 rows are normalised one by one, with three operators each
python tiny_ops.py --healthy   all rows at once
"""

import statistics
import sys
import time

import torch

from neuron_profile import NeuronConfig

HEALTHY = "--healthy" in sys.argv
torch.set_num_threads(1)  # steadier on a machine that others use too

weight = torch.randn(512, 512)
batch = torch.randn(1500, 512)


def normalised(rows):
    if HEALTHY:
        return rows / (rows.norm(dim=1, keepdim=True) + 1e-6)
    return torch.stack([row / (row.norm() + 1e-6) for row in rows])


seconds = []
cfg = NeuronConfig(device_model="none")
plan = torch.profiler.schedule(wait=0, warmup=2, active=7, repeat=1)
with torch.profiler.profile(experimental_config=cfg, schedule=plan) as profiler:
    for _ in range(9):
        start = time.perf_counter()
        rows = normalised(batch)
        seconds.append(time.perf_counter() - start)
        rows @ weight
        profiler.step()

print(f"by a stopwatch: {1000 * statistics.median(seconds[2:]):.1f} ms per step", file=sys.stderr)
print(cfg.trace_path)
