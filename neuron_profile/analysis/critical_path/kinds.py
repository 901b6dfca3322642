"""What a piece of a critical path can be, and the names by which waiting calls are known."""

from __future__ import annotations

import re

import numpy as np

from trace_format import CATEGORIES, Trace

Array = np.ndarray

KINDS = (
    "host", "launch delay", "device compute", "device collective", "copy", "sync wait", "data loading", "gap",
)  # fmt: skip
HOST_WORK, LAUNCH_DELAY, COMPUTE, COLLECTIVE, COPY, SYNC_WAIT, DATA_LOADING, GAP = range(len(KINDS))

# torch.utils.data's own annotation: "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
DATA_LOADER = re.compile(r"enumerate\(DataLoader\)")
# Calls that return when the device is done (CUDA runtime API, "Stream/Event/Device Management"; HIP's have the same
# names). torch's own item() calls one of them; where calls were not recorded, its operator stands for it.
BLOCKING_CALL = re.compile(r".*(?:Device|Stream|Event|Ctx)Synchronize.*|.*::synchronize")
BLOCKING_OPERATOR = re.compile(r"aten::_local_scalar_dense")
# A copy from or to pageable memory returns when it is done (CUDA runtime API, "API synchronization behavior").
COPYING_CALL = re.compile(r"(?:cuda|hip|cu)Mem(?:cpy|set).*")
# Python frames in which a thread does nothing but wait for another: torch/csrc/autograd/python_engine.cpp
# (run_backward), CPython's threading.py, queue.py, selectors.py, concurrent/futures.
_WAITING_FRAME = re.compile(
    r".*\b(?:run_backward|_engine_run_backward)\b.*|<built-in method (?:acquire|poll|select|sleep)\b.*"
    r"|.*\b(?:threading|queue|selectors)\.py\(\d+\): (?:wait|get|join|acquire|select)\b.*"
    r"|.*concurrent/futures/_base\.py\(\d+\): (?:result|wait)\b.*"
)
_ANNOTATION = CATEGORIES.index("annotation")
_COPIES = [CATEGORIES.index(c) for c in ("memcpy", "memset", "dma")]


def named(trace: Trace, pattern: re.Pattern[str]) -> Array:
    """Which strings of the pool begin with what the pattern describes, `(strings,) bool`: index it with names."""
    return np.array([bool(pattern.match(text)) for text in trace.pool.strings.values], bool)


def waits_for_others(trace: Trace, rows: Array) -> Array:
    """Which slices show that their thread may be waiting for another where nothing is in them, `(n,) bool`.

    Annotations, for they only name a stretch of time, and the frames of Python that wait. -1, no slice: it may.
    """
    slices, at = trace.slices, np.maximum(rows, 0)
    if len(slices) == 0:
        return np.ones(len(rows), bool)
    waiting = named(trace, _WAITING_FRAME)[slices.name[at]]
    return (rows < 0) | (slices.category[at] == _ANNOTATION) | waiting


def device_kinds(category: Array) -> Array:
    """The kind of work on a device of each of these categories, `(n,) int64`."""
    kinds = np.full(len(category), COMPUTE, np.int64)
    kinds[np.isin(category, _COPIES)] = COPY
    kinds[category == CATEGORIES.index("collective")] = COLLECTIVE
    return kinds
