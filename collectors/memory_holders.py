"""What the memory that is held at the end of a window is: parameters, gradients, optimizer state."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from collectors.base import Budget, Clock, Window
from collectors.living_objects import LivingObjects

if TYPE_CHECKING:
    from trace_format import Trace, TraceBuilder

# torch.profiler's names for them (torch/profiler/_memory_profiler.py, Category)
_PARAMETER, _GRADIENT, _OPTIMIZER_STATE = "parameter", "gradient", "optimizer_state"


class MemoryHolders:
    """Looks, after the window, which tensors the modules and optimizers of the program hold, and where they lie.

    An allocation that is not freed within the window and lies where such a tensor lies gets its category. What
    was there before the window is in no allocation; it is summed up under `memory_held` of the metadata:
    `{device: {category: bytes}}` at the end of the window. Nothing is guessed: other allocations keep no category.
    """

    name = "memory"
    budget = Budget()

    def __init__(self, window: Window) -> None:
        self.found = 0
        self._category_at: dict[tuple[str, int], str] = {}

    def start(self, clock: Clock) -> None:
        """Nothing is needed before the end."""

    def stop(self) -> None:
        """The tensors are looked for after the window, so that this takes no time in it."""

    def collect(self, builder: TraceBuilder, *, host: str, rank: int) -> None:
        held: dict[str, dict[str, int]] = {}
        for category, tensor in _held_tensors():
            place = _place(tensor)
            if place is not None and place[:2] not in self._category_at:
                device, _, size = place
                self._category_at[place[:2]] = category
                of_device = held.setdefault(device, {})
                of_device[category] = of_device.get(category, 0) + size
        if held:
            builder.metadata["memory_held"] = held

    def refine(self, trace: Trace) -> Trace:
        """The trace with the categories of allocations that are held at its end."""
        from trace_format import Trace

        memory = trace.memory
        rows = _unfreed(memory.device, memory.address, memory.delta_bytes)
        devices, addresses = memory.text("device"), memory.address
        found = {row: self._category_at.get((devices[row], int(addresses[row]))) for row in rows.tolist()}
        known = {row: trace.pool.strings.id(category) for row, category in found.items() if category}
        if not known:
            return trace
        category = memory.category.copy()
        category[list(known)] = list(known.values())
        tables = {**trace.tables(), "memory": type(memory)({**memory.stored(), "category": category}, trace.pool)}
        return Trace.of(
            trace.pool, tables, metadata=trace.metadata, report=trace.report, later_records=trace.later_records
        )


def _held_tensors() -> Iterator[tuple[str, Any]]:
    """Every tensor that a living module or optimizer holds, with its category; the surest first."""
    torch = sys.modules.get("torch")
    if torch is None:
        return
    modules, optimizers = _holders(torch.nn.Module, torch.optim.Optimizer).find()
    parameters = [p for module in modules for p in module._parameters.values() if p is not None]
    parameters += [p for optimizer in optimizers for group in optimizer.param_groups for p in group["params"]]
    yield from ((_PARAMETER, parameter) for parameter in parameters)
    yield from ((_GRADIENT, parameter.grad) for parameter in parameters if parameter.grad is not None)
    for optimizer in optimizers:
        for state in list(optimizer.state.values()):
            values: Iterable[Any] = state.values() if isinstance(state, dict) else ()
            yield from ((_OPTIMIZER_STATE, value) for value in list(values) if isinstance(value, torch.Tensor))


@functools.cache
def _holders(*kinds: type) -> LivingObjects:
    """Remembered from window to window."""
    return LivingObjects(kinds)


def _place(tensor: Any) -> tuple[str, int, int] | None:
    """The device, as torch names it in a trace, the address and the bytes of a tensor's storage; None without one."""
    try:
        storage = tensor.untyped_storage()
        address, size = storage.data_ptr(), storage.nbytes()
    except (RuntimeError, NotImplementedError, AttributeError):  # meta, fake and other tensors without memory
        return None
    return (str(tensor.device), address, size) if address else None


def _unfreed(device: np.ndarray, address: np.ndarray, delta_bytes: np.ndarray) -> np.ndarray:
    """The rows of allocations after which nothing more happens at their address, in order of time."""
    rows = np.flatnonzero(address != 0)
    order = rows[np.lexsort((rows, address[rows], device[rows]))]
    same = (address[order][1:] == address[order][:-1]) & (device[order][1:] == device[order][:-1])
    last = order[np.r_[~same, True]] if len(order) else order
    return last[delta_bytes[last] > 0]
