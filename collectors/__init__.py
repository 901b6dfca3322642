"""Sources of events in a live process. One file for each; none may disturb the program it watches."""

from __future__ import annotations

from typing import Any

from collectors.base import Collector

DEFAULT_COLLECTORS = ("torch",)

__all__ = ["DEFAULT_COLLECTORS", "Collector", "make_collector"]


def make_collector(name: str, profile: Any) -> Collector:
    """A new collector of this name for one window.

    `profile` is the torch.profiler object of the window, None where there is none.
    Raises ValueError for a name that is not one of `DEFAULT_COLLECTORS`.
    """
    if name == "torch":
        from collectors.torch_events import TorchEvents

        return TorchEvents(profile)
    raise ValueError(f"there is no collector {name!r}; there are: {', '.join(DEFAULT_COLLECTORS)}")
