"""Capture three training steps of a small transformer, and print where the trace is.

Run `python examples/capture.py`, then `neuron-explorer` with the path it prints.
"""

import torch

from neuron_profile import NeuronConfig

torch.manual_seed(0)
model = torch.nn.TransformerEncoderLayer(d_model=128, nhead=4, batch_first=True)
optimizer = torch.optim.AdamW(model.parameters())
batch, target = torch.randn(8, 64, 128), torch.randn(8, 64, 128)


def step() -> None:
    optimizer.zero_grad()
    torch.nn.functional.mse_loss(model(batch), target).backward()
    optimizer.step()


step()  # the first step allocates and is not typical
cfg = NeuronConfig()
plan = torch.profiler.schedule(wait=0, warmup=1, active=3, repeat=1)
with torch.profiler.profile(experimental_config=cfg, schedule=plan) as prof:
    for _ in range(4):
        step()
        prof.step()

print(cfg.trace_path)
