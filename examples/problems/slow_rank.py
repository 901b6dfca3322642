"""One rank is slow, and the other waits for it in every step.

python slow_rank.py             the fault: rank 1 takes 400 ms more for its part
python slow_rank.py --healthy   both take the same time

Starts its two processes itself. `neuron-explorer summary` takes both paths it prints: the two ranks of one job.
"""

import os
import socket
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from neuron_profile import NeuronConfig

HEALTHY = "--healthy" in sys.argv
WORLD_SIZE = 2


def train(rank):
    torch.set_num_threads(1)  # steadier on a machine that others use too
    dist.init_process_group("gloo")
    gradient = torch.ones(10_000)
    weight, batch = torch.randn(1024, 1024), torch.randn(1024, 1024)

    cfg = NeuronConfig(device_model="none")
    plan = torch.profiler.schedule(wait=0, warmup=2, active=8, repeat=1)
    with torch.profiler.profile(experimental_config=cfg, schedule=plan) as profiler:
        for _ in range(10):
            if rank == 1 and not HEALTHY:
                time.sleep(0.4)  # a worse disk, a hot core, longer sentences
            batch @ weight
            dist.all_reduce(gradient)
            profiler.step()
    print(cfg.trace_path, flush=True)
    dist.destroy_process_group()


def start(rank, port):
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(WORLD_SIZE), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    train(rank)


if __name__ == "__main__":
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    mp.spawn(start, args=(port,), nprocs=WORLD_SIZE)
