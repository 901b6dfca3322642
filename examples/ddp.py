"""Capture DistributedDataParallel on two processes: one trace per rank.

Run `python examples/ddp.py`, which starts its two processes itself, or
`torchrun --nproc-per-node 2 examples/ddp.py`. Then `neuron-explorer` with both paths it prints opens them as one job.
"""

import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel

from neuron_profile import NeuronConfig

WORLD_SIZE = 2


def train() -> None:
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.Linear(512, 256)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    batch = torch.randn(32, 256)

    cfg = NeuronConfig()
    plan = torch.profiler.schedule(wait=1, warmup=1, active=2, repeat=1)
    with torch.profiler.profile(experimental_config=cfg, schedule=plan) as prof:
        for _ in range(4):
            optimizer.zero_grad()
            model(batch).square().mean().backward()
            optimizer.step()
            prof.step()
    print(cfg.trace_path, flush=True)
    dist.destroy_process_group()


def start(rank: int, port: int) -> None:
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(WORLD_SIZE), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    train()


if __name__ == "__main__":
    if "RANK" in os.environ:  # torchrun started us
        train()
    else:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        mp.spawn(start, args=(port,), nprocs=WORLD_SIZE)
