"""Two processes add up a large gradient, and compute nothing meanwhile.

python exposed_all_reduce.py             the fault: 64 MB are reduced when the computing is done
python exposed_all_reduce.py --healthy   the sum is started first and runs while the rest is computed

Starts its two processes itself. `neuron-explorer summary` takes both paths it prints: the two ranks of one job.
"""

import os
import socket
import statistics
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from neuron_profile import NeuronConfig

HEALTHY = "--healthy" in sys.argv
WORLD_SIZE = 2


def train():
    torch.set_num_threads(1)  # steadier on a machine that others use too
    dist.init_process_group("gloo")
    gradient = torch.ones(16_000_000)  # 64 MB
    weight, batch = torch.randn(1024, 1024), torch.randn(1024, 1024)

    seconds = []
    cfg = NeuronConfig(device_model="none")
    plan = torch.profiler.schedule(wait=0, warmup=2, active=5, repeat=1)
    with torch.profiler.profile(experimental_config=cfg, schedule=plan) as profiler:
        for _ in range(7):
            if HEALTHY:
                sum_of_ranks = dist.all_reduce(gradient, async_op=True)
            for _ in range(5):
                batch @ weight
            start = time.perf_counter()
            if HEALTHY:
                sum_of_ranks.wait()
            else:
                dist.all_reduce(gradient)
            seconds.append(time.perf_counter() - start)
            profiler.step()
    print(f"by a stopwatch: {1000 * statistics.median(seconds[2:]):.1f} ms per step", file=sys.stderr)
    print(cfg.trace_path, flush=True)
    dist.destroy_process_group()


def start(rank, port):
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(WORLD_SIZE), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    train()


if __name__ == "__main__":
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    mp.spawn(start, args=(port,), nprocs=WORLD_SIZE)
