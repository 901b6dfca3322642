"""Sources of events in a live process. One file for each; none may disturb the program it watches."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points

from collectors.base import Budget, Clock, Collector, Refining, Window

ENTRY_POINTS = "neuron_profile.collectors"
# Name -> module and class; made of a Window when a window begins. The first puts its events where the others refer to.
_BUILT_IN = {
    "torch": ("collectors.torch_profiler.events", "TorchEvents"),
    "collectives": ("collectors.flight_recorder", "FlightRecorder"),
    "compile": ("collectors.compiles.torch_compile", "TorchCompile"),
    "compilers": ("collectors.compiles.processes", "CompilerProcesses"),
    "neff_cache": ("collectors.neff_cache.caches", "NeffCaches"),
    "memory": ("collectors.memory_holders", "MemoryHolders"),
    "host": ("collectors.host_load", "HostLoad"),
    "device": ("collectors.neuron_device", "NeuronDevice"),
}
DEFAULT_COLLECTORS = tuple(_BUILT_IN)

__all__ = [
    "DEFAULT_COLLECTORS",
    "Budget",
    "Clock",
    "Collector",
    "Refining",
    "Window",
    "known_collectors",
    "make_collector",
]


def known_collectors() -> tuple[str, ...]:
    """The names that `make_collector` knows: the built-in ones, and what installed packages offer."""
    return (*_BUILT_IN, *sorted(_offered().keys() - _BUILT_IN.keys()))


def make_collector(name: str, window: Window) -> Collector:
    """A new collector of this name for one window. Raises ValueError for a name that is not known."""
    if name in _BUILT_IN:
        module, attribute = _BUILT_IN[name]
        factory: Callable[[Window], Collector] = getattr(importlib.import_module(module), attribute)
        return factory(window)
    offered = _offered()
    if name not in offered:
        raise ValueError(f"there is no collector {name!r}; there are: {', '.join(known_collectors())}")
    factory = offered[name].load()
    return factory(window)


def _offered() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=ENTRY_POINTS)}
