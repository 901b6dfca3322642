"""`.item()` in every step: the host fetches numbers one at a time.

python item_every_sample.py             the fault: the loss of each of 6,000 samples is fetched with .item()
python item_every_sample.py --healthy   they are summed up in the tensor, and nothing is fetched

On an accelerator even one `.item()` in a step waits until the device has caught up, and the device then waits for the
host. A CPU has no queue to drain: there, what it costs is the call, once for each number.
"""

import statistics
import sys
import time

import torch

from neuron_profile import NeuronConfig

HEALTHY = "--healthy" in sys.argv
torch.set_num_threads(1)  # steadier on a machine that others use too

model = torch.nn.Linear(256, 256)
batch, target = torch.randn(6000, 256), torch.randn(6000, 256)
running_loss = torch.zeros(())
log, seconds = [], []

cfg = NeuronConfig(device_model="none")
plan = torch.profiler.schedule(wait=0, warmup=2, active=7, repeat=1)
with torch.profiler.profile(experimental_config=cfg, schedule=plan) as profiler:
    for _ in range(9):
        losses = (model(batch) - target).square().mean(dim=1)
        losses.mean().backward()
        start = time.perf_counter()
        if HEALTHY:
            running_loss += losses.detach().sum()  # fetched once, after training
        else:
            log.extend(losses[number].item() for number in range(len(losses)))
        seconds.append(time.perf_counter() - start)
        profiler.step()

print(f"by a stopwatch: {1000 * statistics.median(seconds[2:]):.1f} ms per step", file=sys.stderr)
print(cfg.trace_path)
