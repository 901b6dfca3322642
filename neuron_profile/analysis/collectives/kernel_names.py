"""What the names of collective kernels say."""

from __future__ import annotations

import re
from typing import Final

UNNAMED: Final = "collective"  # a kernel whose name does not say which ("ncclDevKernel_Generic")
# Function names of NCCL and RCCL (nccl/src/device/generate.py): "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
# before 2.19 "ncclKernel_AllReduce_RING_LL_Sum_float". Point to point and all_to_all are one kernel, SendRecv.
_FUNCTIONS: Final = {
    "allreduce": "all_reduce", "allgather": "all_gather", "reducescatter": "reduce_scatter",
    "alltoall": "all_to_all", "broadcast": "broadcast", "reduce": "reduce", "sendrecv": "send_recv",
}  # fmt: skip
# "multimem_all_reduce_kernel" of torch's symmetric memory (CUDASymmetricMemoryOps.cu), "cross_device_reduce_1stage" of
# vLLM's custom all-reduce (custom_all_reduce.cuh); the reduction of multimem_one_shot_reduce_kernel is to one rank.
_IN_MEMORY: Final = (
    (re.compile(r"cross_device_reduce_|all_reduce"), "all_reduce"),
    (re.compile(r"multimem_\w*all_gather"), "all_gather"),
    (re.compile(r"multimem_\w*reduce_scatter"), "reduce_scatter"),
    (re.compile(r"multimem_\w*reduce"), "reduce"),
)
_FUNCTION = re.compile(r"ccl\w*?kernel_?(" + "|".join(_FUNCTIONS) + r")(?![a-z])", re.IGNORECASE)


def op_of_kernel(name: str) -> str:
    """The operation of a collective kernel; `UNNAMED` where its name does not tell."""
    found = _FUNCTION.search(name)
    if found:
        return _FUNCTIONS[found[1].lower()]
    return next((op for pattern, op in _IN_MEMORY if pattern.search(name)), UNNAMED)
