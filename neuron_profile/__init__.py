"""Records what a PyTorch program does on an accelerator, and shows where the time and the bandwidth go.

    from neuron_profile import NeuronConfig, load, analysis

    with torch.profiler.profile(experimental_config=(cfg := NeuronConfig())):
        step()
    analysis.hotspots(load(cfg.trace_path))

Importing this package imports neither torch nor anything heavy; a name is loaded when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from neuron_profile._version import __version__
from neuron_profile.siblings import check_siblings

check_siblings()

if TYPE_CHECKING:
    from neuron_profile import analysis
    from neuron_profile.config import NeuronConfig
    from neuron_profile.loading import load
    from neuron_profile.modes import ProfileMode
    from neuron_profile.profiler import NeuronProfiler
    from trace_format.errors import NeuronProfileError

__all__ = [
    "NeuronConfig",
    "NeuronProfileError",
    "NeuronProfiler",
    "ProfileMode",
    "__version__",
    "analysis",
    "load",
]

_HOMES = {
    "NeuronConfig": "neuron_profile.config",
    "NeuronProfileError": "trace_format.errors",
    "NeuronProfiler": "neuron_profile.profiler",
    "ProfileMode": "neuron_profile.modes",
    "load": "neuron_profile.loading",
}


def __getattr__(name: str) -> Any:
    if name == "analysis":
        return importlib.import_module("neuron_profile.analysis")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
