"""Memory grows with every step: something is kept that nobody needs again.

python memory_growth.py             the fault: outputs of 8 MB are kept "for the log", one more in each step
python memory_growth.py --healthy   a number of each is kept
"""

import sys

import torch

from neuron_profile import NeuronConfig

HEALTHY = "--healthy" in sys.argv
torch.set_num_threads(1)  # steadier on a machine that others use too

model = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.ReLU(), torch.nn.Linear(512, 1024))
batch = torch.randn(2048, 512)
log = []

cfg = NeuronConfig(device_model="none")
plan = torch.profiler.schedule(wait=0, warmup=2, active=8, repeat=1)
with torch.profiler.profile(experimental_config=cfg, schedule=plan) as profiler:
    for _ in range(10):
        output = model(batch)  # 2048 x 1024 floats, 8 MB
        output.square().mean().backward()
        log.append(output.detach().mean() if HEALTHY else output.detach())
        profiler.step()

print(cfg.trace_path)
