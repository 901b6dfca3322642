"""The loader is slow: every step waits for its batch.

python slow_data_loader.py             the fault: each sample takes 25 ms to read, so a batch of 4 takes 100
python slow_data_loader.py --healthy   worker processes read ahead while the model works
"""

import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset

from neuron_profile import NeuronConfig

HEALTHY = "--healthy" in sys.argv
torch.set_num_threads(1)  # steadier on a machine that others use too


class Photos(Dataset):
    def __len__(self):
        return 4 * 12

    def __getitem__(self, index):
        time.sleep(0.025)  # reading and decoding a file
        return torch.full((512,), float(index))


model = torch.nn.Sequential(torch.nn.Linear(512, 2048), torch.nn.ReLU(), torch.nn.Linear(2048, 1024))
# The fix: four workers, each two batches ahead.
loader = DataLoader(Photos(), batch_size=4, num_workers=4 if HEALTHY else 0)

cfg = NeuronConfig(device_model="none")
plan = torch.profiler.schedule(wait=2, warmup=2, active=7, repeat=1)
with torch.profiler.profile(experimental_config=cfg, schedule=plan) as profiler:
    for batch in loader:
        model(batch.repeat(128, 1)).square().mean().backward()
        profiler.step()

print(cfg.trace_path)
