"""What torchrun runs in the tests of collectives: one call of each kind, and training; writes their rows as JSON.

collective_program.py OUT
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
from torch.profiler import profile

from neuron_profile import NeuronConfig, load

FLOATS = 1024
ROWS: dict[str, Any] = {}


def calls() -> None:
    """One call of each collective on 1024 floats."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    pair = dist.new_group([0, 1])
    dist.barrier()

    def work() -> None:
        one, whole = torch.ones(FLOATS), torch.ones(FLOATS * ranks)
        parts = [torch.ones(FLOATS) for _ in range(ranks)]
        root = rank == 0
        dist.all_reduce(one)
        dist.all_reduce(one, async_op=True).wait()
        dist.broadcast(one, 1)
        dist.reduce(one, 0)
        dist.all_gather_into_tensor(whole, one)
        dist.all_gather(parts, one)
        dist.reduce_scatter_tensor(one, whole)
        dist.reduce_scatter(one, parts)
        dist.all_to_all_single(whole, torch.ones(FLOATS * ranks))
        dist.gather(one, parts if root else None, dst=0)
        dist.scatter(one, parts if root else None, src=0)
        if rank == 0:
            dist.send(one, 1)
        if rank == 1:
            dist.recv(one, 0)
        dist.barrier()
        if rank < 2:
            dist.all_reduce(one, group=pair)
            dist.all_gather([torch.ones(FLOATS) for _ in range(2)], one, group=pair)
        functional.all_reduce(one, "sum", dist.group.WORLD).sum()
        dist.all_reduce_coalesced([one, torch.ones(5)])

    record("calls", work)


def ddp() -> None:
    """A step of a Linear(64, 64) under DDP: one bucket of 64 * 64 + 64 gradients."""
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(64, 64))
    model(torch.ones(2, 64)).sum().backward()
    record("ddp", lambda: model(torch.ones(2, 64)).sum().backward())


def fsdp() -> None:
    """A step of a Linear(64, 64) under FSDP2: gathered for the forward and again for the backward pass."""
    from torch.distributed.fsdp import fully_shard

    model = torch.nn.Sequential(torch.nn.Linear(64, 64))
    for layer in model:
        fully_shard(layer)
    fully_shard(model)
    model(torch.ones(2, 64)).sum().backward()
    record("fsdp", lambda: model(torch.ones(2, 64)).sum().backward())


def dtensor() -> None:
    """Replicating a DTensor sharded in rows of 8 x 16 floats."""
    from torch.distributed.tensor import DeviceMesh, Replicate, Shard, distribute_tensor

    mesh = DeviceMesh("cpu", list(range(dist.get_world_size())))
    sharded = distribute_tensor(torch.ones(8 * dist.get_world_size(), 16), mesh, [Shard(0)])
    record("dtensor", lambda: sharded.redistribute(mesh, [Replicate()]).to_local().sum())


def record(name: str, work: Any) -> None:
    config = NeuronConfig(profile_output_dir=OUT)
    with profile(experimental_config=config):
        work()
    trace = load(config.trace_path)
    rows = trace.collectives.to_pandas()
    rows["name"] = trace.slices.to_pandas()["name"].astype(str)[rows["slice"]].to_numpy()
    rows["dur_ns"] = trace.slices.dur_ns[rows["slice"]]
    ROWS[name] = {"rows": json.loads(rows.to_json(orient="records")), "losses": trace.metadata["collector_losses"]}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    OUT = Path(sys.argv[1])
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    dist.init_process_group("gloo")
    for part in (calls, ddp, fsdp, dtensor):
        part()
    (OUT / f"rank{dist.get_rank()}.json").write_text(json.dumps(ROWS))
    dist.destroy_process_group()
