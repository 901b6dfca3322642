"""torch.compile compiles again in every step, because an argument that it took for a constant changes.

python recompile_every_step.py             the fault: the step's number is a Python int, and decides a branch
python recompile_every_step.py --healthy   it is a tensor, which one compiled graph takes whatever it holds
"""

import statistics
import sys
import time

import torch

from neuron_profile import NeuronConfig

HEALTHY = "--healthy" in sys.argv
torch.set_num_threads(1)  # steadier on a machine that others use too

model = torch.nn.Sequential(torch.nn.Linear(1024, 1024), torch.nn.GELU(), torch.nn.Linear(1024, 1024))
batch = torch.randn(512, 1024)


# dynamic=False: every new value of an int is a new program. (Left alone, the second value makes it a variable.)
@torch.compile(backend="aot_eager", dynamic=False)
def loss_of(batch, step):
    return model(batch).square().mean() * (1 + step)


seconds = []
cfg = NeuronConfig(device_model="none")
plan = torch.profiler.schedule(wait=0, warmup=2, active=5, repeat=1)
with torch.profiler.profile(experimental_config=cfg, schedule=plan) as profiler:
    for number in range(7):
        step = torch.tensor(float(number)) if HEALTHY else number
        start = time.perf_counter()
        loss = loss_of(batch, step)
        seconds.append(time.perf_counter() - start)
        loss.backward()
        profiler.step()

print(f"by a stopwatch: {1000 * statistics.median(seconds[2:]):.1f} ms per step", file=sys.stderr)
print(cfg.trace_path)
